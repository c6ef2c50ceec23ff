#include "plan/devices/share_sweep.h"

#include <algorithm>

namespace mete {

ShareSweep::ShareSweep(const Graph& graph, const std::vector<Layer>& layers, RowNeeds& needs, const DeviceCosts& device,
                       const std::vector<ValuePart>& wanted)
    : graph_(graph), layers_(layers), needs_(needs), device_(device), need_(graph.values.size()) {
  for (const ValuePart& w : wanted) Add(w.value, w.part);
}

void ShareSweep::Add(ValueId id, const Part& part) {
  std::optional<Part>& need = need_[size_t(id)];
  const Part hull = need ? Hull(*need, part) : part;
  const Shape& shape = graph_.value(id).shape;
  need = shape.known() ? Normalized(hull, shape) : Part::All();
}

// Of a node's rows, how many are computed.
double ShareSweep::Fraction(const Node& node, const Part& part) const {
  if (part.all()) return 1;
  for (ValueId id : node.outputs)
    if (id != kNoValue) return double(part.rows.size()) / double(graph_.value(id).shape[part.axis]);
  return 1;
}

void ShareSweep::Prepend(int layer) {
  const Layer& l = layers_[size_t(layer)];
  double most = 0;  // of the layer's nodes that are needed, where its anchor is not
  bool any = false;
  std::optional<double> anchor;
  for (int n = l.end - 1; n >= l.begin; --n) {
    const Node& node = graph_.nodes[size_t(n)];
    std::optional<Part> part;
    for (ValueId id : node.outputs)
      if (id != kNoValue && need_[size_t(id)]) part = part ? Hull(*part, *need_[size_t(id)]) : need_[size_t(id)];
    if (!part) continue;
    const std::vector<Part>& inputs = needs_.Inputs(n, *part);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (const ValueId id = node.inputs[i]; id != kNoValue && !graph_.value(id).is_constant()) Add(id, inputs[i]);
    any = true;
    most = std::max(most, Fraction(node, *part));
    if (n == l.anchor) anchor = Fraction(node, *part);
  }
  if (!any) return;
  const LayerCost& cost = device_.layers[size_t(layer)];
  compute_us_ += cost.least_us + (cost.us - cost.least_us) * anchor.value_or(most);
}

}  // namespace mete
