#include "plan/devices/layer_costs.h"

#include <algorithm>

#include "partition/share.h"
#include "plan/devices/placement.h"

namespace mete {

LayerCost LayerGraphs::CostOf(const Layer& layer, const GraphUs& us_of) const {
  double part = 1;
  const Graph whole = ShareOf(layer, 1, part);
  if (whole.nodes.empty()) return {};
  const double us = us_of(whole);
  const Graph half = ShareOf(layer, 2, part);
  return {us, part < 1 ? std::clamp((us_of(half) - part * us) / (1 - part), 0.0, us) : us};
}

Graph LayerGraphs::ShareOf(const Layer& layer, int shares, double& part) const {
  std::vector<int> nodes;
  for (int n = layer.begin; n < layer.end; ++n) nodes.push_back(n);
  std::vector<ValuePart> wanted;
  for (ValueId id : BorderOf(graph_, uses_, nodes).outputs) {
    const Shape& shape = graph_.value(id).shape;
    const int axis = AxisOf(SplitAxis::kRows, shape);
    const bool divided = axis >= 0 && shape[axis] >= shares;
    wanted.push_back({id, divided ? Part::Of(axis, {0, shape[axis] / shares}) : Part::All()});
    part = divided ? double(shape[axis] / shares) / double(shape[axis]) : 1;
  }
  return wanted.empty() ? Graph{} : MakeShareGraph(graph_, nodes, wanted).graph;
}

}  // namespace mete
