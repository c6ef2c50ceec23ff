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
  needs_.clear();
  for (ShareSweep& sweep : sweeps_) sweep.Prepend(begin_);
}

double GroupCosts::compute_us() const {
  double most = 0;
  for (const ShareSweep& sweep : sweeps_) most = std::max(most, sweep.compute_us());
  return most;
}

double GroupCosts::compute_joules() const {
  double joules = 0;
  for (size_t k = 0; k < sweeps_.size(); ++k)
    joules += model_.pool().devices[size_t(placement_.devices[k])].power->compute_w * sweeps_[k].compute_us() * 1e-6;
  return joules;
}

void GroupCosts::ListNeeds() {
  if (!needs_.empty()) return;
  const std::vector<ValueId>& live = model_.Live(begin_);
  for (const ShareSweep& sweep : sweeps_) {
    needs_.emplace_back();
    for (size_t v = 0; v < live.size(); ++v)
      if (const auto& need = sweep.Need(live[v]))
        needs_.back().push_back({v, *need, CommonBytes(model_.graph().value(live[v]), *need, Part::All())});
  }
}

const Exchange& GroupCosts::Sent(const Holdings& held) {
  ListNeeds();
  exchange_.Clear();
  const std::vector<ValueId>& live = model_.Live(begin_);
  for (size_t k = 0; k < sweeps_.size(); ++k)
    for (const LiveNeed& n : needs_[k]) exchange_.Need(placement_.devices[k], model_.graph().value(live[n.live]), n.part, held[n.live]);
  return exchange_;
}

double GroupCosts::LeastUs(const Holdings& held, double enough_us) {
  ListNeeds();
  const std::vector<ValueId>& live = model_.Live(begin_);
  double us = 0;
  for (size_t k = 0; k < sweeps_.size() && us <= enough_us; ++k) {
    const int device = placement_.devices[k];
    int64_t bytes = 0;
    for (const LiveNeed& n : needs_[k]) bytes += n.bytes - OwnBytes(device, model_.graph().value(live[n.live]), n.part, held[n.live]);
    us = std::max(us, LeastReadyUs(model_.pool().devices[size_t(device)].link, bytes) + sweeps_[k].compute_us());
  }
  return us;
}

double GroupCosts::Us(const Holdings& held) {
  Sent(held);
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

Exchange GatherOf(const PoolModel& model, const Holdings& held) {
  Exchange exchange(model.pool());
  const std::vector<ValueId>& live = model.Live(model.boundaries());
  for (size_t v = 0; v < live.size(); ++v) exchange.Need(0, model.graph().value(live[v]), Part::All(), held[v]);
  return exchange;
}

double GatherUs(const PoolModel& model, const Holdings& held) { return GatherOf(model, held).ReadyUs(0); }

}  // namespace mete
