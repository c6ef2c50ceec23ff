// The scalar functions of fused operators (base/fused.h) and the epilogue of Conv, Gemm and MatMul, in
// double.
#pragma once

#include <cmath>

#include "base/error.h"
#include "base/fused.h"
#include "kernels/reference/number.h"
#include "kernels/reference/reference.h"

namespace mete {

inline double Logistic(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
inline double SoftplusOf(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
// Returns x clamped to [least, greatest]. NaN stays NaN; if least > greatest, the result is `greatest`.
inline double Clamp(double x, double least, double greatest) {
  const double raised = x < least ? least : x;
  return raised > greatest ? greatest : raised;
}
inline double GeluOf(double x, bool tanh_form) {
  // sqrt(2 / pi)
  if (tanh_form) return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  return 0.5 * x * (1 + std::erf(x * 0.7071067811865476));
}

inline double Evaluate(const Activation& f, double a, double b = 0) {
  switch (f.op) {
    case FusedOp::kNone: return a;
    case FusedOp::kAdd: return a + b;
    case FusedOp::kSub: return a - b;
    case FusedOp::kMul: return a * b;
    case FusedOp::kDiv: return a / b;
    case FusedOp::kMin: return Least(a, b);
    case FusedOp::kMax: return Most(a, b);
    case FusedOp::kPow: return std::pow(a, b);
    case FusedOp::kRelu: return a < 0 ? 0 : a;
    case FusedOp::kLeakyRelu: return a < 0 ? f.alpha * a : a;
    case FusedOp::kClip: return Clamp(a, f.alpha, f.beta);
    case FusedOp::kSigmoid: return Logistic(a);
    case FusedOp::kHardSigmoid: return Clamp(f.alpha * a + f.beta, 0, 1);
    case FusedOp::kHardSwish: return a * Clamp(a / 6 + 0.5, 0, 1);
    case FusedOp::kTanh: return std::tanh(a);
    case FusedOp::kElu: return a < 0 ? f.alpha * std::expm1(a) : a;
    case FusedOp::kGelu: return GeluOf(a, f.alpha != 0);
    case FusedOp::kErf: return std::erf(a);
    case FusedOp::kSoftplus: return SoftplusOf(a);
    case FusedOp::kMish: return a * std::tanh(SoftplusOf(a));
    case FusedOp::kSwish: return a * Logistic(f.alpha * a);
    case FusedOp::kExp: return std::exp(a);
    case FusedOp::kLog: return std::log(a);
    case FusedOp::kSqrt: return std::sqrt(a);
    case FusedOp::kReciprocal: return 1 / a;
    case FusedOp::kAbs: return std::fabs(a);
    case FusedOp::kNeg: return -a;
  }
  return a;
}

// The epilogue of a node, read from its attributes once per kernel call. The kernel then stores
// epilogue.Apply(product + bias, i) as y[i].
template <class T>
class ReferenceEpilogue {
 public:
  explicit ReferenceEpilogue(const RefArgs& args, size_t residual_input = 3) {
    EpilogueSpec spec;
    if (const std::string problem = ParseEpilogue(args.attributes, spec); !problem.empty())
      Invalid("kernel", "{}", problem);
    activation_ = spec.activation;
    if (spec.residual && args.has(residual_input)) residual_ = args.in[residual_input].as<T>();
  }

  T Apply(double value, int64_t index) const {
    if (residual_) value += double(residual_[index]);
    return FromDouble<T>(Evaluate(activation_, value));
  }

 private:
  Activation activation_;
  const T* residual_ = nullptr;
};

}  // namespace mete
