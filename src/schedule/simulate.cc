#include "schedule/simulate.h"

#include <algorithm>

namespace mete {

SimulatedWorkers ConstantWorkers(std::vector<double> speeds, int64_t take_ns, int64_t barrier_ns) {
  const int count = int(speeds.size());
  const auto finish = [speeds = std::move(speeds)](int w, int64_t start_ns, double work_ns) {
    return start_ns + int64_t(work_ns / speeds[size_t(w)]);
  };
  return {count, finish, std::vector<int64_t>(size_t(count), take_ns), barrier_ns};
}

SimulatedRegion Simulate(Policy& policy, const Region& region, double block_ns,
                         const SimulatedWorkers& workers, int64_t start_ns) {
  SimulatedRegion result{start_ns, std::vector<int64_t>(size_t(workers.count), 0),
                         std::vector<int64_t>(size_t(workers.count), 0)};
  std::vector<int64_t> free_at(size_t(workers.count));
  std::vector<int> asking(region.Workers(size_t(workers.count)));
  for (int w = 0; w < int(asking.size()); ++w) {
    asking[size_t(w)] = w;
    free_at[size_t(w)] = workers.finish(w, start_ns, 0);
  }
  policy.Begin(region, start_ns);
  std::vector<int64_t> in_hand(size_t(workers.count), 0);
  for (int64_t left = region.blocks; left > 0;) {
    const auto first = std::min_element(
        asking.begin(), asking.end(), [&](int a, int b) { return free_at[size_t(a)] < free_at[size_t(b)]; });
    const size_t w = size_t(*first);
    BlockRange range;
    const bool any = policy.NextBlock(int(w), free_at[w], &range);
    left -= in_hand[w];
    in_hand[w] = range.size();
    if (left == 0) result.end_ns = free_at[w];
    if (!any) {
      asking.erase(first);
      continue;
    }
    const int64_t start = free_at[w] + workers.take_ns[w];
    free_at[w] = workers.finish(int(w), start, block_ns * double(range.size()));
    result.busy_ns[w] += free_at[w] - start;
    ++result.takes[w];
  }
  result.end_ns += workers.barrier_ns;
  return result;
}

}  // namespace mete
