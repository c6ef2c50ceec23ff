#include "import/onnx/shapes.h"

#include "graph/operators.h"

namespace mete::onnx_import {

Shape KnownShapes::Of(const Graph& graph, ValueId id) {
  if (id == kNoValue) return Shape::Unknown();
  for (; nodes_ < graph.nodes.size(); ++nodes_) Infer(graph, graph.nodes[nodes_]);
  return Seen(graph, id).shape;
}

void KnownShapes::Tell(const Graph& graph, ValueId id, const Shape& shape) {
  if (id != kNoValue) Seen(graph, id).shape = shape;
}

// A value that was read before it was made a constant or an input is looked up once more.
Value& KnownShapes::Seen(const Graph& graph, ValueId id) {
  if (seen_.values.size() < graph.values.size()) seen_.values.resize(graph.values.size());
  Value& seen = seen_.value(id);
  if (!seen.shape.known()) {
    const Value& value = graph.value(id);
    seen.type = value.type;
    seen.shape = value.is_constant() ? value.constant.shape() : value.shape;
    seen.constant = value.constant;
  }
  return seen;
}

void KnownShapes::Infer(const Graph& graph, const Node& node) {
  for (const ValueId id : node.inputs)
    if (id != kNoValue) (void)Seen(graph, id);
  try {
    const auto results = InferNode(seen_, node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue || !results[i].shape.known()) continue;
      Value& out = Seen(graph, node.outputs[i]);
      out.type = results[i].type;
      out.shape = results[i].shape;
    }
  } catch (const Error&) {
    // The pass `fold` reports shapes that do not fit.
  }
}

}  // namespace mete::onnx_import
