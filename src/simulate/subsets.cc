#include "simulate/subsets.h"

#include <algorithm>

namespace mete {
namespace {

constexpr size_t kMostUnited = 4;  // guess: no phone has more clusters; of n there are 2^n unions

}  // namespace

std::vector<std::vector<int>> Subsets(const std::vector<int>& cores) {
  std::vector<size_t> used;
  for (size_t c = 0; c < cores.size(); ++c)
    if (cores[c] > 0) used.push_back(c);
  std::vector<std::vector<int>> subsets;
  const auto add_union = [&](auto&& in) {
    std::vector<int> subset(cores.size(), 0);
    for (size_t i = 0; i < used.size(); ++i)
      if (in(i)) subset[used[i]] = cores[used[i]];
    subsets.push_back(std::move(subset));
  };
  if (used.size() <= kMostUnited)
    for (size_t mask = 1; mask + 1 < size_t{1} << used.size(); ++mask)
      add_union([&](size_t i) { return mask >> i & 1; });
  else
    for (size_t fastest = 1; fastest < used.size(); ++fastest)
      add_union([&](size_t i) { return i < fastest; });
  for (size_t c : used)
    for (int k = 1; k < cores[c]; k += k < 8 ? 1 : k / 4) {
      std::vector<int> subset(cores.size(), 0);
      subset[c] = k;
      subsets.push_back(std::move(subset));
    }
  return subsets;
}

BestSubset FindBestSubset(const Graph& graph, const MachineFile& file, const std::vector<int>& cores,
                          const SimulationOptions& options) {
  BestSubset best;
  for (const std::vector<int>& subset : Subsets(cores)) {
    const Costs costs = EstimateCosts(graph, file, subset);
    for (const char* policy : {"equal", "adaptive"}) {
      const Simulation s = SimulateModel(graph, file, costs,
                                         {.policy = policy,
                                          .runs = options.runs,
                                          .interference = options.interference,
                                          .cancel = options.cancel});
      if (best.cores.empty() || s.median_ns() < best.median_ns)
        best = {subset, policy, s.median_ns(), s.efficiency()};
    }
  }
  return best;
}

}  // namespace mete
