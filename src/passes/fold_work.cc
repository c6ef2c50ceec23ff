#include "passes/fold_work.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/einsum.h"
#include "graph/traits.h"

namespace mete {
namespace {

double Elements(const Graph& graph, ValueId id) {
  if (id == kNoValue || !graph.value(id).shape.known()) return 0;
  double n = 1;
  // An empty dimension counts as 1, because the loops around it still run.
  for (int64_t d : graph.value(id).shape.dims()) n *= double(std::max<int64_t>(d, 1));
  return n;
}

double Dim(const Graph& graph, ValueId id, int from_end) {
  if (id == kNoValue || graph.value(id).shape.rank() < from_end) return 1;
  const Shape& s = graph.value(id).shape;
  return double(s[s.rank() - from_end]);
}

double Product(std::span<const int64_t> values) {
  double n = 1;
  for (int64_t v : values) n *= double(std::max<int64_t>(v, 1));
  return n;
}

// Returns the elements of the weights of one channel, which is the first dimension.
double ChannelWeights(const Graph& graph, const Node& node) {
  const ValueId weights = node.input(size_t(TraitsOf(node.op).weights));
  const double rank = weights == kNoValue ? 0 : graph.value(weights).shape.rank();
  return Elements(graph, weights) / std::max(1.0, Dim(graph, weights, int(rank)));
}

// A tree may be one path through all nodes.
double TreeSteps(const Graph& graph, const Node& node) {
  const Attributes& a = node.attributes;
  const auto elements = [&](const char* name) {
    const Tensor* t = a.TensorOf(name);
    return t ? double(t->elements()) : 0;
  };
  return Dim(graph, node.input(0), 2) * double(a.IntList("tree_roots").size()) *
         (elements("nodes_modes") + elements("membership_values"));
}

// Each n-gram is looked for among those of the pool, item by item.
double GramSteps(const Graph& graph, const Node& node, double in) {
  const Attributes& a = node.attributes;
  const double items = Dim(graph, node.input(0), 1);
  const double distances = std::min(items, double(std::max<int64_t>(a.Int("max_skip_count", 0), 0)) + 1);
  const double searched = 1 + std::log2(1 + double(a.IntList("pool_int64s").size()));
  double steps = 0;
  for (size_t length = 1; length <= a.IntList("ngram_counts").size(); ++length)
    steps += std::min(items, double(length));
  return in * distances * steps * searched;
}

// Shapes are known where a node is folded.
double EinsumSteps(const Graph& graph, const Node& node) {
  std::vector<Shape> shapes;
  for (ValueId id : node.inputs) shapes.push_back(graph.value(id).shape);
  if (!std::all_of(shapes.begin(), shapes.end(), [](const Shape& s) { return s.known(); })) return 0;
  return double(shapes.size()) *
         Product(Einsum(node.name, node.attributes.String("equation", ""), shapes).extents);
}

double Multiplied(const Graph& graph, const Node& node, double in, double out) {
  switch (ArithmeticOf(node.op)) {
    case Arithmetic::kLinear: return 0;
    case Arithmetic::kWindow: return out * std::min(in, Product(node.attributes.IntList("kernel_shape")));
    case Arithmetic::kConvolution: return out * ChannelWeights(graph, node);
    case Arithmetic::kTransposedConvolution: return in * ChannelWeights(graph, node);
    case Arithmetic::kMatrix:
      return out * std::max(Dim(graph, node.input(0), 1), Dim(graph, node.input(0), 2));
    case Arithmetic::kPairs: return in * in;
    case Arithmetic::kEinsum: return EinsumSteps(graph, node);
    case Arithmetic::kTrees: return TreeSteps(graph, node);
    case Arithmetic::kGrams: return GramSteps(graph, node, in);
    case Arithmetic::kLookUp: return in * std::log2(1 + in);
    case Arithmetic::kRecurrent:
      return in * (Elements(graph, node.input(1)) + Elements(graph, node.input(2)));
    case Arithmetic::kNeighbours:
      return out * std::max(1.0, std::min(in, double(node.attributes.Int("size", 64))));
    case Arithmetic::kSquares:
      return out *
             std::min(in, double(node.attributes.Int("size", 5)) * double(node.attributes.Int("size", 5)));
    case Arithmetic::kSamples: {
      // If sampling_ratio is 0, the samples depend on the data; 2^24 is the kernel's limit.
      const double asked = double(node.attributes.Int("sampling_ratio", 0));
      return out * (asked > 0 ? asked * asked : 0x1p24);
    }
  }
  return 0;
}

}  // namespace

double FoldWork(const Graph& graph, const Node& node) {
  double in = 0, out = 0;
  for (ValueId id : node.inputs) in += Elements(graph, id);
  for (ValueId id : node.outputs) out += Elements(graph, id);
  return in + out + Multiplied(graph, node, in, out);
}

}  // namespace mete
