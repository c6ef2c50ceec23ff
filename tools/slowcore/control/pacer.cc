#include "tools/slowcore/control/pacer.h"

#include <algorithm>
#include <cmath>

namespace mete::slowcore {

void Pacer::Restart(int64_t now_ns) {
  wake_ns_ = now_ns + pace_.period_ns;
  owed_ns_ = 0;
}

// Skips whole periods that have passed. A real-time thread does not sleep through a period, so that the
// virtual machine must have stood still, and no thread had the core.
void Pacer::SkipTo(int64_t now_ns) {
  wake_ns_ += (now_ns - wake_ns_) / pace_.period_ns * pace_.period_ns;
  owed_ns_ = 0;
}

int64_t Pacer::BusyUntil(int64_t now_ns) {
  if (now_ns - wake_ns_ >= pace_.period_ns) SkipTo(now_ns);
  const double lost = std::min(pace_.lost_ns() + owed_ns_, pace_.most_lost_ns());
  return std::max<int64_t>(wake_ns_ + std::llround(lost - overhead_ns_), now_ns);
}

double Pacer::Ended(int64_t now_ns) {
  const double lost = double(now_ns - wake_ns_) + overhead_ns_;
  const double period = double(pace_.period_ns);
  owed_ns_ = std::clamp(owed_ns_ + pace_.lost_ns() - lost, -period, period);
  if (now_ns - wake_ns_ >= pace_.period_ns) SkipTo(now_ns);
  wake_ns_ += pace_.period_ns;
  return lost;
}

double NextOverheadNs(double overhead_ns, const Pace& pace, double seen) {
  const double next = overhead_ns + (pace.speed - seen) * double(pace.period_ns);
  return std::clamp(next, pace.lost_ns() - pace.most_lost_ns(), pace.lost_ns());
}

}  // namespace mete::slowcore
