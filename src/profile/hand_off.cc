#include "profile/hand_off.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "mete/statistics.h"
#include "processor/cpu/threads/thread_pool.h"

namespace mete {
namespace {

struct EmptyRegion {
  double ns = 0;     // median time
  double takes = 0;  // average number of takes of the first worker, which depends on the policy
};

// Measures a region of `blocks` empty blocks.
EmptyRegion Measure(ThreadPool& pool, int64_t blocks, int times, std::chrono::microseconds pause) {
  std::vector<double> ns;
  int64_t takes = 0;
  for (int i = 0; i < times; ++i) {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    const int64_t start = NowNs();
    pool.For(blocks, [&](int w, int64_t, int64_t) {
      if (w == 0) ++takes;
    });
    ns.push_back(double(NowNs() - start));
  }
  return {Summarize(std::move(ns)).median, double(takes) / times};
}

}  // namespace

HandOff MeasureHandOff(const std::vector<int>& cores) {
  constexpr int kTimes = 2000, kSleeps = 100;      // a guess: steady medians in less than a second
  constexpr std::chrono::milliseconds kLonger{1};  // longer than threads spin
  if (cores.size() < 2) return {};
  ThreadPool pool(int(cores.size()), cores, "asymo");  // takes some blocks at a time of a queue
  const ThreadPool::CallerPin pin(pool);
  const auto threads = int64_t(cores.size());
  Measure(pool, threads, kTimes, {});
  const EmptyRegion few = Measure(pool, threads, kTimes, {}), many = Measure(pool, 33 * threads, kTimes, {});
  HandOff h;
  h.take_ns = std::max(0.0, (many.ns - few.ns) / std::max(1.0, many.takes - few.takes));
  h.barrier_ns = std::max(0.0, few.ns - h.take_ns);
  h.wake_ns = std::max(0.0, Measure(pool, threads, kSleeps, kLonger).ns - few.ns);
  return h;
}

}  // namespace mete
