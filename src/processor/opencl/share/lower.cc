#include <map>
#include <string_view>

#include "base/error.h"
#include "base/problems.h"
#include "passes/pass.h"
#include "processor/opencl/share/families.h"

namespace mete::opencl {
namespace {

using LowerNode = std::string (*)(Lowering& to, const Node& node);

const std::map<std::string_view, LowerNode>& Table() {
  static const std::map<std::string_view, LowerNode> table = {
      // immutable after the first call
      {"Conv", LowerConvolution},
      {"ConvTranspose", LowerTransposedConvolution},
      {"MaxPool", LowerPool},
      {"AveragePool", LowerPool},
      {"GlobalMaxPool", LowerPool},
      {"GlobalAveragePool", LowerPool},
      {"mete.Elementwise", LowerElementwise},
      {"Max", LowerFunction},
      {"Min", LowerFunction},
      {"Mean", LowerFunction},
      {"Clip", LowerFunction},
      {"Selu", LowerFunction},
      {"Celu", LowerFunction},
      {"Softsign", LowerFunction},
      {"mete.Power", LowerFunction},
      {"BatchNormalization", LowerBatchNorm},
      {"Gemm", LowerProduct},
      {"MatMul", LowerProduct},
      {"mete.MatMul", LowerProduct},
      {"Attention", LowerAttention},
      {"Softmax", LowerRows},
      {"LogSoftmax", LowerRows},
      {"LayerNormalization", LowerRows},
      {"RMSNormalization", LowerRows},
      {"InstanceNormalization", LowerInstanceNorm},
      {"GroupNormalization", LowerGroupNorm},
      {"LRN", LowerLrn},
      {"Resize", LowerResize},
      {"ReduceMean", LowerReduce},
      {"ReduceSum", LowerReduce},
      {"ReduceMax", LowerReduce},
      {"ReduceMin", LowerReduce},
      {"ReduceProd", LowerReduce},
      {"ReduceL1", LowerReduce},
      {"ReduceL2", LowerReduce},
      {"ReduceSumSquare", LowerReduce},
      {"ReduceLogSum", LowerReduce},
      {"ReduceLogSumExp", LowerReduce},
      {"ArgMax", LowerArg},
      {"ArgMin", LowerArg},
      {"Gather", LowerGather},
      {"QLinearConv", LowerByteProduct},
      {"QLinearMatMul", LowerByteProduct},
      {"mete.ScaledConvInteger", LowerScaledSums},
      {"mete.ScaledMatMulInteger", LowerScaledSums},
      {"mete.QLinearAdd", LowerByteOperation},
      {"mete.QLinearMul", LowerByteOperation},
      {"mete.ByteTable", LowerByteTable},
      {"mete.QLinearAveragePool", LowerBytePool},
      {"mete.QLinearGlobalAveragePool", LowerBytePool},
      {"QuantizeLinear", LowerLevels},
      {"DequantizeLinear", LowerLevels},
      {"Reshape", LowerView},
      {"Flatten", LowerView},
      {"Squeeze", LowerView},
      {"Unsqueeze", LowerView},
      {"Identity", LowerView},
      {"Cast", LowerCast},
      {"Transpose", LowerTranspose},
      {"Concat", LowerConcat},
      {"Split", LowerSplit},
      {"Slice", LowerSlice},
      {"Pad", LowerPad},
      {"Expand", LowerExpand},
      {"Tile", LowerTile},
      {"DepthToSpace", LowerSpaceAndDepth},
      {"SpaceToDepth", LowerSpaceAndDepth},
  };
  return table;
}

bool IsEmpty(const Value& value) { return value.shape.known() && value.shape.Elements() == 0; }

// Appends the launches of a node; returns why there are none, or an empty string.
std::string LowerOne(Lowering& to, const Node& node) {
  const auto row = Table().find(node.op);
  if (row == Table().end()) return "no kernel for " + node.op;
  bool writes = false;
  for (ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    if (!to.value(id).shape.known()) return "the shape of its output depends on data";
    writes = writes || !IsEmpty(to.value(id));
  }
  if (!writes) return "";
  for (ValueId id : node.inputs) {
    if (id == kNoValue) continue;
    if (!to.value(id).shape.known()) return "the shape of its input depends on data";
    if (!to.value(id).is_constant() && IsEmpty(to.value(id)) && node.op != "Concat")
      return "an input is empty and the output is not";
  }
  try {
    return row->second(to, node);
  } catch (const Error& error) {  // of a kernel: sizes that it does not take
    return error.what();
  }
}

// Returns a graph of the node alone.
Graph Alone(const Graph& graph, const Node& node) {
  Graph alone;
  std::map<ValueId, ValueId> ids;
  const auto copy = [&](ValueId id) {
    if (id == kNoValue) return id;
    const auto [at, is_new] = ids.try_emplace(id, ValueId(alone.values.size()));
    if (is_new) alone.values.push_back(graph.value(id));
    return at->second;
  };
  Node own = node;
  for (ValueId& id : own.inputs) {
    const size_t before = alone.values.size();
    id = copy(id);
    if (alone.values.size() > before && !alone.value(id).is_constant()) alone.inputs.push_back(id);
  }
  for (ValueId& id : own.outputs) {
    id = copy(id);
    if (id != kNoValue) alone.outputs.push_back(id);
  }
  alone.nodes.push_back(std::move(own));
  return alone;
}

// The work of folding a node of constants that a share has in spite of the pass `fold`: hardly any.
constexpr FoldLimits kFoldNothing{.max_result_bytes = 1 << 16, .max_work = 1e5};

}  // namespace

bool AreF32(const Graph& graph, const Node& node, std::initializer_list<size_t> inputs) {
  for (size_t i : inputs)
    if (!IsF32(graph, node.input(i))) return false;
  return true;
}

std::optional<Ints> ListOf(const Graph& graph, ValueId id) {
  if (auto ints = IntsOf(graph, id)) return ints;
  if (!IsConstant(graph, id) || graph.value(id).type != DType::kI32) return std::nullopt;
  const Tensor& list = graph.value(id).constant;
  return Ints(list.as<int32_t>(), list.as<int32_t>() + list.elements());
}

// A node is asked for alone, behind the passes: what Lower() meets is what these make of it.
std::string WhyNoKernel(const Graph& graph, const Node& node) {
  Graph alone = Alone(graph, node);
  WriteEveryTransposedConvolution(alone);
  try {
    (void)RunPasses(alone, {.limits = kFoldNothing});
  } catch (const Error& error) {
    return error.what();
  }
  const ChooseTile first;
  Lowering to(alone, {}, first);
  for (const Node& n : alone.nodes)
    if (const std::string why = LowerOne(to, n); !why.empty()) return why;
  return "";
}

ShareOnGpu Lower(const Graph& graph, const GpuTarget& target, const ChooseTile& choose) {
  Lowering to(graph, target, choose);
  Problems problems;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    to.Begin(int(n));
    if (const std::string why = LowerOne(to, node); !why.empty())
      problems.Add(Error(Code::kUnimplemented, "[" + node.name + "] cannot be computed here: " + why));
  }
  problems.ThrowIfAny();
  return to.Finish();
}

std::vector<std::string> GpuKernelsOf(const Graph& share, const GpuTarget& target) {
  Graph graph = share;
  WriteEveryTransposedConvolution(graph);
  (void)RunPasses(graph);
  std::vector<std::string> kernels;
  for (const Launch& launch : Lower(graph, target, {}).launches)
    kernels.push_back(launch.text.name + "_" + Name(launch.type));
  return kernels;
}

}  // namespace mete::opencl
