// The speed of each core relative to the fastest one, as far as it is known without measuring.
#pragma once

#include <vector>

#include "machine/core_facts.h"

namespace mete {

struct Capacities {
  std::vector<double> of;  // one capacity per core, in the order of the facts
  CapacitySource source = CapacitySource::kEqual;
};

// Returns capacities from the first of these sources that gives the cores different values: the kernel's
// cpu_capacity, hybrid types, highest frequencies. A source counts only if it covers all cores. If every
// source gives equal values, the result is the kernel's cpu_capacity, or 1 for each core without it.
Capacities CapacitiesOf(const std::vector<CoreFacts>& cores);

// Returns the capacity of an Intel core of type `type`, the cores of which reach `max_khz`, relative to a
// P-core that reaches `performance_khz`. 0 if the type is unknown; an unknown frequency (0) counts as equal.
double HybridCapacity(const std::string& type, int64_t max_khz, int64_t performance_khz);

}  // namespace mete
