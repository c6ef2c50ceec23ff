// The activations that the fast kernels compute in their epilogues.
#pragma once

#include <optional>

#include "base/fused.h"
#include "graph/graph.h"

namespace mete {

// Returns the activation of a node with an epilogue (graph/fused.h), or nothing if the kernels do not support
// it.
inline std::optional<Activation> FastActivation(const Node& node) {
  EpilogueSpec spec;
  if (!ParseEpilogue(node.attributes, spec).empty()) return std::nullopt;
  return spec.activation;
}

}  // namespace mete
