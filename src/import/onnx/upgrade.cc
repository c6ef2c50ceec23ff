#include "import/onnx/upgrade.h"

#include <string_view>

namespace mete::onnx_import {
namespace {

struct Row {
  const char* op;
  int64_t below;  // the function applies to opsets under this one
  void (*upgrade)(Upgrade&);
};

constexpr int64_t kAlways = 100;  // above all opsets

// The rows apply to a node in this order. An upgrade may rename the node, so that a later row applies:
// Upsample becomes Resize.
constexpr Row kUpgrades[] = {
    {"Abs", 6, UpgradeConsumedInputs},
    {"Add", 7, UpgradeBroadcastAttribute},
    {"And", 7, UpgradeBroadcastAttribute},
    {"BatchNormalization", 7, UpgradeTestMode},
    {"Cast", 6, UpgradeCastName},
    {"Ceil", 6, UpgradeConsumedInputs},
    {"Clip", 6, UpgradeConsumedInputs},
    {"Concat", 4, UpgradeConcatAxis},
    {"Div", 7, UpgradeBroadcastAttribute},
    {"Dropout", 7, UpgradeTestMode},
    {"Elu", 6, UpgradeConsumedInputs},
    {"Equal", 7, UpgradeBroadcastAttribute},
    {"Exp", 6, UpgradeConsumedInputs},
    {"Floor", 6, UpgradeConsumedInputs},
    {"GRU", 7, UpgradeOutputSequence},
    {"Gemm", 7, UpgradeBroadcastAttribute},
    {"GlobalLpPool", 2, UpgradeNormPower},
    {"Greater", 7, UpgradeBroadcastAttribute},
    {"HardSigmoid", 6, UpgradeConsumedInputs},
    {"InstanceNormalization", 6, UpgradeConsumedInputs},
    {"LSTM", 7, UpgradeOutputSequence},
    {"LeakyRelu", 6, UpgradeConsumedInputs},
    {"Less", 7, UpgradeBroadcastAttribute},
    {"Log", 6, UpgradeConsumedInputs},
    {"LpPool", 2, UpgradeNormPower},
    {"Max", 6, UpgradeConsumedInputs},
    {"Mean", 6, UpgradeConsumedInputs},
    {"Min", 6, UpgradeConsumedInputs},
    {"Mul", 7, UpgradeBroadcastAttribute},
    {"Neg", 6, UpgradeConsumedInputs},
    {"Or", 7, UpgradeBroadcastAttribute},
    {"PRelu", 7, UpgradePReluSlope},
    {"Pad", 2, UpgradePaddings},
    {"Pow", 7, UpgradeBroadcastAttribute},
    {"RNN", 7, UpgradeOutputSequence},
    {"Reciprocal", 6, UpgradeConsumedInputs},
    {"Relu", 6, UpgradeConsumedInputs},
    {"Reshape", 5, UpgradeReshapeAttribute},
    {"Selu", 6, UpgradeSeluDefaults},
    {"Sigmoid", 6, UpgradeConsumedInputs},
    {"Sqrt", 6, UpgradeConsumedInputs},
    {"Sub", 7, UpgradeBroadcastAttribute},
    {"Sum", 6, UpgradeConsumedInputs},
    {"Tanh", 6, UpgradeConsumedInputs},
    {"Tile", 6, UpgradeTileAxis},
    {"Upsample", 7, UpgradeUpsampleSides},
    {"Xor", 7, UpgradeBroadcastAttribute},
    {"BatchNormalization", 14, UpgradeBatchNormalization},
    {"Bernoulli", kAlways, UpgradeSeed},
    {"Clip", 11, UpgradeClip},
    {"Dropout", 12, UpgradeDropout},
    {"Dropout", kAlways, UpgradeTrainingDropout},
    {"GridSample", 20, UpgradeGridSample},
    {"GroupNormalization", 21, UpgradeGroupNormalization},
    {"Hardmax", 13, UpgradeFlatteningSoftmax},
    {"LogSoftmax", 13, UpgradeFlatteningSoftmax},
    {"Multinomial", kAlways, UpgradeSeed},
    {"Pad", 11, UpgradePad},
    {"RandomNormal", kAlways, UpgradeSeed},
    {"RandomNormalLike", kAlways, UpgradeSeed},
    {"RandomUniform", kAlways, UpgradeSeed},
    {"RandomUniformLike", kAlways, UpgradeSeed},
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
    {"Resize", kAlways, UpgradeResizeEmptyInputs},
    {"RoiAlign", 16, UpgradeRoiAlign},
    {"Scan", 9, UpgradeScan8},
    {"Scatter", kAlways, UpgradeScatter},
    {"SimplifiedLayerNormalization", kAlways, UpgradeSimplifiedLayerNormalization},
    {"Slice", 10, UpgradeSlice},
    {"Softmax", 13, UpgradeFlatteningSoftmax},
    {"SpaceToDepth", kAlways, UpgradeSpaceToDepthMode},
    {"Split", 13, UpgradeSplit},
    {"Split", 18, UpgradeSplitCount},
    {"Squeeze", 13, UpgradeAxesToInput},
    {"TopK", 10, UpgradeTopK},
    {"Unsqueeze", 13, UpgradeAxesToInput},
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

}  // namespace mete::onnx_import
