// Selects the conversions between f32 and halves that fast kernels compute. As in dispatch/products.h, the
// result never depends on the machine.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"

namespace mete {

struct HalfCast {
  DType halves = DType::kF16;
  bool widens = false;  // from halves to f32
  int64_t elements = 0;

  std::string kernel() const;  // "widen_f16"
};

// Returns nothing if only the reference kernel can compute the Cast or CastLike; `why` then receives the
// reason.
std::optional<HalfCast> HalfCastOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
