// The attribute contract of fused operators: what the fusion passes write and what every kernel that claims a
// fused node obeys.
//
// 1. Epilogues: y = activation(product + bias + residual), on Conv, Gemm and MatMul.
//    inputs      Conv: X, W, B?, residual?    Gemm: A, B, C?, residual?    MatMul: A, B, bias?, residual?
//                (the bias of MatMul has one element per output column; left-out ones in between are
//                kNoValue)
//    residual    int 1: input 3 is a tensor of the output's shape and type, added before the activation
//    activation  "Relu", "Clip", "LeakyRelu", "Sigmoid", "HardSwish", "HardSigmoid", "Swish", "Tanh", "Gelu",
//                "Elu" (also "Softplus", "Mish")
//    activation_alpha, activation_beta
//                Clip: least and greatest; LeakyRelu, Elu, Swish: alpha; HardSigmoid: alpha and beta; Gelu:
//                alpha 0 is the exact
//                one, 1 the tanh approximation. Where absent they are ONNX's defaults (Clip: unbounded).
//
// 2. mete.Elementwise: a tree of element-wise f32 steps over inputs that broadcast to the output.
//    ops         names of steps: those above and Add Sub Mul Div Min Max Pow Erf Exp Log Sqrt Reciprocal Abs
//                Neg
//    args        three registers a step (a, b, unused): register r < number of inputs is input r, inputs + k
//                is the result of step k; -1 where unused
//    params      two floats a step (alpha, beta as above; 0 where unused). There are no defaults: write them.
//    The result is the last step's. At most FusedProgram::kMaxSteps steps and kMaxInputs inputs.
//
// 3. Layout: Conv, ConvTranspose, MaxPool, AveragePool, GlobalAveragePool and GlobalMaxPool take
// layout="NHWC": the 4-D input,
//    output and residual are then N, H, W, C in memory; weights stay M, C/group, kH, kW.
//
// 4. mete_caffe = 1 on MaxPool and AveragePool, with ceil_mode = 1: Caffe's rule. A window that would start
// behind the input and its
//    leading padding is dropped, and an average divides by the part of the window within the padded input.
//
// 5. mete_layout = 1 on a Transpose that the layout pass put in: traces tell it apart from the model's own.
//
// 6. sum_piece (kSumPiece) = P on a Conv with a 1x1 kernel, no padding, stride 1 and one group: each output
// is the sum over P
//    input channels at a time, rounded after each multiply-add, then added to the sum of the pieces before;
//    the bias comes last.
//    The reference, which sums in f64, does not follow it. Written by fuse-quantized, which says what it is
//    for.
//
// 7. Slices: a Conv with layout="NHWC" and into_channels (kIntoChannels) = C writes its M output channels
// straight into their place in a
//    concatenation: the output is N, H, W, C, with the result in channels [into_offset, into_offset + M). The
//    others are those of input
//    4 (kIntoInput), which another such Conv makes; the first of them has no input 4, and its other channels
//    hold anything. The
//    residual keeps M channels. Verify() sees to it that only the next Conv reads a value before all its
//    channels are written, and
//    each once, so that all of them can be one piece of memory (run/memory_plan.h). Not together with
//    sum_piece.
//
// 8. mete.MatMul: y = scale * a b of f32 operands A and B that are not transposed first, nor Y afterwards: a
// is A seen through perm_a
//    (dimension i of a is dimension perm_a[i] of A, as Transpose has it), b is B through perm_b, and Y is y
//    through perm_y; left-out
//    ones change nothing. a, b and y have one rank and equal batch dimensions. `scale` is 1 where it is left
//    out.
#pragma once

#include "base/fused.h"
#include "graph/operators.h"

namespace mete {

// True for a 2-D Conv of these weights that can have sum_piece (6).
bool TakesSumPiece(const Attributes& attributes, const Shape& weights);

// Checks sum_piece where a Conv has it, from its inference function.
void CheckSumPiece(const InferContext& c);

// Checks a node's epilogue against its output's type and shape, from its inference function.
void CheckEpilogue(const InferContext& c, DType type, const Shape& output, int residual_input = 3);

// The output's shape of a Conv that gives `slice` (N, H, W, M), from its inference function: itself where it
// is no slice (7).
Shape CheckSlice(const InferContext& c, const Shape& slice);

// What is wrong with the slices of a graph whose nodes are sorted and good one by one; an empty string where
// nothing is.
std::string SliceProblems(const Graph& graph);

}  // namespace mete
