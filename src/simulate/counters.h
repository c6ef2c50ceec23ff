// Clocks and power over the time of a simulated run, as counters of its trace.
#pragma once

#include <vector>

#include "machine/file.h"
#include "simulate/simulated.h"

namespace mete {

// Returns the clock of each cluster that takes part, and the power of these clusters by the file's power
// model: awake, and with the cores that compute at that time. A machine without watts has no power.
std::vector<TraceCounter> CountersOf(const Simulation& simulation, const MachineFile& file);

}  // namespace mete
