// A thread of normal priority that measures how much of a core is left to threads of normal priority.
#pragma once

#include <vector>

#include "tools/slowcore/control/cycles.h"
#include "tools/slowcore/signals.h"

namespace mete::slowcore {

// Every window is 25 ms of counted cycles. This value is a guess: a hundred periods, so that clock readings
// and rare interrupts have little effect, and many windows fit into half a second.
constexpr int64_t kWindowNs = 25'000'000;

// Returns the probe's share of the core in each of `windows` windows. The time slices of other threads do not
// count, but lengthen the measurement. Throws CANCELLED on a signal, and UNAVAILABLE if the probe gets too
// little time on the core.
std::vector<double> Probe(int core, const GapLimits& limits, int windows, Signals& signals);

}  // namespace mete::slowcore
