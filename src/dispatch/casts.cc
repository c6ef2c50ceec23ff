#include "dispatch/casts.h"

#include "dispatch/quantized.h"
#include "dispatch/reason.h"

namespace mete {

std::string HalfCast::kernel() const { return std::string(widens ? "widen_" : "round_") + Name(halves); }

std::optional<HalfCast> HalfCastOf(const Graph& graph, const Node& node, std::string* why) {
  const auto is_half = [](DType type) { return type == DType::kF16 || type == DType::kBF16; };
  const DType from = graph.value(node.inputs[0]).type, to = graph.value(node.outputs[0]).type;
  const Shape& shape = graph.value(node.outputs[0]).shape;
  const bool widens = is_half(from) && to == DType::kF32;
  if (!widens && !(from == DType::kF32 && is_half(to))) return No("not between f32 and halves", why);
  if (!KnownAndNotEmpty(shape)) return No("of unknown shape, or empty", why);
  return HalfCast{widens ? from : to, widens, shape.Elements()};
}

}  // namespace mete
