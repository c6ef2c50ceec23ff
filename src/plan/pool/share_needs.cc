#include "plan/pool/share_needs.h"

#include <algorithm>

#include "plan/placement.h"
#include "plan/pool/exchange.h"

namespace mete {

ShareNeeds::ShareNeeds(const Graph& graph, const std::vector<Layer>& layers,
                       const std::vector<std::vector<ValueId>>& live)
    : graph_(graph),
      layers_(layers),
      live_(live),
      rows_(graph),
      need_(graph.values.size()),
      known_(live.size()) {}

// Mixes numbers of a few bits each, as boost's hash_combine does.
size_t ShareNeeds::Hash::operator()(const LiveParts* parts) const {
  size_t hash = 0;
  for (const LiveParts::OfValue& p : parts->parts)
    for (const size_t number :
         {p.live, size_t(p.part.axis), size_t(p.part.rows.begin), size_t(p.part.rows.end)})
      hash ^= number + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  return hash;
}

const LiveParts& ShareNeeds::Of(int boundary, std::span<const ValuePart> parts) {
  for (const ValuePart& p : parts) Add(p.value, p.part);
  LiveParts& wanted = Kept(boundary);
  for (LiveParts* at = &wanted; at->boundary > 0 && !at->before;) at = &Trace(*at);
  return wanted;
}

LiveParts& ShareNeeds::Kept(int boundary) {
  LiveParts kept{.boundary = boundary, .number = known_[size_t(boundary)].size()};
  const std::vector<ValueId>& live = live_[size_t(boundary)];
  for (size_t v = 0; v < live.size(); ++v)
    if (const std::optional<Part>& part = need_[size_t(live[v])]) {
      kept.parts.push_back({v, *part, CommonBytes(graph_.value(live[v]), *part, Part::All())});
      kept.bytes += kept.parts.back().bytes;
    }
  for (ValueId id : needed_) need_[size_t(id)].reset();
  needed_.clear();
  const auto known = known_[size_t(boundary)].find(&kept);
  if (known != known_[size_t(boundary)].end()) return **known;
  all_.push_back(std::move(kept));
  known_[size_t(boundary)].insert(&all_.back());
  return all_.back();
}

void ShareNeeds::Add(ValueId id, const Part& part) {
  std::optional<Part>& need = need_[size_t(id)];
  if (!need) needed_.push_back(id);
  const Part hull = need ? Hull(*need, part) : part;
  const Shape& shape = graph_.value(id).shape;
  need = shape.known() ? Normalized(hull, shape) : Part::All();
}

// Returns the share of a node's rows that is computed.
double ShareNeeds::Fraction(const Node& node, const Part& part) const {
  if (part.all()) return 1;
  for (ValueId id : node.outputs)
    if (id != kNoValue) return double(part.rows.size()) / double(graph_.value(id).shape[part.axis]);
  return 1;
}

bool ShareNeeds::IsOfChannels(const Node& node, const Part& part) const {
  if (part.all()) return false;
  for (ValueId id : node.outputs)
    if (id != kNoValue) return part.axis == AxisOf(SplitAxis::kChannels, graph_.value(id).shape);
  return false;
}

LiveParts& ShareNeeds::Trace(LiveParts& after) {
  for (const LiveParts::OfValue& p : after.parts) Add(live_[size_t(after.boundary)][p.live], p.part);
  const Layer& layer = layers_[size_t(after.boundary) - 1];
  bool has_anchor = false;  // whether the anchor is needed; else the largest share of the needed nodes counts
  for (int n = layer.end - 1; n >= layer.begin; --n) {
    const Node& node = graph_.nodes[size_t(n)];
    std::optional<Part> part;
    for (ValueId id : node.outputs)
      if (id != kNoValue && need_[size_t(id)])
        part = part ? Hull(*part, *need_[size_t(id)]) : need_[size_t(id)];
    if (!part) continue;
    const std::vector<Part>& inputs = rows_.Inputs(n, *part);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (const ValueId id = node.inputs[i]; id != kNoValue && !graph_.value(id).is_constant())
        Add(id, inputs[i]);
    const double fraction = Fraction(node, *part);
    has_anchor |= n == layer.anchor;
    if (n == layer.anchor || (!has_anchor && fraction > after.fraction.value_or(0))) {
      after.fraction = fraction;
      after.by_channels = IsOfChannels(node, *part);
    }
  }
  LiveParts& before = Kept(after.boundary - 1);
  after.before = &before;
  return before;
}

}  // namespace mete
