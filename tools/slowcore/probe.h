// A thread of normal priority that looks how much of a core is left to its like.
#pragma once

#include <vector>

#include "tools/slowcore/control/cycles.h"
#include "tools/slowcore/signals.h"

namespace mete::slowcore {

// Every window is 25 ms of counted cycles: a hundred periods, so that the reading of the clock and the rare
// interrupt weigh little, and many windows fit into half a second. Guess.
constexpr int64_t kWindowNs = 25'000'000;

// The share of the core in each of `windows` windows. Other threads' time slices are left out; they make it
// take longer. Throws CANCELLED on a signal, and UNAVAILABLE where the core has no time for it.
std::vector<double> Probe(int core, const GapLimits& limits, int windows, Signals& signals);

}  // namespace mete::slowcore
