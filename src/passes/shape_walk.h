// Gives a graph other sizes: a walk over its nodes infers the shapes that follow from those of the inputs.
// The graph itself, its nodes and what they read, stays as it is, so that a walk takes microseconds where the
// passes take milliseconds.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "kernels/reference/reference.h"

namespace mete {

class ShapeWalk {
 public:
  // `graph` has had its passes. Its open constants are computed by `arithmetic`: a graph with the same inputs
  // in which Value::open of `graph` are the numbers of values.
  ShapeWalk(Graph arithmetic, std::shared_ptr<Graph> graph);

  // Gives the graph's values the shapes, and its open constants the contents, that follow from the shapes of
  // the inputs. Nodes whose inputs are as they were are not visited. Error INVALID_ARGUMENT, which names the
  // node, where a node does not take such shapes; the next walk then visits all nodes.
  void To(std::span<const Shape> inputs);

  const std::shared_ptr<Graph>& graph() const { return graph_; }
  // Per node of the graph: whether a shape or an open constant of it differs from the walk before. All do
  // after the first walk and after an error.
  const std::vector<uint8_t>& changed() const { return changed_nodes_; }
  // Values of the graph that are open constants.
  const std::vector<ValueId>& open() const { return open_; }

 private:
  void FindArithmetic();
  void SetInputs(Graph& graph, std::vector<uint8_t>& changed, std::span<const Shape> inputs);
  void WalkArithmetic();
  void WalkGraph();
  bool Evaluate(const Node& node, RefKernel kernel);

  struct Computed {
    int node;
    RefKernel kernel;  // null: only the shapes of the outputs matter
  };

  Graph arithmetic_;
  const std::shared_ptr<Graph> graph_;
  std::vector<Computed> computed_;  // the nodes of `arithmetic_` on which open constants depend, in order
  std::vector<ValueId> open_;
  bool all_ = true;                                    // the next walk visits all nodes
  std::vector<uint8_t> changed_arithmetic_, changed_;  // per value
  std::vector<uint8_t> changed_nodes_;
  Scratch scratch_;
};

}  // namespace mete
