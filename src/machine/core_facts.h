// What is read of each core, before cores are put together to clusters.
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
  std::vector<int> shared;  // empty: not told
};

struct CoreFacts {
  int core = 0;
  std::string type = {};               // "Cortex-A72", "P-core"; empty: not told
  int64_t cpu_capacity = 0;            // the kernel's, 1024 for the fastest; 0: not told
  Frequency frequency = {};            // of one policy at most
  std::vector<int> switched = {};      // whose frequency changes with this core's
  std::vector<int> siblings = {};      // threads of the same physical core, this one included
  std::vector<int> package = {};       // cores of the same socket
  std::vector<CoreCache> caches = {};  // instructions' left out
};

// `cores` ascending.
std::vector<CoreFacts> ReadCoreFacts(Sysfs& sysfs, const std::vector<int>& cores);

}  // namespace mete
