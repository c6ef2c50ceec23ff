#include "costs/describe.h"

#include <algorithm>
#include <string>

#include "dispatch/recurrence.h"
#include "graph/flops.h"
#include "graph/traits.h"
#include "schedule/policy.h"

namespace mete {
namespace {

// The register tile of most kernels in src/kernels/fast, below which no node is divided. For the cores of
// other machines this value is a guess.
constexpr int64_t kTileRows = 8, kTileColumns = 16;
// the fewest elements of a block that only moves data: as in processor/cpu/prepare/elementwise.cc
constexpr int64_t kLeastElements = 16 * 1024;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Returns the weights of a convolution; kNoValue for other nodes.
ValueId ConvWeights(const Node& node) {
  const OpTraits& traits = TraitsOf(node.op);
  const bool convolves =
      traits.divide_by == DivideBy::kConvolution || traits.divide_by == DivideBy::kQuantizedConvolution;
  return convolves ? node.input(size_t(traits.weights)) : kNoValue;
}

bool IsDepthwise(const Graph& graph, const Node& node) {
  const ValueId weights = ConvWeights(node);
  if (weights == kNoValue || node.attributes.Int("group", 1) < 2) return false;
  const Shape& shape = graph.value(weights).shape;
  return shape.known() && shape.rank() > 1 && shape[1] == 1;
}

NodeKind KindOf(const Graph& graph, const Node& node, int64_t flops, int64_t bytes) {
  if (IsViewOperator(node.op)) return NodeKind::kView;
  if (bytes <= 0) return NodeKind::kUnknown;
  if (flops <= 0) return NodeKind::kMoves;
  return IsDepthwise(graph, node) ? NodeKind::kDepthwise : NodeKind::kProduct;
}

// Returns the sequences of a recurrent node, in each of its directions, that depend on no other one; one if
// the reference computes the node, which divides nothing. Threads that divide a step of large weights are
// left out: they meet behind each step, which these costs do not have.
int64_t IndependentSequences(const Graph& graph, const Node& node) {
  std::string why;
  const auto recurrence = RecurrenceOf(graph, node, &why);
  return recurrence ? recurrence->directions * recurrence->batch : 1;
}

// Returns the most pieces that the node can be divided into; 0 if it is smaller than one piece.
int64_t Pieces(const Graph& graph, const Node& node, NodeKind kind) {
  if (ArithmeticOf(node.op) == Arithmetic::kRecurrent) return IndependentSequences(graph, node);
  if (std::all_of(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id == kNoValue; }))
    return 1;
  const OutputMatrix out = OutputMatrixOf(graph, node);
  if (kind != NodeKind::kProduct) return out.rows * out.columns / kLeastElements;
  return CeilDiv(out.rows, kTileRows) * CeilDiv(out.columns, kTileColumns);
}

bool IsInt8(const Graph& graph, const Node& node) {
  const ValueId input = node.input(0);
  return input != kNoValue &&
         (graph.value(input).type == DType::kI8 || graph.value(input).type == DType::kU8);
}

}  // namespace

std::vector<int> PhysicalCores(const Machine& machine) {
  std::vector<int> counts;
  for (const Cluster& c : machine.clusters) {
    size_t count = c.cores.size();
    for (const std::vector<int>& threads : c.siblings) count -= threads.size() - 1;
    counts.push_back(int(count));
  }
  return counts;
}

OutputMatrix OutputMatrixOf(const Graph& graph, const Node& node) {
  const auto present =
      std::find_if(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id != kNoValue; });
  if (present == node.outputs.end() || !graph.value(*present).shape.known()) return {};
  const Shape& shape = graph.value(*present).shape;
  const ValueId weights = ConvWeights(node);
  const int64_t last = shape.rank() > 0 ? shape.back() : 1;
  const int64_t columns = std::max<int64_t>(weights != kNoValue ? graph.value(weights).shape[0] : last, 1);
  return {shape.Elements() / columns, columns};
}

NodeCost DescribeNode(const Graph& graph, const Node& node) {
  NodeCost cost{node.name, node.op};
  cost.flops = Flops(graph, node);
  cost.bytes = BytesMoved(graph, node);
  cost.kind = KindOf(graph, node, cost.flops, cost.bytes);
  cost.int8 = IsInt8(graph, node);
  if (cost.kind != NodeKind::kView && cost.kind != NodeKind::kUnknown)
    cost.pieces = std::max<int64_t>(Pieces(graph, node, cost.kind), 1);
  return cost;
}

}  // namespace mete
