// What hardware there is: a value, read once. Nothing here measures or changes anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mete {

// Equal cores of one CPU that share a cache and a frequency.
struct Cluster {
  std::string name;              // "cluster0", fastest first
  std::vector<int> cores;        // CPU numbers
  int64_t max_frequency_khz = 0; // 0: not told
  int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // data caches as one core sees them; 0: not told
};

struct Machine {
  std::string name;              // host's CPU model
  std::vector<Cluster> clusters;
  int64_t memory_bytes = 0;

  int cores() const;
};

// Reads /proc and /sys below `root` (a folder laid out alike serves tests). What cannot be read is left
// at 0; there is always at least one cluster with one core. Only cores that this process may use count.
Machine ReadMachine(const std::string& root = "/");

// Throws Error where a machine contradicts itself: no cores, a core twice, negative sizes.
void Verify(const Machine& machine);

std::string ToText(const Machine& machine);
std::string ToJson(const Machine& machine);

}  // namespace mete
