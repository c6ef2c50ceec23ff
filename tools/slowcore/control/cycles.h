// How much of a core a thread gets, from the clock that it reads all the time: most readings follow each
// other at once, and a gap is time in which somebody else had the core.
#pragma once

#include <cstdint>

#include "tools/slowcore/control/pacer.h"

namespace mete::slowcore {

struct GapLimits {
  int64_t cycle_ns = 0;  // the least gap that ends a cycle
  // a longer one is the time slice of another thread of normal priority, or a core that stood still
  int64_t foreign_ns = 0;
};
GapLimits FreeCore(const Pace& pace);    // before anybody makes it slow: every interrupt ends a cycle
GapLimits SlowedCore(const Pace& pace);  // a busy part ends a cycle

// Counts whole cycles alone, a stretch of readings with the gap that ends it: what stands before or after
// another thread's slice is cut at no known place and would bias the share by as much as a slice has few
// periods. So it does not matter who else is there.
class CycleCounter {
 public:
  explicit CycleCounter(const GapLimits& limits) : limits_(limits) {}

  void Add(int64_t step_ns);  // from one reading of the clock to the next

  int64_t counted_ns() const { return own_ns_ + lost_ns_; }
  double OwnShare() const { return counted_ns() > 0 ? double(own_ns_) / double(counted_ns()) : 0; }
  void StartWindow() { own_ns_ = lost_ns_ = 0; }

 private:
  const GapLimits limits_;
  bool whole_ = false;  // whether the cycle under way was seen from its beginning
  int64_t cycle_own_ns_ = 0, cycle_lost_ns_ = 0;
  int64_t own_ns_ = 0, lost_ns_ = 0;
};

}  // namespace mete::slowcore
