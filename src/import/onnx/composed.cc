#include "import/onnx/composed.h"

#include <algorithm>
#include <limits>

#include "import/onnx/microsoft_build.h"
#include "import/onnx/shapes.h"

namespace mete::onnx_import {
namespace {

struct Row {
  std::string_view op;
  size_t least_inputs, most_inputs, most_outputs;
  void (*expand)(Upgrade&);
};

constexpr Row kRows[] = {
    {"BlackmanWindow", 1, 1, 1, ExpandWindow},
    {"CausalConvWithState", 2, 4, 2, ExpandCausalConvWithState},
    {"DFT", 1, 3, 1, ExpandDft},
    {"HammingWindow", 1, 1, 1, ExpandWindow},
    {"HannWindow", 1, 1, 1, ExpandWindow},
    {"MelWeightMatrix", 5, 5, 1, ExpandMelWeightMatrix},
    {"NegativeLogLikelihoodLoss", 2, 3, 1, ExpandNegativeLogLikelihoodLoss},
    {"STFT", 2, 4, 1, ExpandStft},
    {"SoftmaxCrossEntropyLoss", 2, 3, 2, ExpandSoftmaxCrossEntropyLoss},
};

const Row* Find(std::string_view op) {
  const auto at =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) { return row.op == op; });
  return at == std::end(kRows) ? nullptr : at;
}

// Makes the node the loss of `log_probabilities` (N x C x ...) for the classes in input 1 (N x ...), weighted
// by input 2, which has one number for each class.
void BecomeLoss(Upgrade& u, ValueId log_probabilities) {
  const Attributes given = u.node.attributes;
  const std::string reduction(given.String("reduction", "mean"));
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return u.Bad("reduction; got '{}', expected none, sum or mean", Printable(reduction));
  const bool ignores = given.Has("ignore_index");
  ValueId classes = CastTo(u, u.input(1), "i64"), ignored = kNoValue;
  if (ignores) {
    // The number of the ignored class may be none of the classes, so class 0 is looked up in its place.
    ignored = Op(u, "Equal", {classes, ScalarConstant(u, given.Int("ignore_index", 0))});
    classes = Op(u, "Where", {ignored, ScalarConstant(u, 0), classes});
  }
  const ValueId chosen = Op(u, "GatherElements", {log_probabilities, Unsqueezed(u, classes, {1})}, "axis", 1);
  ValueId loss = Op(u, "Neg", {Op(u, "Squeeze", {chosen, Constant(u, {1})})});
  ValueId weights = kNoValue;
  if (u.input(2) != kNoValue) weights = Op(u, "Gather", {u.input(2), classes}, "axis", 0);
  if (ignores) {
    const ValueId none = u.Scalar("zero", 0, loss), one = u.Scalar("one", 1, loss);
    loss = Op(u, "Where", {ignored, none, loss});  // class 0 may have no probability at all
    weights = Op(u, "Where", {ignored, none, weights == kNoValue ? one : weights});
  }
  if (weights != kNoValue) loss = Op(u, "Mul", {loss, weights});
  if (reduction == "none") return Become(u, "Identity", {loss});
  if (reduction == "sum") return Become(u, "ReduceSum", {loss}, With("keepdims", int64_t{0}));
  if (weights == kNoValue) return Become(u, "ReduceMean", {loss}, With("keepdims", int64_t{0}));
  const ValueId sum = Op(u, "ReduceSum", {loss}, "keepdims", 0);
  Become(u, "Div", {sum, Op(u, "ReduceSum", {weights}, "keepdims", 0)});
}

}  // namespace

bool IsComposed(std::string_view op) { return Find(op) != nullptr; }

void ExpandComposed(Upgrade& u) {
  const Row& row = *Find(u.node.op);
  const size_t inputs = u.node.inputs.size(), outputs = u.node.outputs.size();
  if (inputs < row.least_inputs || inputs > row.most_inputs || outputs < 1 || outputs > row.most_outputs)
    return u.Bad("{} has {} inputs and {} outputs; expected {} to {} inputs and 1 to {} outputs", row.op,
                 inputs, outputs, row.least_inputs, row.most_inputs, row.most_outputs);
  for (size_t i = 0; i < row.least_inputs; ++i)
    if (u.input(i) == kNoValue) return u.Bad("{} lacks input {}; expected a value", row.op, i);
  row.expand(u);
}

void ExpandNegativeLogLikelihoodLoss(Upgrade& u) { BecomeLoss(u, u.input(0)); }

// The second output, which may be omitted, has the logarithms of the probabilities.
void ExpandSoftmaxCrossEntropyLoss(Upgrade& u) {
  const ValueId logs = Into(u, u.node.output(1), "LogSoftmax", {u.input(0)}, With("axis", int64_t{1}));
  u.node.outputs.resize(1);
  BecomeLoss(u, logs);
}

// The input (N x C x length), a filter for each channel (C x 1 x k), an optional bias, and optionally the k -
// 1 columns before the input, which are zeros otherwise. The second output has the columns before the next
// input.
void ExpandCausalConvWithState(Upgrade& u) {
  const std::string activation(u.node.attributes.String("activation", "none"));
  if (activation != "none" && activation != "silu" && activation != "swish")
    return u.Bad("activation; got '{}', expected none, silu or swish", Printable(activation));
  const Shape filters = u.shapes ? u.shapes->Of(u.graph, u.input(1)) : Shape::Unknown();
  if (!filters.known() || filters.rank() != 3)
    return u.Unsupported("the shape of its filters is not known; expected channels x 1 x taps");
  const int64_t channels = filters[0], before = filters[2] - 1;
  if (channels < 1 || before < 0)
    return u.Bad("its filters; got {}, expected channels x 1 x taps", ToString(filters));
  ValueId columns = u.input(0);
  if (u.input(3) != kNoValue) columns = Op(u, "Concat", {u.input(3), columns}, "axis", 2);
  else columns = Op(u, "Pad", {columns, Constant(u, {0, 0, before, 0, 0, 0})});
  if (const ValueId next = u.node.output(1); next != kNoValue) {
    const int64_t end = std::numeric_limits<int64_t>::max();
    (void)Into(u, next, "Slice",
               {columns, Constant(u, {before == 0 ? end : -before}), Constant(u, {end}), Constant(u, {2})});
  }
  u.node.outputs.resize(1);
  std::vector<ValueId> inputs{columns, u.input(1)};
  if (u.input(2) != kNoValue) inputs.push_back(u.input(2));
  if (activation == "none") return Become(u, "Conv", std::move(inputs), With("group", channels));
  const ValueId y = u.Emit("Conv", "convolution", std::move(inputs), With("group", channels));
  Become(u, "Swish", {y});
}

}  // namespace mete::onnx_import
