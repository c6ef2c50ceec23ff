// The attributes of fused operators. The fusion passes write them, and every kernel that accepts a fused node
// must follow them.
//
// 1. Epilogues: y = activation(product + bias + residual), on Conv, ConvTranspose, Gemm and MatMul.
//    inputs      Conv and ConvTranspose: X, W, B?, residual?    Gemm: A, B, C?, residual?    MatMul: A, B, bias?, residual?
//                (the bias of MatMul has one element per output column; omitted inputs before a given one are
//                kNoValue)
//    residual    int 1: input 3 is a tensor of the output's shape and type, added before the activation
//    activation  "Relu", "Clip", "LeakyRelu", "Sigmoid", "HardSwish", "HardSigmoid", "Swish", "Tanh", "Gelu",
//                "Elu" (also "Softplus", "Mish")
//    activation_alpha, activation_beta
//                Clip: least and greatest; LeakyRelu, Elu, Swish: alpha; HardSigmoid: alpha and beta; Gelu:
//                alpha 0 is the exact function, 1 the tanh approximation. If they are absent, ONNX's defaults
//                hold (Clip: unbounded).
//
// 2. mete.Elementwise: a tree of element-wise f32 steps over inputs that are broadcast to the output's shape.
//    ops         names of the steps: the activations of 1 and Add Sub Mul Div Min Max Pow Erf Exp Log Sqrt
//                Reciprocal Abs Neg
//    args        three registers per step (a, b, unused): register r < number of inputs is input r, register
//                inputs + k is the result of step k; -1 marks an unused one
//    params      two floats per step (alpha and beta as in 1; 0 if unused). They have no defaults: passes
//                must write them.
//    The output is the result of the last step. A program has at most FusedProgram::kMaxSteps steps and
//    kMaxInputs inputs.
//
// 3. Layout: Conv, ConvTranspose, MaxPool, AveragePool, GlobalAveragePool and GlobalMaxPool take the
//    attribute layout="NHWC". The 4-D input, output and residual then have the order N, H, W, C in memory;
//    the weights keep the order M, C/group, kH, kW.
//
// 4. mete_caffe = 1 on MaxPool and AveragePool, together with ceil_mode = 1, selects Caffe's rule: a window
//    that would start behind the input and its leading padding is dropped, and an average divides by the
//    part of the window within the padded input.
//
// 5. mete_layout = 1 marks a Transpose that the layout pass has inserted. Traces use it to tell this
//    Transpose from the model's own.
//
// 6. sum_piece (kSumPiece) = P on a Conv with a 1x1 kernel, no padding, stride 1 and one group fixes the
//    order of its sums. A piece is a sum over P input channels, rounded after each multiply-add; each
//    output is the sum of its pieces, added in order; the bias is added last. The reference kernel, which
//    sums in f64, does not follow this order. The pass fuse-quantized writes the attribute and says what it
//    is for.
//
// 7. Slices: a Conv or QLinearConv with layout="NHWC" and into_channels (kIntoChannels) = C writes its M
//    output channels directly to their place in a concatenation. The output is N, H, W, C, with the result in
//    channels [into_offset, into_offset + M). The other channels are those of input 4 of a Conv, or 10 of a
//    QLinearConv (IntoInputOf), which another such node produces; the first node of the chain has no such
//    input, and its other channels are undefined. The residual keeps M channels. Verify() checks that only the
//    next node of the chain reads a value before all its channels are written, and that each channel is
//    written once, so that all values of a chain can share one piece of memory
//    (processor/memory/memory_plan.h). A Conv cannot have both into_channels and sum_piece.
//
// 8. mete.MatMul: y = scale * a b of f32 operands, without transposing A and B before or Y afterwards: a is
//    A seen through perm_a (dimension i of a is dimension perm_a[i] of A, as in Transpose), b is B seen
//    through perm_b, and Y is y seen through perm_y. An omitted permutation is the identity. a, b and y
//    have one rank and equal batch dimensions. `scale` is 1 if it is omitted.
//
// 9. Operators between tensors of bytes (u8 or i8), which the pass fuse-quantized makes. A byte q stands for
//    the number (q - zero point) * scale, with one zero point and one scale for a tensor.
//    mete.ByteTable: X, table
//                Y = table[X], 256 bytes for X as an unsigned number
//    QLinearConv, input 9 (kByteTableInput)
//                a table, through which the output goes: Y = table[result]
//    mete.ScaledMatMulInteger: A, B, a_zero?, b_zero?, scale, bias?
//    mete.ScaledConvInteger: X, W, x_zero?, w_zero?, scale, bias?
//                MatMulInteger or ConvInteger in f32, times scale and plus bias, which have one element or one
//                for each column or output channel
//    mete.QLinearAdd, mete.QLinearMul: A, a_scale, a_zero, B, b_scale, b_zero, y_scale, y_zero
//                as the operators of com.microsoft; A and B are broadcast to each other
//    mete.QLinearAveragePool, mete.QLinearGlobalAveragePool: X, x_scale, x_zero, y_scale, y_zero
//                the attributes of the pool, and layout (3)
//    levels (kLevels) = [least, most] on QLinearConv, QLinearMatMul, mete.QLinearAdd and mete.QLinearMul: the
//    output is clamped to these levels. A Clip or Relu before the rounding becomes such bounds without a change
//    of any bit, because rounding is monotone.
//
// 10. operands (kOperands)
//    "bf16" or "f16" on a Conv, ConvTranspose, Gemm, MatMul, mete.MatMul, LSTM, GRU or RNN of f32: a kernel
//    may round inputs 0 and 1 to these halves, of the latter three also input 2 and the states; with "f16"
//    constant weights are numbers of f16 once they are rounded, of at most 65504. "w8" or "w4" on a Gemm,
//    MatMul, LSTM, GRU or RNN: it may round these constant weights to 8 or 4 bits. Sums, bias, residual and
//    output are f32. The reference kernel rounds nothing. The pass round-operands writes the attribute where
//    the user allows it.
//    "f32" on a QLinearConv: a kernel may sum the products, of inputs and weights minus their zero points, in
//    f32 and in another order. Where the scaled sum lies next to the middle between two levels, an output may
//    be the other one of them, if the error of the sum is below a level (kernels/fast/winograd/winograd.h).
//    Without the attribute the sums are exact ("i32").
#pragma once

