#include "graph/fused.h"

#include "graph/operators.h"
#include "graph/ops/check.h"

namespace mete {
namespace {

void InferElementwise(InferContext& c) {
  FusedProgram program;
  if (const std::string problem = ParseFusedProgram(c.attributes, c.inputs(), program); !problem.empty()) c.Bad("{}", problem);
  Shape out;
  for (int i = 0; i < c.inputs(); ++i) {
    if (!c.has(i)) c.Bad("input {} is missing; expected all of {}", i, c.inputs());
    NeedType(c, i, TypeBit(DType::kF32));
    out = BroadcastShapes(c, out, c.shape(i));
  }
  c.Output(0, DType::kF32, out);
}

}  // namespace

std::span<const OpSchema> FusedOperators() {
  static constexpr OpSchema kOperators[] = {
      {"mete.Elementwise", 1, FusedProgram::kMaxInputs, 1, InferElementwise},
  };
  return kOperators;
}

}  // namespace mete
