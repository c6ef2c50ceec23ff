#include "plan/devices/plan_exchanges.h"

namespace mete {

PlanExchanges::PlanExchanges(const Graph& graph, const DevicesPlan& plan, const PoolCosts& pool)
    : graph_(graph), plan_(plan), outputs_(LiveValues(graph, LayersOf(graph)).back()), exchange_(pool) {}

void PlanExchanges::Need(int device, const ValuePart& need, const Placement& from) {
  const Value& value = graph_.value(need.value);
  exchange_.Need(device, value, need.part, PartsOn(from, value.shape));
}

const Exchange& PlanExchanges::At(size_t at) {
  exchange_.Clear();
  const Placement from = at == 0 ? WholeOn(0) : plan_.groups[at - 1].placement;
  if (at == plan_.groups.size()) {
    for (ValueId id : outputs_) Need(0, {id, Part::All()}, from);
    return exchange_;
  }
  for (const DeviceShare& share : plan_.groups[at].shares)
    for (const ValuePart& input : share.inputs) Need(share.device, input, from);
  return exchange_;
}

std::vector<int> PlanExchanges::Receivers(size_t at) const {
  if (at == plan_.groups.size()) return {0};
  std::vector<int> devices;
  for (const DeviceShare& share : plan_.groups[at].shares) devices.push_back(share.device);
  return devices;
}

}  // namespace mete
