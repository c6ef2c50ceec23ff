// The facts that the kernel shows about each core, before the cores are grouped into clusters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "machine/sysfs.h"

namespace mete {

struct CoreCache {
  int level = 0;
  int64_t bytes = 0;
  std::vector<int> shared;  // the cores that share the cache; empty: unknown
};

struct CoreFacts {
  int core = 0;
  std::string type = {};               // "Cortex-A72", "P-core"; empty: unknown
  int64_t cpu_capacity = 0;            // the kernel's figure, 1024 for the fastest core; 0: unknown
  Frequency frequency = {};            // names at most one policy
  std::vector<int> switched = {};      // cores of the same frequency domain
  std::vector<int> siblings = {};      // threads of the same physical core, this one included
  std::vector<int> package = {};       // cores of the same socket
  std::vector<CoreCache> caches = {};  // data and unified caches, without instruction caches
};

// Reads the facts of `cores`, which must be ascending; the result has their order.
std::vector<CoreFacts> ReadCoreFacts(Sysfs& sysfs, const std::vector<int>& cores);

}  // namespace mete
