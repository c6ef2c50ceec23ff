#include "plan/devices/group_costs.h"

#include <algorithm>

namespace mete {

PoolModel::PoolModel(const Graph& graph, const PoolCosts& pool)
    : graph_(graph), pool_(pool), layers_(LayersOf(graph)), live_(LiveValues(graph, layers_)), needs_(graph) {
  Verify(pool, layers_.size());
}

Holdings HoldingsOf(const PoolModel& model, int boundary, const Placement& placement) {
  Holdings held;
  for (ValueId id : model.Live(boundary)) held.push_back(PartsOn(placement, model.graph().value(id).shape));
  return held;
}

GroupCosts::GroupCosts(PoolModel& model, int end, const Placement& placement)
    : model_(model), end_(end), begin_(end), placement_(placement), wanted_(placement.devices.size()), exchange_(model.pool()) {
  const Holdings held = HoldingsOf(model, end, placement);
  for (size_t v = 0; v < held.size(); ++v)
    for (const DevicePart& h : held[v]) {
      const auto k = std::find(placement.devices.begin(), placement.devices.end(), h.device) - placement.devices.begin();
      wanted_[size_t(k)].push_back({model.Live(end)[v], h.part});
    }
  for (size_t k = 0; k < wanted_.size(); ++k)
    sweeps_.emplace_back(model.graph(), model.layers(), model.needs(), model.pool().devices[size_t(placement.devices[k])], wanted_[k]);
}

void GroupCosts::Prepend() {
  --begin_;
  for (ShareSweep& sweep : sweeps_) sweep.Prepend(begin_);
}

double GroupCosts::compute_us() const {
  double most = 0;
  for (const ShareSweep& sweep : sweeps_) most = std::max(most, sweep.compute_us());
  return most;
}

void GroupCosts::Fill(const Holdings& held) {
  exchange_.Clear();
  const std::vector<ValueId>& live = model_.Live(begin_);
  for (size_t k = 0; k < sweeps_.size(); ++k)
    for (size_t v = 0; v < live.size(); ++v)
      if (const auto& need = sweeps_[k].Need(live[v])) exchange_.Need(placement_.devices[k], model_.graph().value(live[v]), *need, held[v]);
}

double GroupCosts::LeastUs(const Holdings& held) const {
  const std::vector<ValueId>& live = model_.Live(begin_);
  double us = 0;
  for (size_t k = 0; k < sweeps_.size(); ++k) {
    const int device = placement_.devices[k];
    int64_t bytes = 0;
    for (size_t v = 0; v < live.size(); ++v)
      if (const auto& need = sweeps_[k].Need(live[v])) bytes += MissingBytes(device, model_.graph().value(live[v]), *need, held[v]);
    us = std::max(us, LeastReadyUs(model_.pool().devices[size_t(device)].link, bytes) + sweeps_[k].compute_us());
  }
  return us;
}

double GroupCosts::Us(const Holdings& held) {
  Fill(held);
  double us = 0;
  for (size_t k = 0; k < sweeps_.size(); ++k) us = std::max(us, exchange_.ReadyUs(placement_.devices[k]) + sweeps_[k].compute_us());
  return us;
}

PlannedGroup GroupCosts::Describe(const Holdings& held) {
  PlannedGroup group{begin_, end_, placement_, {}, Us(held)};
  for (size_t k = 0; k < sweeps_.size(); ++k) {
    const int device = placement_.devices[k];
    DeviceShare share{device, {}, wanted_[k], exchange_.BytesTo(device), exchange_.ReadyUs(device), sweeps_[k].compute_us()};
    for (ValueId id : model_.Live(begin_))
      if (const auto& need = sweeps_[k].Need(id)) share.inputs.push_back({id, *need});
    if (!share.outputs.empty()) group.shares.push_back(std::move(share));
  }
  return group;
}

double GatherUs(const PoolModel& model, const Holdings& held) {
  Exchange exchange(model.pool());
  const std::vector<ValueId>& live = model.Live(model.boundaries());
  for (size_t v = 0; v < live.size(); ++v) exchange.Need(0, model.graph().value(live[v]), Part::All(), held[v]);
  return exchange.ReadyUs(0);
}

}  // namespace mete
