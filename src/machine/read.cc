// Reads a Machine from /proc and /sys and groups its cores into clusters.
#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>
#include <tuple>

#include "machine/affinity.h"
#include "machine/capacity.h"
#include "machine/core_facts.h"
#include "machine/core_list.h"
#include "machine/meters.h"

namespace mete {
namespace {

using Cores = std::vector<int>;

// The properties that all cores of a cluster share; faster cores sort first.
using Key = std::tuple<double, std::string, Cores, Cores, Cores>;

// Returns the group, or an empty group if it is a single physical core. Otherwise processors with a clock per
// core, and virtual machines with a socket per core, would have as many clusters as cores.
Cores IfShared(const Cores& group, const Cores& siblings) {
  return group.size() > std::max<size_t>(siblings.size(), 1) ? group : Cores();
}

Cores OutermostCache(const CoreFacts& facts) {
  const auto outer = std::max_element(facts.caches.begin(), facts.caches.end(),
                                      [](auto& a, auto& b) { return a.level < b.level; });
  return outer == facts.caches.end() ? Cores() : outer->shared;
}

Key KeyOf(const CoreFacts& facts, double capacity) {
  return {-capacity, facts.type, IfShared(OutermostCache(facts), facts.siblings),
          IfShared(facts.switched, facts.siblings), IfShared(facts.package, facts.siblings)};
}

void AddShared(std::vector<Cores>& groups, const Cores& group) {
  if (!group.empty() && std::find(groups.begin(), groups.end(), group) == groups.end())
    groups.push_back(group);
}

void AddCaches(Cluster& cluster, const CoreFacts& facts) {
  for (const CoreCache& c : facts.caches) {
    auto at = std::find_if(cluster.caches.begin(), cluster.caches.end(),
                           [&](const Cache& k) { return k.level == c.level; });
    if (at == cluster.caches.end()) at = cluster.caches.insert(at, {c.level, c.bytes, {}});
    AddShared(at->shared, c.shared);
  }
}

void AddFrequency(Frequency& f, const Frequency& core, bool first) {
  if (first) f = core;
  f.min_khz = std::min(f.min_khz, core.min_khz);
  f.max_khz = std::max(f.max_khz, core.max_khz);
  f.limit_khz = std::max(f.limit_khz, core.limit_khz);
  if (core.governor != f.governor) f.governor = "mixed";
  for (const std::string& policy : core.policies)
    if (std::find(f.policies.begin(), f.policies.end(), policy) == f.policies.end())
      f.policies.push_back(policy);
}

void AddCore(Cluster& cluster, const CoreFacts& facts, const Cores& allowed) {
  AddFrequency(cluster.frequency, facts.frequency, cluster.cores.empty());
  cluster.cores.push_back(facts.core);
  cluster.core = facts.type;
  AddCaches(cluster, facts);
  if (const Cores siblings = Intersection(facts.siblings, allowed); siblings.size() > 1)
    AddShared(cluster.siblings, siblings);
}

std::vector<Cluster> MakeClusters(const std::vector<CoreFacts>& cores, const Cores& allowed) {
  const Capacities capacities = CapacitiesOf(cores);
  std::map<Key, Cluster> clusters;
  for (size_t i = 0; i < cores.size(); ++i) {
    if (!std::binary_search(allowed.begin(), allowed.end(), cores[i].core)) continue;
    Cluster& cluster = clusters[KeyOf(cores[i], capacities.of[i])];
    cluster.capacity = capacities.of[i];
    cluster.capacity_source = capacities.source;
    AddCore(cluster, cores[i], allowed);
  }
  std::vector<Cluster> out;
  for (auto& [key, cluster] : clusters) {
    cluster.name = "cluster" + std::to_string(out.size());
    out.push_back(std::move(cluster));
  }
  return out;
}

void NoteWhatIsMissing(Sysfs& sysfs, const std::vector<Cluster>& clusters) {
  const auto any = [&](auto&& lacks) { return std::any_of(clusters.begin(), clusters.end(), lacks); };
  if (any([](const Cluster& c) { return c.capacity_source == CapacitySource::kEqual; }))
    sysfs.Note("neither cpu_capacity nor core types nor frequencies tell the cores apart; taken as equal");
  if (any([](const Cluster& c) { return c.frequency.max_khz == 0; }))
    sysfs.Note("cpufreq: not told; frequencies and governors are unknown");
  if (any([](const Cluster& c) { return c.caches.empty(); }))
    sysfs.Note("cpuN/cache: not told; sizes of caches are unknown");
}

// A device tree's texts end with a zero byte.
std::string UpToZero(const std::string& text) { return text.substr(0, text.find('\0')); }

// Returns the name of the CPU; if it has none, as on Arm boards, the name of the board.
std::string ReadName(Sysfs& sysfs) {
  std::string name = sysfs.Field("proc/cpuinfo", "model name");
  if (name.empty() || name.rfind("ARMv", 0) == 0)
    name = UpToZero(sysfs.Line("proc/device-tree/model").value_or(""));
  if (name.empty()) name = sysfs.Field("proc/cpuinfo", "Hardware");
  return name.empty() ? "cpu" : name;
}

int64_t ReadMemory(Sysfs& sysfs) {
  constexpr int64_t kMostKib = int64_t{1} << 40;  // this value is a guess: a PiB
  int64_t kib = 0;
  std::istringstream(sysfs.Field("proc/meminfo", "MemTotal")) >> kib;
  if (kib > 0 && kib <= kMostKib) return kib * 1024;
  sysfs.Note("proc/meminfo: not told how much memory there is");
  return 0;
}

}  // namespace

Machine ReadMachine(const std::string& root) {
  Sysfs sysfs(root);
  Machine machine;
  machine.name = ReadName(sysfs);
  machine.memory_bytes = ReadMemory(sysfs);
  machine.affinity = ReadAffinity(sysfs);
  // Capacities are computed over all cores, forbidden ones too: a process that may use only the small cores
  // has no fast cores.
  const Affinity& a = machine.affinity;
  Cores cores;
  std::set_union(a.online.begin(), a.online.end(), a.allowed.begin(), a.allowed.end(),
                 std::back_inserter(cores));
  machine.clusters = MakeClusters(ReadCoreFacts(sysfs, cores), a.allowed);
  NoteWhatIsMissing(sysfs, machine.clusters);
  machine.meters = ReadMeters(sysfs);
  machine.notes = sysfs.notes();
  return machine;
}

}  // namespace mete
