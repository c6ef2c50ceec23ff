#include "machine/affinity.h"

#include <sched.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string_view>

#include "machine/core_list.h"

namespace mete {
namespace {

std::vector<int> OwnMask() {
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(kMostCores),
                                                             [](cpu_set_t* s) { CPU_FREE(s); });
  const size_t bytes = CPU_ALLOC_SIZE(kMostCores);
  CPU_ZERO_S(bytes, set.get());
  std::vector<int> cores;
  if (sched_getaffinity(0, bytes, set.get()) != 0) return cores;
  for (int core = 0; core < kMostCores; ++core)
    if (CPU_ISSET_S(core, bytes, set.get())) cores.push_back(core);
  return cores;
}

std::vector<int> RecordedMask(Sysfs& sysfs) {
  return ParseCoreList(sysfs.Field("proc/self/status", "Cpus_allowed_list")).value_or(std::vector<int>());
}

// Returns the cores in the cpuset file of the cgroup, or of the nearest ancestor that has the file: in a
// container the path of the cgroup is the host's, but only a part of that tree is mounted.
std::vector<int> NearestCpuset(Sysfs& sysfs, const std::string& mount, std::string group,
                               std::initializer_list<const char*> names) {
  if (group.find("..") != group.npos) group.clear();  // outside of what is mounted
  for (;;) {
    for (const char* name : names)
      if (const std::string path = mount + group + "/" + name; sysfs.Exists(path))
        return sysfs.Cores(path).value_or(std::vector<int>());
    if (group.empty()) return {};
    group.resize(group.rfind('/') == group.npos ? 0 : group.rfind('/'));
  }
}

// Lines of proc/self/cgroup are "number:controllers:path"; version 2 has one, without controllers.
std::vector<int> ReadCpuset(Sysfs& sysfs) {
  std::vector<int> cores;
  for (const auto& [number, rest] : sysfs.Fields("proc/self/cgroup")) {
    const size_t colon = rest.find(':');
    if (colon == rest.npos) continue;
    const std::string controllers = "," + rest.substr(0, colon) + ",", group = rest.substr(colon + 1);
    if (controllers.find(",cpuset,") != controllers.npos)
      return NearestCpuset(sysfs, "sys/fs/cgroup/cpuset", group, {"cpuset.effective_cpus", "cpuset.cpus"});
    if (controllers == ",,") cores = NearestCpuset(sysfs, "sys/fs/cgroup", group, {"cpuset.cpus.effective"});
  }
  return cores;
}

// Returns the quota in cores from the text "quota period", both in microseconds, for example 1.5 for "150000
// 100000"; 0 for "max", "-1" and invalid texts.
double QuotaOf(const std::string& text) {
  double quota = 0, period = 0;
  const bool both = std::sscanf(text.c_str(), "%lf %lf", &quota, &period) == 2;
  return both && quota > 0 && period > 0 && std::isfinite(quota / period) ? quota / period : 0;
}

enum class CgroupVersion { k1, k2 };

// Returns the smallest quota of a cgroup and of its ancestors, whose quotas limit the cgroup too.
double LeastQuota(Sysfs& sysfs, const std::string& mount, std::string group, CgroupVersion version) {
  double least = 0;
  if (group.find("..") != group.npos) group.clear();
  for (;;) {
    const std::string folder = mount + group + "/";
    const auto line = [&](const char* file) { return sysfs.Line(folder + file).value_or(""); };
    const double quota =
        QuotaOf(version == CgroupVersion::k2 ? line("cpu.max")
                                             : line("cpu.cfs_quota_us") + " " + line("cpu.cfs_period_us"));
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
    if (group.empty()) return least;
    group.resize(group.rfind('/') == group.npos ? 0 : group.rfind('/'));
  }
}

double ReadQuota(Sysfs& sysfs) {
  double least = 0;
  for (const auto& [number, rest] : sysfs.Fields("proc/self/cgroup")) {
    const size_t colon = rest.find(':');
    if (colon == rest.npos) continue;
    const std::string controllers = "," + rest.substr(0, colon) + ",", group = rest.substr(colon + 1);
    double quota = 0;
    if (controllers == ",,") quota = LeastQuota(sysfs, "sys/fs/cgroup", group, CgroupVersion::k2);
    else if (controllers.find(",cpu,") != controllers.npos)
      quota = LeastQuota(sysfs, "sys/fs/cgroup/cpu", group, CgroupVersion::k1);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  }
  return least;
}

}  // namespace

Affinity ReadAffinity(Sysfs& sysfs) {
  Affinity a;
  a.online = sysfs.Cores("sys/devices/system/cpu/online").value_or(std::vector<int>());
  a.affinity = sysfs.is_host() ? OwnMask() : RecordedMask(sysfs);
  a.cpuset = ReadCpuset(sysfs);
  a.quota_cores = ReadQuota(sysfs);
  if (a.online.empty())
    sysfs.Note(
        "sys/devices/system/cpu/online: not told which cores there are; taken: those that this process may "
        "use");
  if (a.affinity.empty())
    sysfs.Note("proc/self/status: not told which cores this process may use; taken: all that are online");
  for (const std::vector<int>* list : {&a.affinity, &a.online, &a.cpuset}) {
    if (list->empty()) continue;
    const std::vector<int> both = a.allowed.empty() ? *list : Intersection(a.allowed, *list);
    if (both.empty())
      sysfs.Note("the process's mask, the cores online and the cpuset contradict each other: " +
                 FormatCoreList(a.allowed) + " and " + FormatCoreList(*list) +
                 " have no core in common; taken: the former");
    else a.allowed = both;
  }
  if (a.allowed.empty()) a.allowed = {0};
  return a;
}

std::vector<int> AllowedCores() {
  Sysfs sysfs("/");
  return ReadAffinity(sysfs).allowed;
}

}  // namespace mete
