#include "partition/layers.h"

#include <algorithm>

#include "graph/flops.h"
#include "graph/traits.h"

namespace mete {
namespace {

bool Computes(const Graph& graph, const Node& node) {
  const DivideBy by = TraitsOf(node.op).divide_by;
  const bool pools = by == DivideBy::kPool || by == DivideBy::kGlobalPool;
  return Flops(graph, node) > 0 || pools || by == DivideBy::kAttention;
}

// True for a Concat of values that nodes of several layers make. `layer_of`: by value the layer that makes
// it, -1 for constants and the graph's inputs.
bool Joins(const Node& node, const std::vector<int>& layer_of) {
  if (node.op != "Concat") return false;
  int first = -1;
  for (const ValueId id : node.inputs) {
    const int layer = id == kNoValue ? -1 : layer_of[size_t(id)];
    if (layer < 0) continue;
    if (first >= 0 && layer != first) return true;
    first = layer;
  }
  return false;
}

int AnchorOf(const Graph& graph, int begin, int end) {
  const auto weight = [&](int n) {
    const Node& node = graph.nodes[size_t(n)];
    return std::pair(Flops(graph, node), BytesMoved(graph, node));
  };
  int anchor = begin;
  for (int n = begin + 1; n < end; ++n)
    if (weight(n) > weight(anchor)) anchor = n;
  return anchor;
}

}  // namespace

std::vector<Layer> LayersOf(const Graph& graph) {
  std::vector<Layer> layers;
  std::vector<int> layer_of(graph.values.size(), -1);
  for (int n = 0; n < int(graph.nodes.size()); ++n) {
    const Node& node = graph.nodes[size_t(n)];
    const bool joins = Joins(node, layer_of);
    if (layers.empty() || joins || Computes(graph, node)) layers.push_back({"", n, n, n, joins});
    layers.back().end = n + 1;
    for (const ValueId id : node.outputs)
      if (id != kNoValue) layer_of[size_t(id)] = int(layers.size()) - 1;
  }
  for (Layer& layer : layers) {
    layer.anchor = AnchorOf(graph, layer.begin, layer.end);
    layer.name = graph.nodes[size_t(layer.anchor)].name;
  }
  return layers;
}

std::vector<int> NodesOf(const std::vector<Layer>& layers, int first, int last) {
  std::vector<int> nodes;
  for (int l = first; l < last; ++l)
    for (int n = layers[size_t(l)].begin; n < layers[size_t(l)].end; ++n) nodes.push_back(n);
  return nodes;
}

std::vector<std::vector<ValueId>> LiveValues(const Graph& graph, const std::vector<Layer>& layers) {
  const int count = int(layers.size());
  // Boundary b is before layer b. A value is live from the boundary behind the layer that produces it to the
  // boundary before the last layer that reads it.
  std::vector<int> first(graph.values.size(), count + 1), last(graph.values.size(), -1);
  for (ValueId id : graph.inputs) first[size_t(id)] = 0;
  for (int l = 0; l < count; ++l)
    for (int n = layers[size_t(l)].begin; n < layers[size_t(l)].end; ++n) {
      for (ValueId id : graph.nodes[size_t(n)].outputs)
        if (id != kNoValue) first[size_t(id)] = l + 1;
      for (ValueId id : graph.nodes[size_t(n)].inputs)
        if (id != kNoValue) last[size_t(id)] = std::max(last[size_t(id)], l);
    }
  for (ValueId id : graph.outputs) last[size_t(id)] = count;
  std::vector<std::vector<ValueId>> live(size_t(count) + 1);
  for (size_t id = 0; id < graph.values.size(); ++id)
    for (int b = first[id]; b <= last[id]; ++b) live[size_t(b)].push_back(ValueId(id));
  return live;
}

}  // namespace mete
