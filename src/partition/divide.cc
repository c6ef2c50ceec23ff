#include "partition/divide.h"

#include <algorithm>

#include "partition/rules.h"

namespace mete {
namespace {

// Every value has its rule: the compiler reports one that is missing.
Divided ByTrait(const DivideContext& c) {
  switch (c.traits.divide_by) {
    case DivideBy::kWhole: return std::nullopt;
    case DivideBy::kBroadcast: return DivideByBroadcast(c);
    case DivideBy::kFirstInput: return DivideByFirstInput(c);
    case DivideBy::kConvolution: return DivideConvolution(c);
    case DivideBy::kQuantizedConvolution: return DivideQuantizedConvolution(c);
    case DivideBy::kTransposedConvolution: return DivideTransposedConvolution(c);
    case DivideBy::kPool: return DividePool(c);
    case DivideBy::kGlobalPool: return DivideGlobalPool(c);
    case DivideBy::kGemm: return DivideGemm(c);
    case DivideBy::kMatMul: return DivideMatMul(c);
    case DivideBy::kMatMulInteger: return DivideMatMulInteger(c);
    case DivideBy::kQLinearMatMul: return DivideQLinearMatMul(c);
    case DivideBy::kAttention: return DivideAttention(c);
    case DivideBy::kAlongAxis: return DivideAlongAxis(c);
    case DivideBy::kFromAxis: return DivideFromAxis(c);
    case DivideBy::kBatchNormalization: return DivideBatchNormalization(c);
    case DivideBy::kInstanceNormalization: return DivideInstanceNormalization(c);
    case DivideBy::kOverChannels: return DivideOverChannels(c);
    case DivideBy::kQuantize: return DivideQuantize(c);
    case DivideBy::kReduce: return DivideReduce(c);
    case DivideBy::kReshape: return DivideReshape(c);
    case DivideBy::kSqueeze: return DivideSqueeze(c);
    case DivideBy::kSameBytes: return DivideSameBytes(c);
    case DivideBy::kExpand: return DivideExpand(c);
    case DivideBy::kTranspose: return DivideTranspose(c);
    case DivideBy::kGather: return DivideGather(c);
    case DivideBy::kSlice: return DivideSlice(c);
    case DivideBy::kPad: return DividePad(c);
    case DivideBy::kResize: return DivideResize(c);
    case DivideBy::kBlocksToChannels: return DivideBlocksToChannels(c);
    case DivideBy::kChannelsToBlocks: return DivideChannelsToBlocks(c);
  }
  return std::nullopt;
}

// Returns true if every shape is known, all outputs have the same number of rows, and the requested rows lie
// within it.
bool CanAsk(const Graph& graph, const Node& node, const Part& part) {
  for (ValueId id : node.inputs)
    if (id != kNoValue && !graph.value(id).shape.known()) return false;
  int64_t extent = -1;
  for (ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    const Shape& shape = graph.value(id).shape;
    if (!shape.known() || part.axis >= shape.rank() || (extent >= 0 && shape[part.axis] != extent))
      return false;
    extent = shape[part.axis];
  }
  return part.rows.begin >= 0 && part.rows.begin < part.rows.end && part.rows.end <= extent;
}

}  // namespace

ValueId DivideContext::FirstOutput() const {
  return *std::find_if(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id != kNoValue; });
}

bool DivideContext::Broadcast(Division& d, int i) const {
  const int at = axis - (output().rank() - shape(i).rank());
  if (at < 0 || shape(i)[at] == 1) return true;
  if (shape(i)[at] != output()[axis]) return false;
  SameRows(d, i, at);
  return true;
}

Divided DivideByBroadcast(const DivideContext& c) {
  Division d = c.Whole();
  for (int i = 0; i < c.inputs(); ++i)
    if (c.has(i) && !c.Broadcast(d, i)) return std::nullopt;
  return d;
}

Divided DivideByFirstInput(const DivideContext& c) {
  Division d = c.Whole();
  if (!c.Broadcast(d, 0)) return std::nullopt;
  return d;
}

std::optional<Division> Divide(const Graph& graph, const Node& node, const Part& part) {
  if (part.all() || !CanAsk(graph, node, part)) return std::nullopt;
  return ByTrait(DivideContext(graph, node, part));
}

}  // namespace mete
