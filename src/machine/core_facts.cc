#include "machine/core_facts.h"

#include <map>

#include "machine/core_type.h"
#include "machine/frequency_policy.h"

namespace mete {
namespace {

const std::string kCpus = "sys/devices/system/cpu/";
constexpr int64_t kMostCapacity = 1024;  // SCHED_CAPACITY_SCALE of the kernel
constexpr int kMostCacheIndices = 16;    // this value is a guess: four levels have at most six caches
constexpr int64_t kMostCacheLevel = 8;   // this value is a guess: twice the levels of today

std::vector<int> FirstList(Sysfs& sysfs, const std::string& folder,
                           std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (auto list = sysfs.Cores(folder + name)) return *list;
  return {};
}

std::vector<CoreCache> ReadCaches(Sysfs& sysfs, const std::string& cpu) {
  std::vector<CoreCache> caches;
  for (int i = 0; i < kMostCacheIndices; ++i) {
    const std::string index = cpu + "cache/index" + std::to_string(i) + "/";
    if (!sysfs.Exists(index)) break;
    const int64_t level = sysfs.Number(index + "level", kMostCacheLevel).value_or(0);
    if (level == 0 || sysfs.Line(index + "type") == "Instruction") continue;
    caches.push_back(
        {int(level), sysfs.Size(index + "size").value_or(0), FirstList(sysfs, index, {"shared_cpu_list"})});
  }
  return caches;
}

Frequency ReadFrequency(Sysfs& sysfs, const std::string& folder) {
  Frequency f;
  f.min_khz = sysfs.Number(folder + "cpuinfo_min_freq", kMostKhz).value_or(0);
  f.max_khz = sysfs.Number(folder + "cpuinfo_max_freq", kMostKhz).value_or(0);
  f.limit_khz = sysfs.Number(folder + "scaling_max_freq", kMostKhz).value_or(0);
  f.current_khz = sysfs.Number(folder + "scaling_cur_freq", kMostKhz).value_or(0);
  f.governor = sysfs.Line(folder + "scaling_governor").value_or("");
  return f;
}

struct Policy {
  std::string name;
  std::vector<int> cores;
};

// Returns the cpufreq policy of each core. A tree without the folder of policies may still have cpuN/cpufreq.
std::map<int, Policy> PolicyOfCore(Sysfs& sysfs) {
  std::map<int, Policy> policies;
  for (const std::string& name : sysfs.Folder(kCpus + "cpufreq")) {
    if (name.rfind("policy", 0) != 0) continue;
    const Policy policy{name,
                        FirstList(sysfs, kCpus + "cpufreq/" + name + "/", {"related_cpus", "affected_cpus"})};
    for (int core : policy.cores) policies[core] = policy;
  }
  return policies;
}

CoreFacts ReadCore(Sysfs& sysfs, int core, const Policy* policy) {
  const std::string cpu = kCpus + "cpu" + std::to_string(core) + "/";
  CoreFacts facts{core};
  facts.cpu_capacity = sysfs.Number(cpu + "cpu_capacity", kMostCapacity).value_or(0);
  facts.frequency = ReadFrequency(sysfs, policy ? kCpus + "cpufreq/" + policy->name + "/" : cpu + "cpufreq/");
  if (policy) {
    facts.frequency.policies = {policy->name};
    facts.switched = policy->cores;
  }
  facts.siblings = FirstList(sysfs, cpu + "topology/", {"core_cpus_list", "thread_siblings_list"});
  facts.package = FirstList(sysfs, cpu + "topology/", {"package_cpus_list", "core_siblings_list"});
  facts.caches = ReadCaches(sysfs, cpu);
  return facts;
}

}  // namespace

std::vector<CoreFacts> ReadCoreFacts(Sysfs& sysfs, const std::vector<int>& cores) {
  const std::map<int, Policy> policies = PolicyOfCore(sysfs);
  const std::map<int, std::string> types = ReadCoreTypes(sysfs, cores);
  std::vector<CoreFacts> all;
  for (int core : cores) {
    const auto policy = policies.find(core);
    const auto type = types.find(core);
    all.push_back(ReadCore(sysfs, core, policy == policies.end() ? nullptr : &policy->second));
    if (type != types.end()) all.back().type = type->second;
  }
  return all;
}

}  // namespace mete
