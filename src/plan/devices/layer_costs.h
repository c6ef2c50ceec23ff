// What the layers of a model take on one device, each by itself and unfused, whoever says what a graph takes:
// an estimate, or a clock.
#pragma once

#include <functional>
#include <span>
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
  // The first rows, or channels where there are too few rows, of all that the layer gives, one of `shares`
  // equal shares; `part` is how much of the last value that is. Without nodes where the layer gives nothing.
  Graph ShareOf(const Layer& layer, int shares, double& part) const;

  const Graph& graph_;
  const Uses uses_;
};

}  // namespace mete
