// What hardware there is: a value, read once. Nothing here measures or changes anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mete {

// Bounds for what files say. Linux itself is built for at most 8192 CPUs; a text with more cores than these
// is not believed.
inline constexpr int kMostCores = 4096;

// A level of the data caches (unified ones included) as the cores of one cluster see it.
struct Cache {
  int level = 0;
  int64_t bytes = 0;  // of each instance
  // the cores at each instance, those of other clusters and forbidden ones too
  std::vector<std::vector<int>> shared;
};

// What cpufreq says; 0 and "": not told.
struct Frequency {
  int64_t min_khz = 0, max_khz = 0;  // what the hardware can
  int64_t limit_khz = 0;             // what it may just now (scaling_max_freq)
  int64_t current_khz = 0;           // of the first core, when it was read
  std::string governor;
  std::vector<std::string> policies;  // folders of sys/devices/system/cpu/cpufreq: who is switched together
};

// Where a capacity comes from.
enum class CapacitySource {
  kEqual,         // nothing tells the cores apart
  kCpuCapacity,   // the kernel's cpu_capacity / 1024
  kHybridType,    // Intel's core types: see HybridCapacity()
  kMaxFrequency,  // the highest frequency / that of the fastest core
  kFile,          // a machine file: sustained f32 peak / that of the fastest core
};
const char* Name(CapacitySource source);

// Equal cores of one CPU that share a cache and a frequency, and that this process may use.
struct Cluster {
  std::string name;        // "cluster0", fastest first
  std::vector<int> cores;  // CPU numbers
  std::string core = {};   // "Cortex-A72", "P-core"; empty: not told
  // speed of a core beside the fastest of the machine: a first guess, before kernels are measured
  double capacity = 1;
  CapacitySource capacity_source = CapacitySource::kEqual;
  // cores that are threads of one physical core; only groups of several
  std::vector<std::vector<int>> siblings = {};
  std::vector<Cache> caches = {};  // by level
  Frequency frequency = {};

  int64_t cache_bytes(int level) const;  // data cache of that level as one core sees it; 0: not told
};

// Something that measures energy or power.
struct Meter {
  enum class Kind { kPowercap, kBattery, kHwmon, kIna };
  Kind kind = Kind::kPowercap;
  std::string name;  // "package-0", "battery", "ina231"
  std::string path;  // the file that has the figure
  bool readable = false;
};
const char* Name(Meter::Kind kind);

// Which cores a thread of this process can be bound to, and what decides it. An empty list: not told.
struct Affinity {
  std::vector<int> online;    // the kernel's
  std::vector<int> affinity;  // this process's mask
  std::vector<int> cpuset;    // the cgroup's
  std::vector<int> allowed;   // what all three leave
  // So many cores' time the cgroup may use (cpu.max, cfs_quota_us), the least of it and those above; 0: no
  // limit.
  double quota_cores = 0;
};

struct Machine {
  std::string name;  // host's CPU model
  std::vector<Cluster> clusters;
  int64_t memory_bytes = 0;
  Affinity affinity = {};
  std::vector<Meter> meters = {};
  // what could not be read or was not believed, and what is done without it
  std::vector<std::string> notes = {};

  const Cluster* ClusterOf(int core) const;  // nullptr where it is on none
  // Of each of these CPU numbers, whether it is a thread of a physical core that one before it is a thread of
  // too.
  std::vector<bool> SharesCore(const std::vector<int>& cores) const;
  int cores() const;
  // one a core, or as many as the cgroup's quota keeps busy: more would only be held back together
  int default_threads() const;
};

// Reads /proc and /sys below `root`; a folder laid out alike, which was copied from another machine, is that
// machine. What cannot be read is left at 0 and stands in the notes where it matters; there is always at
// least one cluster with one core.
Machine ReadMachine(const std::string& root = "/");

// Throws Error with everything that contradicts itself: no cores, a core twice, a capacity outside of (0, 1],
// negative sizes.
void Verify(const Machine& machine);

std::string ToText(const Machine& machine);  // a line a cluster
std::string ToJson(const Machine& machine);

// "big 4 + little 2": so many cores of each cluster.
std::string CoresText(const Machine& machine, const std::vector<int>& cores);

}  // namespace mete
