#include "processor/opencl/kernels/functions.h"

#include <fmt/format.h>

#include "base/error.h"
#include "processor/opencl/kernels/kernel_text.h"

namespace mete::opencl {
namespace {

std::string Constant(int width, float value) {
  return fmt::format("(({}){})", FloatVector(width), FloatLiteral(value));
}

// Returns `negative` where x < 0, else `other`.
std::string BySign(int width, const std::string& x, const std::string& negative, const std::string& other) {
  return fmt::format("select({},{},isless({},{}))", other, negative, x, Constant(width, 0));
}

std::string Softplus(const std::string& x) {
  return fmt::format("(max({0},0.0f)+log1p(exp(-fabs({0}))))", x);
}

std::string HardSigmoid(int width, const std::string& x, float alpha, float beta) {
  return fmt::format("clamp({}*{}+{},0.0f,1.0f)", x, Constant(width, alpha), Constant(width, beta));
}

std::string Gelu(int width, const std::string& x, bool with_tanh) {
  if (!with_tanh)
    return fmt::format("(0.5f*{0}*(1.0f+erf({0}*{1})))", x, Constant(width, 0.70710678118654752f));
  return fmt::format("(0.5f*{0}*(1.0f+tanh({1}*({0}+0.044715f*{0}*{0}*{0}))))", x,
                     Constant(width, 0.79788456080286536f));
}

std::string OfTwo(FusedOp op, const std::string& x, const std::string& y) {
  switch (op) {
    case FusedOp::kAdd: return fmt::format("({}+{})", x, y);
    case FusedOp::kSub: return fmt::format("({}-{})", x, y);
    case FusedOp::kMul: return fmt::format("({}*{})", x, y);
    case FusedOp::kDiv: return fmt::format("({}/{})", x, y);
    case FusedOp::kMin: return fmt::format("min({},{})", x, y);
    case FusedOp::kMax: return fmt::format("max({},{})", x, y);
    default: return fmt::format("pow({},{})", x, y);
  }
}

}  // namespace

std::string FunctionText(const Activation& f, int width, const std::string& x, const std::string& y) {
  if (IsBinary(f.op)) return OfTwo(f.op, x, y);
  const std::string a = Constant(width, f.alpha), b = Constant(width, f.beta);
  switch (f.op) {
    case FusedOp::kNone: return x;
    case FusedOp::kRelu: return fmt::format("max({},0.0f)", x);
    case FusedOp::kLeakyRelu: return BySign(width, x, fmt::format("({}*{})", a, x), x);
    case FusedOp::kClip: return fmt::format("min(max({},{}),{})", x, a, b);
    case FusedOp::kSigmoid: return fmt::format("(1.0f/(1.0f+exp(-{})))", x);
    case FusedOp::kHardSigmoid: return HardSigmoid(width, x, f.alpha, f.beta);
    case FusedOp::kHardSwish: return fmt::format("({}*{})", x, HardSigmoid(width, x, 1.0f / 6, 0.5f));
    case FusedOp::kTanh: return fmt::format("tanh({})", x);
    case FusedOp::kElu: return BySign(width, x, fmt::format("({}*expm1({}))", a, x), x);
    case FusedOp::kGelu: return Gelu(width, x, f.alpha == 1);
    case FusedOp::kErf: return fmt::format("erf({})", x);
    case FusedOp::kSoftplus: return Softplus(x);
    case FusedOp::kMish: return fmt::format("({}*tanh({}))", x, Softplus(x));
    case FusedOp::kSwish: return fmt::format("({0}/(1.0f+exp(-{1}*{0})))", x, a);
    case FusedOp::kExp: return fmt::format("exp({})", x);
    case FusedOp::kLog: return fmt::format("log({})", x);
    case FusedOp::kSqrt: return fmt::format("sqrt({})", x);
    case FusedOp::kReciprocal: return fmt::format("(1.0f/{})", x);
    case FusedOp::kAbs: return fmt::format("fabs({})", x);
    case FusedOp::kNeg: return fmt::format("(-{})", x);
    default:
      Fail(Code::kUnimplemented, "GPU kernel",
           "a fused operator has no text; got {}, expected one of base/fused.h", Name(f.op));
  }
}

}  // namespace mete::opencl
