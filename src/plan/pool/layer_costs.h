// The costs of a model's layers on one processor, each layer separately and without fusion. The time of a
// graph comes from a function: an estimate or a measurement.
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

// Returns the time of a graph on the processor in microseconds.
using GraphUs = std::function<double(const Graph&)>;

// Returns the cost of a layer from the time of the whole layer and the time of a part of it (0 to 1), by a
// line through both. The line's value at no rows is the layer's `least_us`: 10 us for the whole and 6 us for
// a half give 2 us.
LayerCost CostThrough(double us, double part_us, double part);

// The times of nodes in a run: names and microseconds, in the order in which the nodes ran.
using NodesUs = std::vector<std::pair<std::string, double>>;

enum class NodesOfPasses { kCount, kDoNotCount };

// Returns, for each layer, the sum of the times of its nodes. A node that passes have removed is not in the
// list and takes nothing: a join is a layer that takes 0 if convolutions write directly into their places in
// its output. Nodes that passes have made count for the layer before, or not at all.
std::vector<double> LayersUs(const Graph& graph, std::span<const Layer> layers, const NodesUs& nodes,
                             NodesOfPasses made);

// Returns the layers of which a half is worth a measurement, each at its place in the list; the others are
// empty. These are the layers that take more than a small part of the model's time, and the joins that take
// any time: no kernel has to be chosen for a join, and many small ones together may count.
std::vector<Layer> LayersToHalve(std::vector<Layer> layers, std::span<const double> us);

// Halves (approximately) of some layers in one graph. The halves do not depend on each other, and one run can
// time all of them.
struct LayerHalves {
  Graph graph;  // the nodes have the same names as in the whole graph
  // by layer: the share of the layer that `graph` has; 1: the layer cannot be divided and is not in `graph`
  std::vector<double> parts;
};

class LayerGraphs {
 public:
  explicit LayerGraphs(const Graph& graph) : graph_(graph), uses_(graph) {}  // keeps a reference

  // Returns a graph of some layers, as far as all of it can run at once: consecutive ones are connected, and
  // values that other layers make are its inputs. The nodes have the same names as in the whole graph.
  Graph Only(std::span<const Layer> layers, const std::vector<bool>& which) const;

  // Returns the layer's cost from the times of the whole layer and of about half of it.
  LayerCost CostOf(const Layer& layer, const GraphUs& us_of) const;

  // Returns halves by rows, or by channels for a layer with too few rows.
  LayerHalves HalvesOf(std::span<const Layer> layers) const { return HalvesBy(AxisToDivide, layers); }
  // Returns halves by channels of the layers that HalvesOf() divides by rows.
  LayerHalves HalvesByChannelsOf(std::span<const Layer> layers) const {
    return HalvesBy(ChannelsBesideRows, layers);
  }

 private:
  // Returns the axis by which values of a shape are divided into `shares` shares; -1: none.
  using AxisFor = int (*)(const Shape&, int shares);
  static int AxisToDivide(const Shape& shape, int shares);
  static int ChannelsBesideRows(const Shape& shape, int shares);

  LayerHalves HalvesBy(AxisFor axis_for, std::span<const Layer> layers) const;
  // Returns a graph that computes the first of `shares` equal shares of all outputs of the layer, and in
  // `part` the share of the last output that this is. The graph has no nodes if the layer has no outputs.
  Graph ShareOf(const Layer& layer, AxisFor axis_for, int shares, double& part) const;

  const Graph& graph_;
  const Uses uses_;
};

}  // namespace mete
