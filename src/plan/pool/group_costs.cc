#include "plan/pool/group_costs.h"

#include <algorithm>
#include <limits>

namespace mete {

PoolModel::PoolModel(const Graph& graph, const PoolCosts& pool)
    : graph_(graph),
      pool_(pool),
      layers_(LayersOf(graph)),
      live_(LiveValues(graph, layers_)),
      needs_(graph, layers_, live_),
      has_co_run_(std::any_of(pool.processors.begin(), pool.processors.end(),
                              [](const ProcessorCosts& p) { return p.co_run.has_value(); })) {
  Verify(pool, layers_.size());
}

Holdings HoldingsOf(const PoolModel& model, int boundary, const Placement& placement) {
  Holdings held;
  for (ValueId id : model.Live(boundary))
    held.push_back(PartsOn(placement, model.graph().value(id).shape, held.size()));
  return held;
}

HeldByProcessor ByProcessor(PoolModel& model, int boundary, const Holdings& held) {
  std::vector<std::vector<ValuePart>> parts(model.pool().processors.size());
  for (size_t v = 0; v < held.size(); ++v)
    for (const PlacedPart& h : held[v])
      parts[size_t(h.processor)].push_back({model.Live(boundary)[v], h.part});
  HeldByProcessor by_processor;
  for (const std::vector<ValuePart>& of_processor : parts)
    by_processor.push_back(&model.needs().Of(boundary, of_processor));
  return by_processor;
}

GroupCosts::GroupCosts(PoolModel& model, int end, const Placement& placement)
    : model_(model), end_(end), begin_(end), placement_(placement), exchange_(model.pool()) {
  const HeldByProcessor wanted = ByProcessor(model, end, HoldingsOf(model, end, placement));
  for (int processor : placement.processors)
    shares_.push_back({.wanted = wanted[size_t(processor)], .need = wanted[size_t(processor)]});
}

void GroupCosts::Prepend() {
  --begin_;
  for (size_t k = 0; k < shares_.size(); ++k) {
    Share& share = shares_[k];
    if (share.need->fraction) {
      const ProcessorCosts& processor = model_.pool().processors[size_t(placement_.processors[k])];
      if (!share.computes) share.alone_us += processor.share_us;
      share.alone_us += UsOf(processor.layers[size_t(begin_)], *share.need);
      share.computes = true;
    }
    share.compute_us = share.alone_us;
    share.need = share.need->before;
  }
  if (model_.has_co_run() && shares_.size() > 1) SlowShares();
}

void GroupCosts::SlowShares() {
  std::vector<double> us;
  for (const Share& share : shares_) us.push_back(share.alone_us);
  SlowTogether(model_.pool(), placement_.processors, us);
  for (size_t k = 0; k < shares_.size(); ++k) shares_[k].compute_us = us[k];
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
    joules += model_.pool().processors[size_t(placement_.processors[k])].power->compute_w *
              shares_[k].compute_us * 1e-6;
  return joules;
}

const Exchange& GroupCosts::Sent(const Holdings& held) {
  exchange_.Clear();
  const std::vector<ValueId>& live = model_.Live(begin_);
  for (size_t k = 0; k < shares_.size(); ++k)
    for (const LiveParts::OfValue& p : shares_[k].need->parts)
      exchange_.Need(placement_.processors[k], model_.graph().value(live[p.live]), p.part, held[p.live]);
  return exchange_;
}

void GroupCosts::Bound(LeastReady& ready) {
  least_us_ = 0;
  for (size_t k = 0; k < shares_.size(); ++k) {
    Share& share = shares_[k];
    share.ready = &ready.Of(*share.need, placement_.processors[k]);
    least_us_ = std::max(least_us_, share.compute_us + share.ready->least_us);
  }
}

double GroupCosts::LeastUs(const LeastReady& ready, size_t way, double enough_us) const {
  double us = 0;
  for (size_t k = 0; k < shares_.size() && us <= enough_us; ++k)
    us = std::max(us,
                  shares_[k].ready->us[ready.OwnOf(way, placement_.processors[k])] + shares_[k].compute_us);
  return us <= enough_us ? std::max(us, LeastSentUs(ready, way)) : us;
}

// Returns a lower bound from the links of the senders: after all senders have sent the missing bytes, the
// receiver of the last bytes still has its message and latency times and its computing.
double GroupCosts::LeastSentUs(const LeastReady& ready, size_t way) const {
  int64_t bytes = 0;
  double then_us = std::numeric_limits<double>::infinity();
  for (size_t k = 0; k < shares_.size(); ++k) {
    const int64_t lacks = shares_[k].ready->bytes[ready.OwnOf(way, placement_.processors[k])];
    if (lacks == 0) continue;
    const LinkCosts link = BestLinkOf(model_.pool().processors[size_t(placement_.processors[k])]);
    bytes += lacks;
    then_us = std::min(then_us, link.message_us + link.latency_us + shares_[k].compute_us);
  }
  return bytes == 0 ? 0 : ready.LeastSentUs(way, bytes) + then_us;
}

double GroupCosts::Us(const Holdings& held) {
  Sent(held);
  double us = 0;
  for (size_t k = 0; k < shares_.size(); ++k)
    us = std::max(us, exchange_.ReadyUs(placement_.processors[k]) + shares_[k].compute_us);
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
    const int processor = placement_.processors[k];
    const Share& share = shares_[k];
    if (!share.wanted->parts.empty() || placement_.split == SplitAxis::kNone)
      group.shares.push_back({processor, values(*share.need), values(*share.wanted),
                              exchange_.BytesTo(processor), exchange_.ReadyUs(processor), share.compute_us});
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
