// The checks of a share before it is prepared, and of what a caller gives to it before it runs.
#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "processor/processor.h"

namespace mete {

// Throws one Error UNIMPLEMENTED that lists every node that the processor cannot compute.
void CheckCanCompute(const Processor& processor, const Graph& share);

// Throws INVALID_ARGUMENT if `views`, which are `kind`s of the graph ("input"), have not the types of the
// values `ids` and the shapes that shape_of(i) returns: kernels read and write as many bytes as the graph
// says. A shape or type that is unknown fits every view.
template <class V, class ShapeOf>
void CheckViews(const char* kind, const Graph& graph, const std::vector<ValueId>& ids,
                std::span<const V> views, const ShapeOf& shape_of) {
  if (views.size() != ids.size())
    Invalid(graph.name, "wrong number of {}s; got {}, expected {}", kind, views.size(), ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const Value& value = graph.value(ids[i]);
    const Shape shape = shape_of(i);
    if (!shape.known() || value.type == DType::kUnknown) continue;
    if (views[i].type != value.type || !(views[i].shape == shape))
      Invalid(value.name, "wrong {}; got {} {}, expected {} {}", kind, Name(views[i].type),
              ToString(views[i].shape), Name(value.type), ToString(shape));
  }
}

}  // namespace mete
