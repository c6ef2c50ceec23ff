// What the nodes of a model take on a machine that was described and never measured: a roofline of the
// machine file's figures. Whatever comes of it is an estimate, however exact a simulation reckons with it.
//
// A cluster's cores compute at peak x share (compute_share, or depthwise_share) and move the node's inputs,
// outputs and weights at the cluster's bandwidth, both at once (costs.h). Data that caches keep from one node
// to the next are not accounted for, nor what exponentials and the like cost: of an operator without
// multiply-adds the bytes alone count. Recurrent nodes are in one piece, as nothing divides them today, and
// their weights count as read once, however many time steps there are.
#pragma once

#include <string>
#include <vector>

#include "costs/costs.h"
#include "costs/describe.h"
#include "graph/graph.h"
#include "machine/file.h"

namespace mete {

// `cores`: of each cluster, how many may take part. Error where they are none, or more than there are; where
// no node computes, or the times are beyond belief.
Costs EstimateCosts(const Graph& graph, const MachineFile& file, const std::vector<int>& cores);

// "23 of 36 figures of ... are estimates (compute_share, ...)": of the keys that an estimate of times reads,
// which ones are their author's.
std::string EstimatedFigures(const MachineFile& file);

}  // namespace mete
