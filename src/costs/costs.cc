#include "costs/costs.h"

#include <algorithm>
#include <numeric>

#include "schedule/policy.h"

namespace mete {
namespace {

// Nodes like this a nanosecond, of each cluster.
std::vector<double> RatesOn(const Costs& costs, const NodeCost& node, const std::vector<int>& cores) {
  const double bytes = double(node.bytes);
  std::vector<double> rates(cores.size(), 0);
  for (size_t c = 0; c < cores.size(); ++c)
    if (cores[c] > 0) rates[c] = std::min(cores[c] / node.core_ns[c], costs.gbytes_per_s[c] / bytes);
  const double all = std::accumulate(rates.begin(), rates.end(), 0.0), memory = costs.memory_gbytes_per_s / bytes;
  for (double& rate : rates) rate *= std::min(1.0, memory / all);
  return rates;
}

}  // namespace

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
