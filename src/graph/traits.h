// The traits of an operator: what the rest of the program must know of it besides its shape inference. They
// are part of the operator's row in the table of graph/operators.h. Passes, the memory plan, partition and
// costs ask here for what holds of an operator wherever it stands. A pass that rewrites particular operators
// names them itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "graph/graph.h"

namespace mete {

// Which elements of its inputs an output element depends on.
enum class OpKind : uint8_t {
  kOther,
  // An output element depends on the elements at its place of all inputs, which are broadcast to the output.
  // A kernel reads all of them before it writes the element.
  kElementwise,
  // As kElementwise, but a kernel accumulates one input after another (Sum, Max): it writes the output before
  // it has read the last input.
  kElementwiseFold,
  // An output element depends on the element at its place of the first input. Other inputs are scalars
  // (Clip's bounds) or give only a type (CastLike).
  kElementwiseFirst,
  // The output has the bytes of the first input in the same order, in most cases without a copy (Reshape).
  kView,
  kCopy,  // the output equals the first input (Identity): both a view and element-wise
};

// In which orders of its dimensions a 4-D value can be computed, and what changes in the node where its
// channels are last (N, H, W, C) instead of in ONNX's plain order (N, C, H, W).
enum class Orders : uint8_t {
  kPlain,         // only the plain order
  kChannelsLast,  // the fast kernels read and write channels last: attribute `layout` (Conv, MaxPool)
  kAny,           // any order that all inputs have; nothing changes (element-wise operators)
  kAxis,          // any order: attribute `axis` is renamed (Softmax, Concat)
  kReducedAxes,   // any order: the axes in input 1 are renamed (ReduceMean)
  kSlicedAxes,    // any order: the axes in input 3 are renamed (Slice)
  kPads,          // any order: the pads in input 1 are permuted (Pad)
  kScales,        // any order: the scales in input 2 and the sizes in input 3 are permuted (Resize)
};

// How a node can be divided: which rows of its inputs it needs for some rows of its outputs along an axis.
// partition/ has one rule for each value.
enum class DivideBy : uint8_t {
  kWhole,  // cannot be divided: it needs all inputs whole

  // Element-wise operators need the same rows.
  kBroadcast,   // of all inputs, which are broadcast to the output
  kFirstInput,  // of the first input

  // Windows: an output row needs the input rows under its window.
  kConvolution,            // output channels need rows of the weights
  kQuantizedConvolution,   // output channels also need their zero points, scales and bias
  kTransposedConvolution,  // not divided by channels
  kPool,
  kGlobalPool,  // only the batch and the channels are divided

  // Products: rows need rows of the left operand, columns need columns of the right one.
  kGemm,
  kMatMul,
  kMatMulInteger,  // with zero points by row and column; scale and bias by column
  kQLinearMatMul,  // with scales and zero points by row and column
  kAttention,      // by images, heads and queries

  // Operators that work along some axes and can be divided along the others.
  kAlongAxis,              // along attribute `axis`, over all inputs of the output's rank (Softmax, Concat)
  kFromAxis,               // along attribute `axis` and all axes behind it (LayerNormalization)
  kBatchNormalization,     // along no axis; the other inputs have one element for each channel
  kInstanceNormalization,  // along the pixels of an image; the other inputs as above
  kOverChannels,           // along the channels (LRN)
  kQuantize,  // along no axis; scale and zero point have an element, or one for each row of `axis`
  kReduce,    // along the axes in input 1

  // Operators that move elements: an output row needs the rows that its elements come from.
  kReshape,  // input 1 has the shape of the output
  kSqueeze,
  kSameBytes,  // views whose attributes hold for any part (Flatten, Unsqueeze)
  kExpand,
  kTranspose,
  kGather,
  kSlice,
  kPad,
  kResize,
  kBlocksToChannels,  // SpaceToDepth
  kChannelsToBlocks,  // DepthToSpace
};

// The arithmetic of an operator: how many multiply-adds, or steps of an inner loop, an output element takes.
// Flops() in graph/flops.h counts those of products, and the pass `fold` bounds all of them (fold_work.h).
enum class Arithmetic : uint8_t {
  kLinear,                 // a few steps for each element
  kConvolution,            // one for each weight of the output channel
  kTransposedConvolution,  // one for each weight of the input channel, and that for each input element
  kMatrix,                 // as many as a row of the left operand has elements
  kRecurrent,              // in each time step, one for each weight
  kWindow,                 // one for each element under the window of attribute `kernel_shape`
  kNeighbours,             // one for each of attribute `size` neighbours in a row
  kSquares,                // one for each neighbour in a square with that side
  kSamples,                // one for each sample of attribute `sampling_ratio` squared
  kPairs,                  // at most one for each pair of input elements
  kEinsum,                 // one for each value of all letters of attribute `equation`, and each operand
  kTrees,                  // in each row and each tree, at most one for each node and each member of its sets
  kGrams,                  // in each row, one for each item of each n-gram that may begin at an item
  kLookUp,                 // for each element and each key, as many as a binary search of the keys has
};

struct OpTraits {
  OpKind kind = OpKind::kOther;
  Orders orders = Orders::kPlain;
  DivideBy divide_by = DivideBy::kWhole;
  Arithmetic arithmetic = Arithmetic::kLinear;
  bool epilogue = false;  // takes a residual and an activation (graph/fused.h, section 1)
  int8_t weights = 1;   // the input that has the weights of a convolution, or the right operand of a product
  int8_t axis = 0;      // the value of attribute `axis` where it is omitted
  bool narrow = false;  // takes the element types of base/narrow.h: it only moves elements, or converts them
};

constexpr OpTraits Narrow(OpTraits of) {
  of.narrow = true;
  return of;
}

const OpTraits& TraitsOf(std::string_view op);  // those of OpTraits{} if unknown

Arithmetic ArithmeticOf(std::string_view op);
bool IsElementwiseOperator(std::string_view op);
bool IsViewOperator(std::string_view op);
// Returns whether the operator computes a 4-D output in the order of its inputs, whatever that order is.
bool FollowsOrder(std::string_view op);
// Returns true if the node's output may overwrite its input `i`, given that this input has the same shape,
// elements of the same size, and no other reader. Relu may overwrite its input, Add either input, and Sum(x,
// y, z) only x.
bool MayOverwrite(const Node& node, size_t i);

}  // namespace mete
