#include "import/onnx/upgrade.h"

#include <string_view>

namespace mete::onnx_import {
namespace {

struct Row {
  const char* op;
  int64_t below;  // the function applies to opsets under this one
  void (*upgrade)(Upgrade&);
};

// The rows apply to a node in this order. An upgrade may rename the node, so that a later row applies:
// Upsample becomes Resize.
constexpr Row kUpgrades[] = {
    {"BatchNormalization", 14, UpgradeBatchNormalization},
    {"Clip", 11, UpgradeClip},
    {"Dropout", 12, UpgradeDropout},
    {"GridSample", 20, UpgradeGridSample},
    {"GroupNormalization", 21, UpgradeGroupNormalization},
    {"Hardmax", 13, UpgradeFlatteningSoftmax},
    {"LogSoftmax", 13, UpgradeFlatteningSoftmax},
    {"Pad", 11, UpgradePad},
    {"ReduceL1", 18, UpgradeAxesToInput},
    {"ReduceL2", 18, UpgradeAxesToInput},
    {"ReduceLogSum", 18, UpgradeAxesToInput},
    {"ReduceLogSumExp", 18, UpgradeAxesToInput},
    {"ReduceMax", 18, UpgradeAxesToInput},
    {"ReduceMean", 18, UpgradeAxesToInput},
    {"ReduceMin", 18, UpgradeAxesToInput},
    {"ReduceProd", 18, UpgradeAxesToInput},
    {"ReduceSum", 13, UpgradeAxesToInput},
    {"ReduceSumSquare", 18, UpgradeAxesToInput},
    {"Upsample", 9, UpgradeUpsampleAttribute},
    {"Upsample", 10, UpgradeUpsample},
    {"Resize", 11, UpgradeResize10},
    {"Resize", 100, UpgradeResizeEmptyInputs},
    {"RoiAlign", 16, UpgradeRoiAlign},
    {"Scatter", 100, UpgradeScatter},
    {"SimplifiedLayerNormalization", 100, UpgradeSimplifiedLayerNormalization},
    {"Slice", 10, UpgradeSlice},
    {"Softmax", 13, UpgradeFlatteningSoftmax},
    {"Split", 13, UpgradeSplit},
    {"Split", 18, UpgradeSplitCount},
    {"Squeeze", 13, UpgradeAxesToInput},
    {"TopK", 10, UpgradeTopK},
    {"Unsqueeze", 13, UpgradeAxesToInput},
};

struct Oldest {
  const char* op;
  int64_t opset;
};

// Operators whose form at the given opset is still that of opset 7. (Opset 6 added integer types to many
// operators and removed `consumed_inputs`; opset 7 changed broadcasting and the recurrent operators.)
constexpr Oldest kOldest[] = {
    {"Abs", 6},
    {"ArgMax", 1},
    {"ArgMin", 1},
    {"AveragePool", 1},
    {"Cast", 6},
    {"Ceil", 6},
    {"Clip", 6},
    {"Concat", 4},
    {"Constant", 1},
    {"Conv", 1},
    {"ConvTranspose", 1},
    {"DepthToSpace", 1},
    {"Elu", 6},
    {"Exp", 6},
    {"Flatten", 1},
    {"Floor", 6},
    {"Gather", 1},
    {"GlobalAveragePool", 1},
    {"GlobalLpPool", 2},
    {"GlobalMaxPool", 1},
    {"HardSigmoid", 6},
    {"Hardmax", 1},
    {"Identity", 1},
    {"InstanceNormalization", 6},
    {"LRN", 1},
    {"LeakyRelu", 6},
    {"Log", 6},
    {"LogSoftmax", 1},
    {"LpNormalization", 1},
    {"LpPool", 2},
    {"MatMul", 1},
    {"Max", 6},
    {"MaxPool", 1},
    {"Mean", 6},
    {"Min", 6},
    {"Neg", 6},
    {"Not", 1},
    {"Pad", 2},
    {"Reciprocal", 6},
    {"ReduceL1", 1},
    {"ReduceL2", 1},
    {"ReduceLogSum", 1},
    {"ReduceLogSumExp", 1},
    {"ReduceMax", 1},
    {"ReduceMean", 1},
    {"ReduceMin", 1},
    {"ReduceProd", 1},
    {"ReduceSum", 1},
    {"ReduceSumSquare", 1},
    {"Relu", 6},
    {"Reshape", 5},
    {"Selu", 6},
    {"Shape", 1},
    {"Sigmoid", 6},
    {"Size", 1},
    {"Slice", 1},
    {"Softmax", 1},
    {"Softplus", 1},
    {"Softsign", 1},
    {"SpaceToDepth", 1},
    {"Split", 2},
    {"Sqrt", 6},
    {"Squeeze", 1},
    {"Sum", 6},
    {"Tanh", 6},
    {"ThresholdedRelu", 1},
    {"Tile", 6},
    {"TopK", 1},
    {"Transpose", 1},
    {"Unsqueeze", 1},
};

}  // namespace

void Upgrade::SetInput(size_t i, ValueId id) {
  if (node.inputs.size() <= i) node.inputs.resize(i + 1, kNoValue);
  node.inputs[i] = id;
}

ValueId Upgrade::Ints(const std::string& suffix, std::vector<int64_t> values) {
  return graph.AddConstant(node.name + "/" + suffix, Tensor::Ints(values));
}

ValueId Upgrade::Scalar(const std::string& suffix, float value, ValueId like) {
  const ValueId id = graph.AddConstant(node.name + "/" + suffix, Tensor::Floats({}, std::span(&value, 1)));
  if (!mixed_floats || like == kNoValue) return id;
  return Emit("CastLike", suffix + "_cast", {id, like});
}

ValueId Upgrade::Emit(const std::string& op, const std::string& suffix, std::vector<ValueId> inputs,
                      Attributes attributes) {
  const std::string name = names.Unique(node.name + "/" + suffix);
  const ValueId out = graph.AddValue(name);
  graph.AddNode(op, name, std::move(inputs), {out}, std::move(attributes));
  return out;
}

void Upgrade::Unsupported(const std::string& reason) {
  problems.Unsupported("operator " + node.op, reason, node.name);
}

void Upgrade::AttributeToInput(const std::string& name, size_t i) {
  if (!node.attributes.Has(name)) return;
  SetInput(i, Ints(name, node.attributes.IntList(name)));
  node.attributes.Erase(name);
}

void UpgradeAndAdd(Upgrade& u, int64_t opset) {
  for (const Row& row : kUpgrades)
    if (u.node.op == row.op && opset < row.below) row.upgrade(u);
  u.graph.nodes.push_back(std::move(u.node));
}

int64_t OldestOpset(const std::string& op) {
  for (const Oldest& row : kOldest)
    if (op == row.op) return row.opset;
  return 7;
}

}  // namespace mete::onnx_import
