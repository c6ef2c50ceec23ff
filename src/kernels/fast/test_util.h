// Helpers for the tests of the fast kernels: a loop over all targets, random data, and the tolerance of a
// sum.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/fast/epilogue.h"
#include "kernels/fast/target/features.h"
#include "kernels/fast/target/target.h"

namespace mete {

// Runs `test` once for each available target, then activates the best target.
inline void OnEveryTarget(const std::function<void(const std::string& target)>& test) {
  for (const std::string& target : AvailableTargets()) {
    SCOPED_TRACE("target " + target);
    ForceTarget(target);
    test(target);
    if (::testing::Test::HasFailure()) break;
  }
  ForceTarget("");
}

// Runs `test` on every target, with the features of this processor and without them.
inline void OnEveryTargetAndFeature(const std::function<void()>& test) {
  OnEveryTarget([&](const std::string&) {
    test();
    for (const std::string& feature : AvailableFeatures()) {
      SCOPED_TRACE("without " + feature);
      ForceWithout(feature);
      test();
      ForceWithout("");
    }
  });
}

class RandomData {
 public:
  explicit RandomData(uint32_t seed) : engine_(seed) {
    ::testing::Test::RecordProperty("seed", static_cast<int>(seed));
  }

  // Returns numbers that are uniformly distributed in [-scale, scale].
  std::vector<float> Floats(int64_t count, float scale = 1) {
    std::uniform_real_distribution<float> uniform(-scale, scale);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& v : values) v = uniform(engine_);
    return values;
  }
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }

 private:
  std::mt19937 engine_;
};

// Returns the largest rounding error of a sum of k products whose magnitudes add up to `magnitude`: k
// roundings of epsilon / 2 each, and a few more for the activation.
inline double SumTolerance(int64_t k, double magnitude) {
  return std::numeric_limits<float>::epsilon() * (0.5 * static_cast<double>(k) + 8) * magnitude + 1e-30;
}

inline double ActivateOracle(const Activation& activation, double x) {
  const double a = activation.alpha, b = activation.beta;
  switch (activation.op) {
    case FusedOp::kRelu: return std::max(x, 0.0);
    case FusedOp::kClip: return std::min(std::max(x, a), b);
    case FusedOp::kLeakyRelu: return x < 0 ? a * x : x;
    case FusedOp::kSigmoid: return 1 / (1 + std::exp(-x));
    case FusedOp::kHardSigmoid: return std::max(0.0, std::min(1.0, a * x + b));
    case FusedOp::kHardSwish: return x * std::max(0.0, std::min(1.0, x / 6 + 0.5));
    case FusedOp::kSwish: return x / (1 + std::exp(-a * x));
    case FusedOp::kTanh: return std::tanh(x);
    case FusedOp::kGelu:
      if (a == 1) return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case FusedOp::kElu: return x < 0 ? a * std::expm1(x) : x;
    case FusedOp::kSoftplus: return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case FusedOp::kMish: return x * std::tanh(std::log1p(std::exp(x)));
    default: return x;
  }
}

inline constexpr FusedOp kAllActivations[] = {
    FusedOp::kNone,        FusedOp::kRelu,      FusedOp::kClip,  FusedOp::kLeakyRelu, FusedOp::kSigmoid,
    FusedOp::kHardSigmoid, FusedOp::kHardSwish, FusedOp::kSwish, FusedOp::kTanh,      FusedOp::kGelu,
    FusedOp::kElu,         FusedOp::kSoftplus,  FusedOp::kMish};

}  // namespace mete
