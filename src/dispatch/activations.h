// Which activations the fast kernels compute on their sums.
#pragma once

#include <optional>

#include "base/fused.h"
#include "graph/graph.h"

namespace mete {

// Of a node with an epilogue (graph/fused.h). Nothing where the kernels lack it.
inline std::optional<Activation> FastActivation(const Node& node) {
  EpilogueSpec spec;
  if (!ParseEpilogue(node.attributes, spec).empty()) return std::nullopt;
  return spec.activation;
}

}  // namespace mete
