#include "base/fused.h"

#include "base/custom_operators.h"
#include "base/error.h"
#include "kernels/reference/custom.h"
#include "kernels/reference/epilogue.h"
#include "kernels/reference/iterate.h"

namespace mete {
namespace {

// Runs all steps on one element. Each step is rounded to f32, like the operator that it replaces.
float RunProgram(const FusedProgram& p, float* registers) {
  int last = p.inputs;
  for (int k = 0; k < p.steps; ++k) {
    const FusedStep& s = p.step[size_t(k)];
    const double a = registers[s.args[0]], b = s.args[1] >= 0 ? registers[s.args[1]] : 0;
    last = p.inputs + k;
    registers[last] = float(Evaluate(s.function, a, b));
  }
  return registers[last];
}

void Elementwise(RefArgs& args) {
  FusedProgram program;
  if (const std::string problem = ParseFusedProgram(args.attributes, int(args.in.size()), program);
      !problem.empty())
    Invalid("kernel", "{}", problem);
  const Shape& shape = args.out[0].shape;
  std::array<Steps, FusedProgram::kMaxInputs> steps{};
  for (size_t i = 0; i < args.in.size(); ++i) steps[i] = BroadcastSteps(args.in[i].shape, shape);
  float* y = args.out[0].as<float>();
  ForEach(shape, steps, [&](const auto& at) {
    float registers[FusedProgram::kMaxInputs + FusedProgram::kMaxSteps];
    for (size_t i = 0; i < args.in.size(); ++i) registers[i] = args.in[i].as<float>()[at[i]];
    *y++ = RunProgram(program, registers);
  });
}

}  // namespace

std::span<const RefEntry> FusedReferences() {
  static constexpr RefEntry kFusedEntries[] = {
      {"mete.Elementwise", Elementwise},
      {kCustomOperator, RunCustom},
  };
  return kFusedEntries;
}

}  // namespace mete
