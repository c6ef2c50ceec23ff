// The two parts of a model that a cut makes, as graphs that any session can run.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "plan/site/min_cut.h"

namespace mete {

struct CutPart {
  Graph graph;  // its inputs and outputs are those below, in order; weights share their bytes with the whole
                // graph
  std::vector<ValueId> inputs, outputs;  // as values of the whole graph, in the order of their ids
};

struct CutParts {
  // The device's outputs are the values that the server reads of it, and the answers that it makes itself.
  CutPart device;
  // The server's inputs are inputs of the whole graph as well, where it reads them; its outputs are answers.
  CutPart server;
};

// Returns the parts of a cut of the graph's layers (partition/layers.h). Error if a layer of the device reads
// what the server makes, or if the division has another number of layers.
CutParts PartsOfCut(const Graph& graph, const OnDevice& on_device);

}  // namespace mete
