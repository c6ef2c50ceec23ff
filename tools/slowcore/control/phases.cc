#include "tools/slowcore/control/phases.h"

#include <cmath>

namespace mete::slowcore {

// This function does not use std::exponential_distribution, because its numbers differ between libraries.
int64_t Phases::Length() {
  // in (0,1), with the 53 bits of a double
  const double uniform = (double(random_() >> 11) + 0.5) * 0x1p-53;
  const double mean_ns = settings_.mean_s * 1e9 * 2 * (slow_ ? settings_.share : 1 - settings_.share);
  // No phase is empty, because the search for the current phase might otherwise never end.
  return std::llround(-std::log(uniform) * mean_ns) + 1;
}

bool Phases::SlowAt(int64_t elapsed_ns) {
  while (end_ns_ <= elapsed_ns) {
    slow_ = !slow_;  // the first phase is slow
    end_ns_ += Length();
  }
  return slow_;
}

}  // namespace mete::slowcore
