#include "plan/pool/layer_costs.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "partition/share.h"
#include "plan/placement.h"

namespace mete {
namespace {

// Layers below this share of the model's time are not measured by halves, and count as undividable. Guess:
// with 0.003 ResNet-50's dense layer, whose half saves 0.5 % of the model, was undividable in some profiles.
constexpr double kSmallLayer = 0.001;

// Appends a graph. Its values get new names, because two neighbouring layers both have the value between
// them.
void Append(const Graph& from, Graph& to) {
  const auto id_in = [base = ValueId(to.values.size())](ValueId id) {
    return id == kNoValue ? id : base + id;
  };
  const auto ids_in = [&](std::vector<ValueId> ids) {
    for (ValueId& id : ids) id = id_in(id);
    return ids;
  };
  for (const ValueId id : from.inputs) to.inputs.push_back(id_in(id));
  for (const ValueId id : from.outputs) to.outputs.push_back(id_in(id));
  const std::string prefix = std::to_string(to.values.size()) + "/";
  for (const Value& value : from.values) {
    to.values.push_back(value);
    to.values.back().name = prefix + value.name;
  }
  for (const Node& node : from.nodes)
    to.AddNode(node.op, node.name, ids_in(node.inputs), ids_in(node.outputs), node.attributes);
}

// Returns the axis of the split if it has at least one row, or channel, for each share; else -1.
int AxisBy(SplitAxis split, const Shape& shape, int shares) {
  const int axis = AxisOf(split, shape);
  return axis >= 0 && shape[axis] >= shares ? axis : -1;
}

}  // namespace

LayerCost CostThrough(double us, double part_us, double part) {
  return {us, part < 1 ? std::clamp((part_us - part * us) / (1 - part), 0.0, us) : us};
}

std::vector<double> LayersUs(const Graph& graph, std::span<const Layer> layers, const NodesUs& nodes,
                             NodesOfPasses made) {
  std::map<std::string, size_t> layer_of;
  for (size_t l = 0; l < layers.size(); ++l)
    for (int n = layers[l].begin; n < layers[l].end; ++n) layer_of[graph.nodes[size_t(n)].name] = l;
  std::vector<double> us(layers.size(), 0);
  size_t at = 0;
  for (const auto& [name, node_us] : nodes) {
    const auto known = layer_of.find(name);
    if (known != layer_of.end()) at = known->second;
    if (known != layer_of.end() || made == NodesOfPasses::kCount) us[at] += node_us;
  }
  return us;
}

std::vector<Layer> LayersToHalve(std::vector<Layer> layers, std::span<const double> us) {
  const double small_us = kSmallLayer * std::accumulate(us.begin(), us.end(), 0.0);
  for (size_t l = 0; l < layers.size(); ++l)
    if (us[l] <= (layers[l].joins ? 0 : small_us)) layers[l].end = layers[l].begin;
  return layers;
}

// Rows where there are enough of them, else channels: a product of one row is divided by its columns.
int LayerGraphs::AxisToDivide(const Shape& shape, int shares) {
  const int rows = AxisBy(SplitAxis::kRows, shape, shares);
  return rows >= 0 ? rows : AxisBy(SplitAxis::kChannels, shape, shares);
}

int LayerGraphs::ChannelsBesideRows(const Shape& shape, int shares) {
  return AxisBy(SplitAxis::kRows, shape, shares) < 0 ? -1 : AxisBy(SplitAxis::kChannels, shape, shares);
}

LayerHalves LayerGraphs::HalvesBy(AxisFor axis_for, std::span<const Layer> layers) const {
  LayerHalves halves{{}, std::vector<double>(layers.size(), 1)};
  halves.graph.name = graph_.name;
  for (size_t l = 0; l < layers.size(); ++l) {
    const Graph half = ShareOf(layers[l], axis_for, 2, halves.parts[l]);
    if (halves.parts[l] < 1) Append(half, halves.graph);
  }
  return halves;
}

Graph LayerGraphs::Only(std::span<const Layer> layers, const std::vector<bool>& which) const {
  Graph only;
  only.name = graph_.name;
  const auto whole = [](const Shape&, int) { return -1; };
  for (size_t l = 0; l < layers.size(); ++l) {
    if (!which[l]) continue;
    Layer run = layers[l];
    for (; l + 1 < layers.size() && which[l + 1]; ++l) run.end = layers[l + 1].end;
    double part = 1;
    Append(ShareOf(run, whole, 1, part), only);
  }
  return only;
}

LayerCost LayerGraphs::CostOf(const Layer& layer, const GraphUs& us_of) const {
  double part = 1;
  const Graph whole = ShareOf(layer, AxisToDivide, 1, part);
  if (whole.nodes.empty()) return {};
  const double us = us_of(whole);
  const Graph half = ShareOf(layer, AxisToDivide, 2, part);
  return part < 1 ? CostThrough(us, us_of(half), part) : LayerCost{us, us};
}

Graph LayerGraphs::ShareOf(const Layer& layer, AxisFor axis_for, int shares, double& part) const {
  std::vector<int> nodes;
  for (int n = layer.begin; n < layer.end; ++n) nodes.push_back(n);
  std::vector<ValuePart> wanted;
  for (ValueId id : BorderOf(graph_, uses_, nodes).outputs) {
    const Shape& shape = graph_.value(id).shape;
    const int axis = axis_for(shape, shares);
    const bool divided = axis >= 0;
    wanted.push_back({id, divided ? Part::Of(axis, {0, shape[axis] / shares}) : Part::All()});
    part = divided ? double(shape[axis] / shares) / double(shape[axis]) : 1;
  }
  return wanted.empty() ? Graph{} : MakeShareGraph(graph_, nodes, wanted).graph;
}

}  // namespace mete
