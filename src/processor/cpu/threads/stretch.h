// Makes work last as long as on a slower core, for cores with emulated speeds.
#pragma once

#include <cstdint>

#include "kernels/fast/reuse/reuse.h"

namespace mete {

// Computes on until the work that began at `start_ns` has taken as long as on a core of that speed. `now` is
// the clock, in nanoseconds. Meanwhile the function multiplies vectors, as a slow core would: a core that
// only waited for more than 0.7 ms had its widest vectors switched off, and the following code took up to
// twice as long (measured with 512 bits: reading from the second-level cache 1.5 times, a depthwise
// convolution of 32 us behind a long step 1.9 times).
template <class Now>
void Stretch(int64_t start_ns, double speed, Now now) {
  static constexpr float kNumbers[kReuseStep] = {};
  // with each number: less than 0.1 us per call (more on scalar targets), so that the clock is read often
  constexpr int kMultiplyAdds = 8;
  const double all = double(now() - start_ns) / speed;
  while (double(now() - start_ns) < all) ReadAndCompute(kNumbers, kReuseStep, kMultiplyAdds);
}

}  // namespace mete
