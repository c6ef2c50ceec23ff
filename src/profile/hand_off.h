// What it costs to hand work from thread to thread, with no work in it.
#pragma once

#include <vector>

namespace mete {

struct HandOff {
  double take_ns = 0;     // blocks from a queue that all threads take from
  double barrier_ns = 0;  // a region of a block a thread, less their takes
  double wake_ns = 0;     // more, if the threads slept
};

// Of threads on these cores; all 0 for a single one.
HandOff MeasureHandOff(const std::vector<int>& cores);

}  // namespace mete
