// What the layers of a model take on one device, each by itself and unfused, whoever says what a graph takes:
// an estimate, or a clock.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"
#include "partition/layers.h"

namespace mete {

// Microseconds of a graph on the device.
using GraphUs = std::function<double(const Graph&)>;

// A line through what the whole layer takes and what such a part of it does, 0 to 1: what is left where it
// comes to no rows is the least.
LayerCost CostThrough(double us, double part_us, double part);

// What nodes took in a run: names and microseconds, in the order in which they ran.
using NodesUs = std::vector<std::pair<std::string, double>>;

// Of each layer the sum of what its nodes took. A node that passes have removed is not in the list and takes
// nothing: a join is a layer that takes 0 where convolutions write straight into their places in its output.
// Nodes that passes have made count for the layer before, or, without `count_made`, not at all.
std::vector<double> LayersUs(const Graph& graph, std::span<const Layer> layers, const NodesUs& nodes,
                             bool count_made);

// The layers of which a half is worth a measurement, each where it was in the list; the others are empty.
// They are those that take more than a little of the model's time, and joins that take any: no kernel has to
// be chosen for a join, and many small ones may come together.
std::vector<Layer> LayersToHalve(std::vector<Layer> layers, std::span<const double> us);

// About halves of some layers, side by side in one graph: nothing ties them together, and all can be timed in
// one run.
struct LayerHalves {
  Graph graph;  // nodes have the names that they have in the whole graph
  // by layer, how much of it is there; 1: it cannot be divided, and nothing of it is
  std::vector<double> parts;
};

class LayerGraphs {
 public:
  explicit LayerGraphs(const Graph& graph) : graph_(graph), uses_(graph) {}  // keeps a reference

  // Of the whole layer and about half of it.
  LayerCost CostOf(const Layer& layer, const GraphUs& us_of) const;

  LayerHalves HalvesOf(std::span<const Layer> layers) const;

 private:
  // The first rows of all that the layer gives, one of so many equal shares; `part` is how much of the last
  // value that is. Without nodes where the layer gives nothing.
  Graph ShareOf(const Layer& layer, int shares, double& part) const;

  const Graph& graph_;
  const Uses uses_;
};

}  // namespace mete
