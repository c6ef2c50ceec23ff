#include "dispatch/elementwise.h"

#include <fmt/format.h>

#include "dispatch/reason.h"

namespace mete {
namespace {

bool AllOnes(const Shape& s, int first, int last) {
  for (int i = first; i < last; ++i)
    if (s[i] != 1) return false;
  return true;
}

}  // namespace

std::optional<ElementwiseInput> ElementwiseInputOf(const Shape& in, const Shape& out) {
  const int64_t n = in.Elements();
  if (n == out.Elements()) return ElementwiseInput{Broadcast::kFull};
  if (n == 1) return ElementwiseInput{Broadcast::kScalar};
  if (in.rank() == 0 || out.rank() == 0 || in.back() != out.back()) return std::nullopt;
  if (n == out.back()) return ElementwiseInput{Broadcast::kChannel};
  if (in.rank() == out.rank() && out.rank() > 2 && in[0] == out[0] && AllOnes(in, 1, in.rank() - 1))
    return ElementwiseInput{Broadcast::kChannel, true};
  return std::nullopt;
}

std::optional<Elementwise> ElementwiseOf(const Graph& graph, const Node& node, std::string* why) {
  const Shape& out = graph.value(node.outputs[0]).shape;
  if (out.Elements() == 0) return No("nothing to compute", why);
  Elementwise result;
  result.elements = out.Elements();
  std::vector<Broadcast> spreads;
  for (ValueId id : node.inputs) {
    const Shape& shape = graph.value(id).shape;
    const auto input = ElementwiseInputOf(shape, out);
    if (!input) return No(fmt::format("{} is broadcast to {}", ToString(shape), ToString(out)), why);
    result.inputs.push_back(*input);
    spreads.push_back(input->spread);
    if (input->per_image) result.images = out[0];
  }
  FusedProgram program;
  if (!ParseFusedProgram(node.attributes, int(node.inputs.size()), program).empty())
    return No("not a program", why);
  if (!PlanElementwise(program, spreads, out.rank() ? out.back() : 1, &result.plan))
    return No("needs too many values at once", why);
  return result;
}

}  // namespace mete
