// How fast each core is beside the fastest one, as far as this can be told without measuring.
#pragma once

#include <vector>

#include "machine/core_facts.h"

namespace mete {

struct Capacities {
  std::vector<double> of;  // a core each, in the order of the facts
  CapacitySource source = CapacitySource::kEqual;
};

// The first of these that tells the cores apart: the kernel's cpu_capacity, hybrid types, highest
// frequencies. Each has to be known of all cores. Where none of them does, the kernel's all the same, else 1.
Capacities CapacitiesOf(const std::vector<CoreFacts>& cores);

// Of an Intel core of that type whose kind reaches `max_khz`, beside a P-core of `performance_khz`; 0: not
// told, then taken as equal.
double HybridCapacity(const std::string& type, int64_t max_khz, int64_t performance_khz);

}  // namespace mete
