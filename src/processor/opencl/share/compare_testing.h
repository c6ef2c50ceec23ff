// Expects what a share computes to be what the reference kernels compute, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "graph/flops.h"
#include "kernels/reference/evaluate_testing.h"
#include "processor/opencl/share/run_share_testing.h"

namespace mete::opencl {

inline double LargestOf(const std::vector<Tensor>& tensors) {
  double largest = 1;
  for (const Tensor& t : tensors)
    if (t.has_value() && t.type() == DType::kF32)
      for (int64_t i = 0; i < t.elements(); ++i)
        largest = std::max(largest, std::abs(double{t.as<float>()[i]}));
  return largest;
}

// The products that an output element of the node is the sum of; at least 1.
inline double TermsOf(const Graph& graph, const Node& node) {
  const Value& output = graph.value(node.outputs[0]);
  if (!output.shape.known()) return 1;
  return std::max(1., double(Flops(graph, node)) / 2 / std::max(1., double(output.shape.Elements())));
}

// How far a share may be from the reference in f32, or with halves in memory.
struct Tolerance {
  double f32 = 0, f16 = 0;
  double Of(DType storage) const { return storage == DType::kF16 ? f16 : f32; }
};

// Of a node whose inputs are at most `largest`: a sum of products of them is rounded `terms` / 2 times, a
// function by 16 units in the last place; halves round an operand, the other one and the result.
inline Tolerance ToleranceOfNode(double terms, double largest) {
  const double magnitude = terms * largest * largest;
  const double f32 = std::numeric_limits<float>::epsilon() * (0.5 * terms + 16) * magnitude;
  return {f32, f32 + 3 * 0x1p-11 * magnitude};
}

// Returns the largest difference of two tensors of bytes.
inline int LevelsApart(const Tensor& a, const Tensor& b) {
  int most = 0;
  for (int64_t i = 0; i < a.elements(); ++i)
    most =
        std::max(most, a.type() == DType::kI8 ? std::abs(int{a.as<int8_t>()[i]} - int{b.as<int8_t>()[i]})
                                              : std::abs(int{a.as<uint8_t>()[i]} - int{b.as<uint8_t>()[i]}));
  return most;
}

// Floats may differ by `tolerance`, bytes by `levels`, and others not at all.
inline void ExpectNear(const std::vector<Tensor>& want, const std::vector<Tensor>& got, double tolerance,
                       int levels = 0) {
  ASSERT_EQ(want.size(), got.size());
  for (size_t o = 0; o < want.size(); ++o) {
    ASSERT_EQ(want[o].type(), got[o].type());
    ASSERT_EQ(want[o].shape(), got[o].shape());
    if (levels > 0 && (want[o].type() == DType::kU8 || want[o].type() == DType::kI8)) {
      ASSERT_LE(LevelsApart(want[o], got[o]), levels) << "output " << o;
      continue;
    }
    if (want[o].type() != DType::kF32) {
      const bool same = want[o].bytes() == 0 || !std::memcmp(want[o].data(), got[o].data(), want[o].bytes());
      ASSERT_TRUE(same) << "output " << o;
      continue;
    }
    for (int64_t i = 0; i < want[o].elements(); ++i)
      ASSERT_NEAR(want[o].as<float>()[i], got[o].as<float>()[i], tolerance)
          << "output " << o << " element " << i;
  }
}

}  // namespace mete::opencl
