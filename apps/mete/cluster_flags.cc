#include "cluster_flags.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "context.h"
#include "costs/estimate.h"

namespace mete::cli {
namespace {

// Parses "big" or "big:2", and sets the number of cores of that cluster.
void TakeCluster(const std::string& word, const MachineFile& file, std::vector<int>& cores) {
  const std::vector<int> physical = PhysicalCores(file.machine);
  const size_t colon = std::min(word.find(':'), word.size());
  for (size_t c = 0; c < cores.size(); ++c) {
    if (file.machine.clusters[c].name != word.substr(0, colon)) continue;
    cores[c] = physical[c];
    if (colon == word.size()) return;
    const auto number = std::from_chars(word.data() + colon + 1, word.data() + word.size(), cores[c]);
    if (number.ec == std::errc() && number.ptr == word.data() + word.size() && cores[c] >= 1 &&
        cores[c] <= physical[c])
      return;
    throw UsageError(fmt::format("[--cores] not a number of this cluster's cores; got '{}', expected 1 to {}",
                                 word, physical[c]));
  }
  std::vector<std::string> names;
  for (const Cluster& c : file.machine.clusters) names.push_back(c.name);
  throw UsageError(fmt::format("[--cores] no such cluster; got '{}', expected some of {}; try {}:1", word,
                               fmt::join(names, ", "), names[0]));
}

}  // namespace

std::vector<int> ClusterCores(const std::vector<std::string>& words, const MachineFile& file) {
  if (words.empty()) return PhysicalCores(file.machine);
  std::vector<int> cores(file.machine.clusters.size(), 0);
  for (const std::string& word : words) TakeCluster(word, file, cores);
  return cores;
}

}  // namespace mete::cli
