#include "plan/devices/group_costs.h"

#include <algorithm>
#include <limits>

namespace mete {

PoolModel::PoolModel(const Graph& graph, const PoolCosts& pool)
    : graph_(graph),
      pool_(pool),
      layers_(LayersOf(graph)),
      live_(LiveValues(graph, layers_)),
      needs_(graph, layers_, live_) {
  Verify(pool, layers_.size());
}

Holdings HoldingsOf(const PoolModel& model, int boundary, const Placement& placement) {
  Holdings held;
  for (ValueId id : model.Live(boundary))
    held.push_back(PartsOn(placement, model.graph().value(id).shape, held.size()));
  return held;
}

HeldByDevice ByDevice(PoolModel& model, int boundary, const Holdings& held) {
  std::vector<std::vector<ValuePart>> parts(model.pool().devices.size());
  for (size_t v = 0; v < held.size(); ++v)
    for (const DevicePart& h : held[v]) parts[size_t(h.device)].push_back({model.Live(boundary)[v], h.part});
  HeldByDevice by_device;
  for (const std::vector<ValuePart>& of_device : parts)
    by_device.push_back(&model.needs().Of(boundary, of_device));
  return by_device;
}

GroupCosts::GroupCosts(PoolModel& model, int end, const Placement& placement)
    : model_(model), end_(end), begin_(end), placement_(placement), exchange_(model.pool()) {
  const HeldByDevice wanted = ByDevice(model, end, HoldingsOf(model, end, placement));
  for (int device : placement.devices)
    shares_.push_back({wanted[size_t(device)], wanted[size_t(device)], 0, false, nullptr});
}

void GroupCosts::Prepend() {
  --begin_;
  for (size_t k = 0; k < shares_.size(); ++k) {
    Share& share = shares_[k];
    if (const std::optional<double> fraction = share.need->fraction) {
      const DeviceCosts& device = model_.pool().devices[size_t(placement_.devices[k])];
      if (!share.computes) share.compute_us += device.share_us;
      share.compute_us += UsOf(device.layers[size_t(begin_)], *fraction);
      share.computes = true;
    }
    share.need = share.need->before;
  }
}

size_t GroupCosts::computing() const {
  return size_t(std::count_if(shares_.begin(), shares_.end(), [](const Share& s) { return s.computes; }));
}

double GroupCosts::compute_us() const {
  double most = 0;
  for (const Share& share : shares_) most = std::max(most, share.compute_us);
  return most;
}

double GroupCosts::compute_joules() const {
  double joules = 0;
  for (size_t k = 0; k < shares_.size(); ++k)
    joules +=
        model_.pool().devices[size_t(placement_.devices[k])].power->compute_w * shares_[k].compute_us * 1e-6;
  return joules;
}

const Exchange& GroupCosts::Sent(const Holdings& held) {
  exchange_.Clear();
  const std::vector<ValueId>& live = model_.Live(begin_);
  for (size_t k = 0; k < shares_.size(); ++k)
    for (const LiveParts::OfValue& p : shares_[k].need->parts)
      exchange_.Need(placement_.devices[k], model_.graph().value(live[p.live]), p.part, held[p.live]);
  return exchange_;
}

void GroupCosts::Bound(LeastReady& ready) {
  least_us_ = 0;
  for (size_t k = 0; k < shares_.size(); ++k) {
    Share& share = shares_[k];
    share.ready = &ready.Of(*share.need, placement_.devices[k]);
    least_us_ = std::max(least_us_, share.compute_us + share.ready->least_us);
  }
}

double GroupCosts::LeastUs(const LeastReady& ready, size_t way, double enough_us) const {
  double us = 0;
  for (size_t k = 0; k < shares_.size() && us <= enough_us; ++k)
    us = std::max(us, shares_[k].ready->us[ready.OwnOf(way, placement_.devices[k])] + shares_[k].compute_us);
  return us <= enough_us ? std::max(us, LeastSentUs(ready, way)) : us;
}

// Returns a lower bound from the links of the senders: after all senders have sent the missing bytes, the
// receiver of the last bytes still has its message and latency times and its computing.
double GroupCosts::LeastSentUs(const LeastReady& ready, size_t way) const {
  int64_t bytes = 0;
  double then_us = std::numeric_limits<double>::infinity();
  for (size_t k = 0; k < shares_.size(); ++k) {
    const int64_t lacks = shares_[k].ready->bytes[ready.OwnOf(way, placement_.devices[k])];
    if (lacks == 0) continue;
    const LinkCosts& link = model_.pool().devices[size_t(placement_.devices[k])].link;
    bytes += lacks;
    then_us = std::min(then_us, link.message_us + link.latency_us + shares_[k].compute_us);
  }
  return bytes == 0 ? 0 : ready.LeastSentUs(way, bytes) + then_us;
}

double GroupCosts::Us(const Holdings& held) {
  Sent(held);
  double us = 0;
  for (size_t k = 0; k < shares_.size(); ++k)
    us = std::max(us, exchange_.ReadyUs(placement_.devices[k]) + shares_[k].compute_us);
  return us;
}

PlannedGroup GroupCosts::Describe(const Holdings& held) {
  PlannedGroup group{begin_, end_, placement_, {}, Us(held)};
  const auto values = [&](const LiveParts& parts) {
    std::vector<ValuePart> values;
    for (const LiveParts::OfValue& p : parts.parts)
      values.push_back({model_.Live(parts.boundary)[p.live], p.part});
    return values;
  };
  for (size_t k = 0; k < shares_.size(); ++k) {
    const int device = placement_.devices[k];
    const Share& share = shares_[k];
    if (!share.wanted->parts.empty() || placement_.split == SplitAxis::kNone)
      group.shares.push_back({device, values(*share.need), values(*share.wanted), exchange_.BytesTo(device),
                              exchange_.ReadyUs(device), share.compute_us});
  }
  return group;
}

Exchange GatherOf(const PoolModel& model, const Holdings& held) {
  Exchange exchange(model.pool());
  const std::vector<ValueId>& live = model.Live(model.boundaries());
  for (size_t v = 0; v < live.size(); ++v)
    exchange.Need(0, model.graph().value(live[v]), Part::All(), held[v]);
  return exchange;
}

double GatherUs(const PoolModel& model, const Holdings& held) { return GatherOf(model, held).ReadyUs(0); }

}  // namespace mete
