// The shapes of values while a model is imported, as far as the nodes that the graph has until now tell. Few
// operators of com.microsoft have forms that differ in nothing but the number of dimensions of an input.
#pragma once

#include "graph/graph.h"

namespace mete::onnx_import {

class KnownShapes {
 public:
  // Returns Shape::Unknown() for kNoValue, and if the shape depends on values that are not folded yet. Sizes
  // of open dimensions are those that the model is loaded with, so an expansion may use them only to compare
  // dimensions.
  Shape Of(const Graph& graph, ValueId id);
  // Says what an expansion knows of a value that follows from shape arithmetic.
  void Tell(const Graph& graph, ValueId id, const Shape& shape);  // `id` may be kNoValue

 private:
  Value& Seen(const Graph& graph, ValueId id);
  void Infer(const Graph& graph, const Node& node);

  Graph seen_;        // the values of the graph with their types and shapes; it has no nodes
  size_t nodes_ = 0;  // the first node of the graph that is not inferred yet
};

}  // namespace mete::onnx_import
