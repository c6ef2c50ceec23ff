#include "base/fused.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>

namespace mete {

void CopyInto(std::span<const ConstView> inputs, int into, const View& output) {
  const size_t i = size_t(into);
  if (inputs.size() <= i || !inputs[i].present() || inputs[i].data == output.data) return;
  std::memcpy(output.data, inputs[i].data, inputs[i].bytes());
}
namespace {

constexpr const char* kNames[] = {
    "",          "Add",  "Sub",     "Mul",         "Div",       "Min",  "Max",        "Pow",  "Relu",
    "LeakyRelu", "Clip", "Sigmoid", "HardSigmoid", "HardSwish", "Tanh", "Elu",        "Gelu", "Erf",
    "Softplus",  "Mish", "Swish",   "Exp",         "Log",       "Sqrt", "Reciprocal", "Abs",  "Neg"};
static_assert(std::size(kNames) == size_t(FusedOp::kNeg) + 1);

bool IsActivation(FusedOp op) { return op >= FusedOp::kRelu && op <= FusedOp::kSwish && op != FusedOp::kErf; }

}  // namespace

FusedOp FusedOpOf(std::string_view name) {
  for (size_t i = 1; i < std::size(kNames); ++i)
    if (name == kNames[i]) return FusedOp(i);
  return FusedOp::kNone;
}

const char* Name(FusedOp op) { return kNames[size_t(op)]; }

Activation DefaultActivation(FusedOp op) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (op) {
    case FusedOp::kLeakyRelu: return {op, 0.01f, 0};
    case FusedOp::kClip: return {op, -kInfinity, kInfinity};
    case FusedOp::kHardSigmoid: return {op, 0.2f, 0.5f};
    case FusedOp::kElu:
    case FusedOp::kSwish: return {op, 1, 0};
    default: return {op, 0, 0};
  }
}

std::string ParseEpilogue(const Attributes& attributes, EpilogueSpec& spec) {
  spec = {};
  spec.residual = attributes.Int("residual", 0) != 0;
  const std::string_view name = attributes.String("activation", "");
  if (name.empty()) return "";
  const FusedOp op = FusedOpOf(name);
  if (!IsActivation(op))
    return fmt::format("activation is unknown; got {}, expected Relu, Clip, Sigmoid, ...", name);
  spec.activation = DefaultActivation(op);
  spec.activation.alpha = attributes.Float("activation_alpha", spec.activation.alpha);
  spec.activation.beta = attributes.Float("activation_beta", spec.activation.beta);
  return "";
}

std::string ParseFusedProgram(const Attributes& attributes, int inputs, FusedProgram& program) {
  const Strings& ops = attributes.StringList("ops");
  const Ints& args = attributes.IntList("args");
  const Floats& params = attributes.FloatList("params");
  if (inputs < 1 || inputs > FusedProgram::kMaxInputs)
    return fmt::format("wrong number of inputs; got {}, expected 1 to {}", inputs, FusedProgram::kMaxInputs);
  if (ops.empty() || ops.size() > size_t(FusedProgram::kMaxSteps))
    return fmt::format("wrong number of ops; got {}, expected 1 to {}", ops.size(), FusedProgram::kMaxSteps);
  if (args.size() != 3 * ops.size() || params.size() != 2 * ops.size())
    return fmt::format("args and params do not fit the ops; got {} and {}, expected {} and {}", args.size(),
                       params.size(), 3 * ops.size(), 2 * ops.size());
  program = {};
  program.inputs = inputs;
  program.steps = int(ops.size());
  for (size_t k = 0; k < ops.size(); ++k) {
    FusedStep& step = program.step[k];
    step.function = {FusedOpOf(ops[k]), params[2 * k], params[2 * k + 1]};
    if (step.function.op == FusedOp::kNone) return fmt::format("op {} cannot be fused; got {}", k, ops[k]);
    const int operands = IsBinary(step.function.op) ? 2 : 1;
    for (int i = 0; i < 3; ++i) {
      const int64_t r = args[3 * k + size_t(i)];
      const bool good = i < operands ? r >= 0 && r < inputs + int64_t(k) : r == -1;
      if (!good)
        return fmt::format("operand {} of op {} ({}) is wrong; got {}, expected {}", i, k, ops[k], r,
                           i < operands ? "an earlier register" : "-1");
      step.args[size_t(i)] = int(r);
    }
  }
  return "";
}

}  // namespace mete
