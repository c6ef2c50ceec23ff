#include "costs/costs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/problems.h"
#include "schedule/policy.h"

namespace mete {
namespace {

// Returns the rate of each cluster: how many nodes like this it computes per nanosecond.
std::vector<double> RatesOn(const Costs& costs, const NodeCost& node, const std::vector<int>& cores) {
  const double bytes = double(node.bytes);
  std::vector<double> rates(cores.size(), 0);
  for (size_t c = 0; c < cores.size(); ++c)
    if (cores[c] > 0) rates[c] = std::min(cores[c] / node.core_ns[c], costs.gbytes_per_s[c] / bytes);
  const double all = std::accumulate(rates.begin(), rates.end(), 0.0),
               memory = costs.memory_gbytes_per_s / bytes;
  for (double& rate : rates) rate *= std::min(1.0, memory / all);
  return rates;
}

// Returns whether the node takes time on every cluster, by its arithmetic or by its bytes.
bool TakesTime(const Costs& costs, const NodeCost& node) {
  for (size_t c = 0; c < std::min(node.core_ns.size(), costs.gbytes_per_s.size()); ++c) {
    const bool by_bytes = node.bytes > 0 && std::isfinite(costs.gbytes_per_s[c]);
    if (!(node.core_ns[c] >= 0 && std::isfinite(node.core_ns[c])) || (node.core_ns[c] == 0 && !by_bytes))
      return false;
  }
  return true;
}

}  // namespace

void Verify(const Costs& costs) {
  Problems problems;
  const auto check = [&](bool good, const std::string& where, const char* what) {
    if (!good) problems.Try([&] { Invalid(where, "{}", what); });
  };
  const size_t clusters = costs.cores.size();
  for (const std::vector<int64_t>* ns : {&costs.take_ns, &costs.barrier_ns, &costs.wake_ns}) {
    check(ns->size() == clusters, "costs", "take, barrier and wake need a time for each cluster");
    check(std::all_of(ns->begin(), ns->end(), [](int64_t t) { return t >= 0; }), "costs",
          "a time is negative");
  }
  const auto positive = [](double v) { return v > 0; };
  check(costs.gbytes_per_s.size() == clusters, "costs", "needs a bandwidth for each cluster");
  check(std::all_of(costs.gbytes_per_s.begin(), costs.gbytes_per_s.end(), positive) &&
            costs.memory_gbytes_per_s > 0,
        "costs", "a bandwidth must be positive");
  for (const NodeCost& node : costs.nodes) {
    const bool fits = node.core_ns.size() == clusters;
    check(fits, node.node, "needs a time on each cluster");
    check(node.pieces >= 0 && node.bytes >= 0, node.node, "pieces and bytes cannot be negative");
    if (fits && node.computes())
      check(TakesTime(costs, node), node.node,
            "computes in no time, or in one that is negative or not finite");
  }
  problems.ThrowIfAny();
}

const char* Name(NodeKind kind) {
  static constexpr const char* kNames[] = {"product", "depthwise", "moves", "view", "unknown"};
  return kNames[size_t(kind)];
}

NodeTimes TimesOn(const Costs& costs, const NodeCost& node, const std::vector<int>& cores) {
  NodeTimes times{0, std::vector<double>(cores.size(), 0)};
  if (!node.computes()) return times;
  const int count = std::accumulate(cores.begin(), cores.end(), 0);
  times.blocks = std::clamp<int64_t>(node.pieces, 1, count == 1 ? 1 : count * kBlocksPerThread);
  const std::vector<double> rates = RatesOn(costs, node, cores);
  for (size_t c = 0; c < cores.size(); ++c)
    if (cores[c] > 0) times.block_ns[c] = cores[c] / rates[c] / double(times.blocks);
  return times;
}

int64_t BarrierNs(const Costs& costs, const std::vector<int>& cores) {
  int64_t longest = 0;
  for (size_t c = 0; c < cores.size(); ++c)
    if (cores[c] > 0) longest = std::max(longest, costs.barrier_ns[c]);
  return longest;
}

}  // namespace mete
