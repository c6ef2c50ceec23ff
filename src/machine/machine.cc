#include "machine/machine.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/problems.h"

namespace mete {
namespace {

bool HasNegative(const Cluster& c) {
  const Frequency& f = c.frequency;
  return std::min({f.min_khz, f.max_khz, f.limit_khz, f.current_khz}) < 0 ||
         std::any_of(c.caches.begin(), c.caches.end(), [](const Cache& cache) { return cache.bytes < 0; });
}

void VerifyCluster(const Cluster& c) {
  if (c.cores.empty()) Invalid(c.name, "a cluster has no cores");
  if (!(c.capacity > 0 && c.capacity <= 1))
    Invalid(c.name, "the capacity is wrong; got {}, expected more than 0 and at most 1", c.capacity);
  if (HasNegative(c)) Invalid(c.name, "a size or frequency is negative");
  for (const auto& group : c.siblings)
    for (int core : group)
      if (std::find(c.cores.begin(), c.cores.end(), core) == c.cores.end())
        Invalid(c.name, "a sibling is of another cluster; got core {}", core);
}

}  // namespace

int64_t Cluster::cache_bytes(int level) const {
  for (const Cache& c : caches)
    if (c.level == level) return c.bytes;
  return 0;
}

int Machine::default_threads() const {
  const int all = std::max(cores(), 1);
  return affinity.quota_cores > 0 && affinity.quota_cores < all ? int(std::ceil(affinity.quota_cores)) : all;
}

const Cluster* Machine::ClusterOf(int core) const {
  const auto has = [&](const Cluster& c) {
    return std::find(c.cores.begin(), c.cores.end(), core) != c.cores.end();
  };
  const auto at = std::find_if(clusters.begin(), clusters.end(), has);
  return at == clusters.end() ? nullptr : &*at;
}

std::vector<bool> Machine::SharesCore(const std::vector<int>& cores) const {
  std::set<const std::vector<int>*> seen;
  std::vector<bool> shares;
  for (const int core : cores) {
    shares.push_back(false);
    const Cluster* cluster = ClusterOf(core);
    if (!cluster) continue;
    for (const std::vector<int>& group : cluster->siblings)
      if (std::find(group.begin(), group.end(), core) != group.end())
        shares.back() = !seen.insert(&group).second;
  }
  return shares;
}

int Machine::cores() const {
  int n = 0;
  for (const Cluster& c : clusters) n += int(c.cores.size());
  return n;
}

void Verify(const Machine& machine) {
  Problems problems;
  std::set<int> seen;
  for (const Cluster& c : machine.clusters) {
    problems.Try([&] { VerifyCluster(c); });
    for (int core : c.cores)
      if (!seen.insert(core).second) problems.Try([&] { Invalid(c.name, "core {} is listed twice", core); });
  }
  if (seen.empty()) problems.Try([&] { Invalid(machine.name, "the machine has no cores"); });
  problems.ThrowIfAny();
}

}  // namespace mete
