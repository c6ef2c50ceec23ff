// Measures the cost of handing work from thread to thread, with blocks that do no work.
#pragma once

#include <vector>

namespace mete {

struct HandOff {
  double take_ns = 0;     // taking blocks from a queue that all threads use
  double barrier_ns = 0;  // a region with one block per thread, without the time of taking them
  double wake_ns = 0;     // additional time if the threads slept
};

// Measures threads on these cores; all figures are 0 for a single core.
HandOff MeasureHandOff(const std::vector<int>& cores);

}  // namespace mete
