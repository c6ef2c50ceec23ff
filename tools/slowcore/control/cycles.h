// Measures how much of a core a thread gets, from the clock that the thread reads continuously: most readings
// follow each other immediately, and a gap is time in which another thread or an interrupt had the core.
#pragma once

#include <cstdint>

#include "tools/slowcore/control/pacer.h"

namespace mete::slowcore {

struct GapLimits {
  int64_t cycle_ns = 0;  // the shortest gap that ends a cycle
  // a gap longer than this is the time slice of another thread of normal priority, or a core that stood still
  int64_t foreign_ns = 0;
};
GapLimits FreeCore(const Pace& pace);    // before the core is made slow: every interrupt ends a cycle
GapLimits SlowedCore(const Pace& pace);  // a busy part ends a cycle

// Counts only whole cycles: readings without a gap, and the gap that ends them. A cycle next to another
// thread's slice is cut at an unknown place and would bias the share, more if the time between slices has few
// periods. Therefore other threads do not change the result.
class CycleCounter {
 public:
  explicit CycleCounter(const GapLimits& limits) : limits_(limits) {}

  void Add(int64_t step_ns);  // time from one reading of the clock to the next

  int64_t counted_ns() const { return own_ns_ + lost_ns_; }
  double OwnShare() const { return counted_ns() > 0 ? double(own_ns_) / double(counted_ns()) : 0; }
  void StartWindow() { own_ns_ = lost_ns_ = 0; }

 private:
  const GapLimits limits_;
  bool whole_ = false;  // whether the current cycle was seen from its beginning
  int64_t cycle_own_ns_ = 0, cycle_lost_ns_ = 0;
  int64_t own_ns_ = 0, lost_ns_ = 0;
};

}  // namespace mete::slowcore
