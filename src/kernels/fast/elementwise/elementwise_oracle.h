// The oracle of fused steps for tests.
#pragma once

#include "kernels/fast/test_util.h"

namespace mete {

// Returns the step's value of `a`, and of `b` if it has two operands, in double.
inline double StepOracle(const Activation& f, double a, double b) {
  switch (f.op) {
    case FusedOp::kAdd: return a + b;
    case FusedOp::kSub: return a - b;
    case FusedOp::kMul: return a * b;
    case FusedOp::kDiv: return a / b;
    case FusedOp::kMin: return std::min(a, b);
    case FusedOp::kMax: return std::max(a, b);
    case FusedOp::kPow: return std::pow(a, b);
    case FusedOp::kErf: return std::erf(a);
    case FusedOp::kExp: return std::exp(a);
    case FusedOp::kLog: return std::log(a);
    case FusedOp::kSqrt: return std::sqrt(a);
    case FusedOp::kReciprocal: return 1 / a;
    case FusedOp::kAbs: return std::abs(a);
    case FusedOp::kNeg: return -a;
    default: return ActivateOracle(f, a);
  }
}

}  // namespace mete
