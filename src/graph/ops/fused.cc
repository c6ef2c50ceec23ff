#include "graph/fused.h"

#include "base/custom_operators.h"
#include "base/matmul_view.h"
#include "graph/operators.h"
#include "graph/ops/check.h"
#include "graph/ops/custom.h"

namespace mete {
namespace {

void InferElementwise(InferContext& c) {
  FusedProgram program;
  if (const std::string problem = ParseFusedProgram(c.attributes, c.inputs(), program); !problem.empty())
    c.Bad("{}", problem);
  Shape out;
  for (int i = 0; i < c.inputs(); ++i) {
    if (!c.has(i)) c.Bad("input {} is missing; expected all of {}", i, c.inputs());
    NeedType(c, i, TypeBit(DType::kF32));
    out = BroadcastShapes(c, out, c.shape(i));
  }
  c.Output(0, DType::kF32, out);
}

void InferMatMulView(InferContext& c) {
  for (int i = 0; i < 2; ++i) {
    if (!c.has(i)) c.Bad("input {} is missing; expected 2", i);
    NeedType(c, i, TypeBit(DType::kF32));
  }
  if (c.shape(0).Elements() == 0 || c.shape(1).Elements() == 0)
    c.Bad("an operand is empty; got {} and {}", ToString(c.shape(0)), ToString(c.shape(1)));
  MatMulView view;
  if (const std::string problem = ParseMatMulView(c.attributes, c.shape(0), c.shape(1), view);
      !problem.empty())
    c.Bad("{}", problem);
  CheckOperands(c);
  c.Output(0, DType::kF32, view.y);
}

}  // namespace

std::span<const OpSchema> FusedOperators() {
  static constexpr OpSchema kFusedOperators[] = {
      {"mete.Elementwise",
       1,
       FusedProgram::kMaxInputs,
       1,
       InferElementwise,
       {OpKind::kElementwise, Orders::kAny, DivideBy::kBroadcast}},
      {"mete.MatMul", 2, 2, 1, InferMatMulView, {.arithmetic = Arithmetic::kMatrix}},
      {kCustomOperator, 0, -1, -1, InferCustom, Narrow({})},
  };
  return kFusedOperators;
}

}  // namespace mete
