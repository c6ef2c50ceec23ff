// Two workers of equal speed for tests. The second is stopped for two thirds of each 200 us, as if another
// process had its core.
#pragma once

#include "schedule/simulate.h"

namespace mete {

inline int64_t DoneBesideStops(int worker, int64_t start, double work) {
  constexpr int64_t kPeriod = 200'000, kStopped = 133'000;
  if (worker == 0) return start + int64_t(work);
  int64_t left = int64_t(work), at = start;
  while (true) {
    const int64_t phase = at % kPeriod, from = at + std::max<int64_t>(0, kStopped - phase),
                  until = at - phase + kPeriod;
    if (left <= until - from) return from + left;
    left -= until - from;
    at = until;
  }
}

inline SimulatedWorkers WorkersOneStopped() {
  SimulatedWorkers workers = ConstantWorkers({1, 1}, 300, 400);
  workers.finish = DoneBesideStops;
  return workers;
}

}  // namespace mete
