#include "plan/cores/predict.h"

namespace mete {

Prediction::Prediction(const Costs& costs, const std::vector<PlannedThread>& threads)
    : costs_(costs), threads_(threads) {
  cores_.emplace_back(costs.take_ns.size(), 0);
  for (const PlannedThread& thread : threads) {
    cores_.push_back(cores_.back());
    ++cores_.back()[size_t(thread.cluster)];
  }
  const int all = int(threads.size());
  for (int count = 1; count < all; count += count < 16 ? 1 : count / 8) counts_.push_back(count);
  counts_.push_back(all);
}

Dealt Prediction::On(size_t node, int count, int awake) const {
  const NodeTimes times = TimesOn(costs_, costs_.nodes[node], CoresOf(count));
  const auto block_ns = [&](const PlannedThread& t) { return times.block_ns[size_t(t.cluster)] / t.speed; };
  Dealt alone{double(times.blocks) * block_ns(threads_[0]), std::vector<int64_t>(size_t(count), 0)};
  alone.blocks[0] = times.blocks;
  if (count == 1 || times.blocks == 1) return alone;  // no taking, no barrier, as in processor/cpu
  std::vector<Taker> takers;
  for (int w = 0; w < count; ++w) {
    const PlannedThread& thread = threads_[size_t(w)];
    const size_t c = size_t(thread.cluster);
    takers.push_back(
        {w < awake ? 0 : double(costs_.wake_ns[c]), double(costs_.take_ns[c]), block_ns(thread)});
  }
  Dealt dealt = DealOut(times.blocks, takers);
  dealt.done_ns += double(BarrierNs(costs_, CoresOf(count)));
  return dealt;
}

}  // namespace mete
