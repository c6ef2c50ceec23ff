// The hardware of a machine, as a value that is read once. No function here measures or changes anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mete {

// A bound for the core numbers in files: a text with a core of this number or above is rejected. Linux itself
// is built for at most 8192 CPUs.
inline constexpr int kMostCores = 4096;

// One level of the data caches (unified caches included) as the cores of one cluster see it.
struct Cache {
  int level = 0;
  int64_t bytes = 0;  // size of each instance
  // the cores that share each instance, including cores of other clusters and forbidden cores
  std::vector<std::vector<int>> shared;
};

// The figures of cpufreq; 0 and "": unknown.
struct Frequency {
  int64_t min_khz = 0, max_khz = 0;  // range of the hardware
  int64_t limit_khz = 0;             // current upper limit (scaling_max_freq)
  int64_t current_khz = 0;           // frequency of the first core at the time of reading
  std::string governor;
  std::vector<std::string> policies;  // folders of sys/devices/system/cpu/cpufreq, one per shared clock
};

// The source of a capacity.
enum class CapacitySource {
  kEqual,         // no source distinguishes the cores
  kCpuCapacity,   // the kernel's cpu_capacity / 1024
  kHybridType,    // Intel's core types: see HybridCapacity()
  kMaxFrequency,  // the highest frequency / that of the fastest core
  kFile,          // a machine file: sustained f32 peak / that of the fastest core
};
const char* Name(CapacitySource source);

// Equal cores of one CPU that share a cache and a frequency, and that this process may use.
struct Cluster {
  std::string name;        // "cluster0" is the fastest
  std::vector<int> cores;  // CPU numbers
  std::string core = {};   // "Cortex-A72", "P-core"; empty: unknown
  // speed of a core relative to the fastest of the machine: a first guess, before kernels are measured
  double capacity = 1;
  CapacitySource capacity_source = CapacitySource::kEqual;
  // groups of cores that are threads of one physical core; only groups of several
  std::vector<std::vector<int>> siblings = {};
  std::vector<Cache> caches = {};  // by level
  Frequency frequency = {};

  int64_t cache_bytes(int level) const;  // size of the data cache of that level that a core uses; 0: unknown
};

// A meter of energy or power.
struct Meter {
  enum class Kind { kPowercap, kBattery, kHwmon, kIna };
  Kind kind = Kind::kPowercap;
  std::string name;  // "package-0", "battery", "ina231"
  std::string path;  // the file with the figure
  bool readable = false;
};
const char* Name(Meter::Kind kind);

// The cores that a thread of this process can be bound to, and the lists that decide it. An empty list is
// unknown.
struct Affinity {
  std::vector<int> online;    // the cores that the kernel has online
  std::vector<int> affinity;  // this process's mask
  std::vector<int> cpuset;    // the cgroup's cores
  std::vector<int> allowed;   // the cores that are in all three lists
  // CPU time that the cgroup may use, in cores (cpu.max, cfs_quota_us): the smallest quota of the cgroup and
  // of its ancestors. 1.5 is one and a half cores; 0: no limit.
  double quota_cores = 0;
};

struct Machine {
  std::string name;  // the CPU model, or the board
  std::vector<Cluster> clusters;
  int64_t memory_bytes = 0;
  Affinity affinity = {};
  std::vector<Meter> meters = {};
  // files that could not be read or were rejected, and what is assumed instead
  std::vector<std::string> notes = {};

  const Cluster* ClusterOf(int core) const;  // nullptr if no cluster has the core
  // Returns for each of these CPU numbers whether an earlier one of them is a thread of the same physical
  // core.
  std::vector<bool> SharesCore(const std::vector<int>& cores) const;
  int cores() const;
  // Returns one thread per core, or, if the cgroup has a smaller quota, the quota rounded up: more threads
  // would only be throttled together.
  int default_threads() const;
};

// Reads /proc and /sys below `root`. A copy of these folders from another machine describes that machine.
// Fields that cannot be read stay 0, with a note for those that matter. The result has at least one cluster
// with one core.
Machine ReadMachine(const std::string& root = "/");

// Throws one Error that lists all contradictions: no cores, a core twice, a capacity outside of (0, 1],
// negative sizes.
void Verify(const Machine& machine);

std::string ToText(const Machine& machine);  // one line per cluster
std::string ToJson(const Machine& machine);

// Returns the number of cores of each cluster as a text: "big 4 + little 2". Clusters with 0 cores are left
// out.
std::string CoresText(const Machine& machine, const std::vector<int>& cores);

}  // namespace mete
