// Measures things in turns, so that a disturbance affects all of them.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace mete {

// Calls `run_us`, which returns the microseconds of a run, for 0 to `count` - 1 in turns: once to warm up,
// and then in some rounds. Returns the median of each.
std::vector<double> MediansInTurns(size_t count, const std::function<double(size_t)>& run_us);

}  // namespace mete
