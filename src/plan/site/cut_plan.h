// A cut of a model between a device and a server as a plan of two processors, which a DeployedPlan runs.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "plan/plan.h"
#include "plan/site/min_cut.h"

namespace mete {

struct CutPlan {
  // The model with its nodes in another order: those of the device's layers first. Values, inputs and outputs
  // are those of the model, so that the answers are the same bits.
  Graph graph;
  // Of `graph`: two groups, of which the device computes the first one, and the server the second one. A
  // value that the server reads is sent once, and an answer that the device makes stays there. No times are
  // predicted.
  Plan plan;
};

// Returns the plan of a cut of the graph's layers (partition/layers.h) for two processors: the device, which
// is the home, and the server. Error as CheckCut(), if a side has no layer, and UNIMPLEMENTED if the model's
// first layer is the server's first one and would not be a layer of its own behind the device's, because it
// begins with a cheap node.
CutPlan PlanOfCut(const Graph& graph, const OnDevice& on_device, const std::vector<std::string>& processors);

}  // namespace mete
