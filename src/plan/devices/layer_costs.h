// What the layers of a model take on one device, each by itself and unfused, whoever says what a graph takes: an estimate, or a clock.
#pragma once

#include <functional>
#include <vector>

#include "costs/pool.h"
#include "graph/graph.h"
#include "partition/layers.h"

namespace mete {

// Microseconds of a graph on the device.
using GraphUs = std::function<double(const Graph&)>;

class LayerGraphs {
 public:
  explicit LayerGraphs(const Graph& graph) : graph_(graph), uses_(graph) {}  // keeps a reference

  // A line through what the whole layer and about half of it take: what is left where it comes to no rows is the least.
  LayerCost CostOf(const Layer& layer, const GraphUs& us_of) const;

 private:
  // The first rows of all that the layer gives, one of so many equal shares; `part` is how much of the last value that is. Without nodes
  // where the layer gives nothing.
  Graph ShareOf(const Layer& layer, int shares, double& part) const;

  const Graph& graph_;
  const Uses uses_;
};

}  // namespace mete
