#include "tools/slowcore/control/cycles.h"

#include <cmath>

namespace mete::slowcore {
namespace {

// The shortest gap. This value is a guess: some ten readings of a clock, and less than an interrupt takes
// with entry and return.
constexpr int64_t kGapNs = 1000;

// The shortest gap of another thread. This value is a guess: it leaves room for the overhead of the longest
// busy part, and is shorter than a period.
int64_t ForeignNs(const Pace& pace) { return std::llround(pace.most_lost_ns() + double(pace.period_ns) / 4); }

}  // namespace

GapLimits FreeCore(const Pace& pace) { return {0, ForeignNs(pace)}; }

// A cycle ends with a gap of at least half a busy part: interrupts are shorter, and a busy part that is
// shortened to pay back lost time is not.
GapLimits SlowedCore(const Pace& pace) { return {std::llround(pace.lost_ns() / 2), ForeignNs(pace)}; }

void CycleCounter::Add(int64_t step_ns) {
  if (step_ns < kGapNs) {
    cycle_own_ns_ += step_ns;
    return;
  }
  cycle_lost_ns_ += step_ns;
  const bool foreign = step_ns > limits_.foreign_ns;
  if (!foreign && step_ns < limits_.cycle_ns) return;
  if (!foreign && whole_) {
    own_ns_ += cycle_own_ns_;
    lost_ns_ += cycle_lost_ns_;
  }
  whole_ = !foreign;
  cycle_own_ns_ = cycle_lost_ns_ = 0;
}

}  // namespace mete::slowcore
