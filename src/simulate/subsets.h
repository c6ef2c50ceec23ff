// Finds the best subset of the cores that a user could choose instead of all of them.
#pragma once

#include <string>
#include <vector>

#include "simulate/simulated.h"

namespace mete {

// Returns subsets as numbers of cores of each cluster, as EstimateCosts() takes them: every union of whole
// clusters except all of them (with more than four clusters only unions of the fastest ones), and for every
// cluster its first k cores, each k below its number up to 8, and then in steps of a quarter.
std::vector<std::vector<int>> Subsets(const std::vector<int>& cores);

struct BestSubset {
  std::vector<int> cores;  // empty: there is no subset, because there is a single core
  std::string policy;
  double median_ns = 0;
  double efficiency = 0;  // of this subset
};

// Returns the fastest of all subsets, with equal slices on all of its cores or as planned for it. Of
// `options` the function uses the runs and the interference.
BestSubset FindBestSubset(const Graph& graph, const MachineFile& file, const std::vector<int>& cores,
                          const SimulationOptions& options);

}  // namespace mete
