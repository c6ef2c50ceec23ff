// Would some of the cores have done better? What a user could choose instead of all of them.
#pragma once

#include <string>
#include <vector>

#include "simulate/simulated.h"

namespace mete {

// Cores of each cluster, as EstimateCosts takes them: every union of whole clusters but all of them (of more
// than four clusters, unions of the fastest alone), and of every cluster its first k cores, each k below its
// number up to 8, and then in steps of a quarter.
std::vector<std::vector<int>> Subsets(const std::vector<int>& cores);

struct BestSubset {
  std::vector<int> cores;  // empty: there is none to choose, of a single core
  std::string policy;
  double median_ns = 0;
  double efficiency = 0;  // its own
};

// The fastest of all subsets, with equal slices on all of its cores or as planned for it; of `options` the
// runs and the interference count.
BestSubset FindBestSubset(const Graph& graph, const MachineFile& file, const std::vector<int>& cores,
                          const SimulationOptions& options);

}  // namespace mete
