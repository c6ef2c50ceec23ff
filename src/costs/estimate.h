// The costs of a model's nodes on a machine that is described but was never measured, by a roofline of the
// machine file's figures. The results are estimates, however exact a simulation that uses them is.
//
// A cluster's cores compute at peak x share (compute_share, or depthwise_share) and move the node's inputs,
// outputs and weights at the cluster's bandwidth, both at the same time (costs.h). The model ignores data
// that caches keep from one node to the next, and the cost of functions such as exponentials: for an operator
// without multiply-adds only its bytes count. A recurrent node has a piece for each sequence and
// direction (describe.cc), and its weights count as read once for any number of time steps.
#pragma once

#include <string>
#include <vector>

#include "costs/costs.h"
#include "costs/describe.h"
#include "graph/graph.h"
#include "machine/file.h"

namespace mete {

// Estimates the costs with `cores`, the number of cores of each cluster that may take part. Error if this is
// no core or more than a cluster has, if no node computes, or if the times are impossibly long.
Costs EstimateCosts(const Graph& graph, const MachineFile& file, const std::vector<int>& cores);

// Returns which of the figures that this estimate reads are estimates of the file's author: "23 of 36 figures
// of ... are estimates (compute_share, ...)".
std::string EstimatedFigures(const MachineFile& file);

}  // namespace mete
