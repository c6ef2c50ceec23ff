#include "plan/pool/plan_exchanges.h"

#include <algorithm>

namespace mete {

PlanExchanges::PlanExchanges(const Graph& graph, const Plan& plan, const PoolCosts& pool)
    : graph_(graph), plan_(plan), live_(LiveValues(graph, LayersOf(graph))), exchange_(pool) {}

void PlanExchanges::Need(int processor, const ValuePart& need, const Lying& from) {
  const Value& value = graph_.value(need.value);
  const std::vector<ValueId>& live = live_[size_t(from.boundary)];
  const auto index = size_t(std::lower_bound(live.begin(), live.end(), need.value) - live.begin());
  exchange_.Need(processor, value, need.part, PartsOn(from.placement, value.shape, index));
}

PlanExchanges::Lying PlanExchanges::Before(size_t at) const {
  if (at > 0) return {plan_.groups[at - 1].placement, plan_.groups[at - 1].last};
  return {WholeOn(0), plan_.groups.empty() ? 0 : plan_.groups[0].first};
}

const Exchange& PlanExchanges::At(size_t at) {
  exchange_.Clear();
  const Lying from = Before(at);
  if (at == plan_.groups.size()) {
    for (ValueId id : live_.back()) Need(0, {id, Part::All()}, from);
    return exchange_;
  }
  for (const Share& share : plan_.groups[at].shares)
    for (const ValuePart& input : share.inputs) Need(share.processor, input, from);
  return exchange_;
}

std::vector<int> PlanExchanges::Receivers(size_t at) const {
  if (at == plan_.groups.size()) return {0};
  std::vector<int> processors;
  for (const Share& share : plan_.groups[at].shares) processors.push_back(share.processor);
  return processors;
}

}  // namespace mete