#include <map>
#include <string>

#include "base/fused.h"
#include "base/precision.h"
#include "graph/operators.h"

namespace mete {

// Returns true if a 2-D Conv with these attributes and weights can have sum_piece (6).
bool TakesSumPiece(const Attributes& attributes, const Shape& weights);

// Checks the sum_piece of a Conv, if it has one. The Conv's inference function calls it.
void CheckSumPiece(const InferContext& c);

// Returns whether a node may have operands (10).
bool TakesOperands(const Graph& graph, const Node& node);

// Returns the precision of a node without operands (10): kI32 for a QLinearConv, kF32 for others.
Precision UsualPrecision(const Node& node);

// Returns the precision that a node's operands may be rounded to (10).
Precision OperandsOf(const Node& node);

// Returns the graph with these precisions (10) of the nodes of these names; UsualPrecision() permits nothing.
Graph WithOperands(const Graph& graph, const std::map<std::string, Precision>& of_nodes);

// Checks the operands (10) of a Conv, QLinearConv, Gemm, MatMul or recurrent node. The node's inference
// function calls it.
void CheckOperands(const InferContext& c);

// Checks a node's epilogue against the type and shape of its output. The node's inference function calls it.
void CheckEpilogue(const InferContext& c, DType type, const Shape& output, int residual_input = 3);

// Returns the shape of the output of a convolution that computes `slice` (N, H, W, M): `slice` itself if the
// node has no into_channels (7). `type`: of the output; `into`: the input with the other channels. The
// inference functions of convolutions call it.
Shape CheckSlice(const InferContext& c, const Shape& slice, DType type, int into);

// Returns the problems of the slices (7) of a graph, or an empty string. The nodes must be sorted, and each
// must have passed its own checks.
std::string SliceProblems(const Graph& graph);

}  // namespace mete
