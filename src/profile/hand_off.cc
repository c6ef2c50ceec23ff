#include "profile/hand_off.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "mete/statistics.h"
#include "processor/cpu/pool.h"

namespace mete {
namespace {

// Median time of a region of so many blocks with nothing in them.
double RegionNs(Pool& pool, int64_t blocks, int times, std::chrono::microseconds pause) {
  std::vector<double> ns;
  for (int i = 0; i < times; ++i) {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    const int64_t start = NowNs();
    pool.For(blocks, [](int, int64_t, int64_t) {});
    ns.push_back(double(NowNs() - start));
  }
  return Summarize(std::move(ns)).median;
}

}  // namespace

HandOff MeasureHandOff(const std::vector<int>& cores) {
  constexpr int kTimes = 2000, kSleeps = 100;  // guess: medians are steady, and it takes less than a second
  constexpr std::chrono::milliseconds kLonger{1};  // than threads spin
  if (cores.size() < 2) return {};
  Pool pool(int(cores.size()), cores, "asymo");  // takes one block at a time of a queue
  const Pool::CallerPin pin(pool);
  const auto threads = int64_t(cores.size());
  pool.ReserveScratch(1);
  RegionNs(pool, threads, kTimes, {});
  const double few = RegionNs(pool, threads, kTimes, {}), many = RegionNs(pool, 33 * threads, kTimes, {});
  HandOff h;
  h.take_ns = std::max(0.0, (many - few) / 32);
  h.barrier_ns = std::max(0.0, few - h.take_ns);
  h.wake_ns = std::max(0.0, RegionNs(pool, threads, kSleeps, kLonger) - few);
  return h;
}

}  // namespace mete
