#include "kernels/fast/reuse/reuse.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/fast/target/target.h"

namespace mete {
namespace {

TEST(Reuse, IsTheSumThatItSaysOnEveryTarget) {
  std::vector<float> data(3 * kReuseStep);
  for (size_t i = 0; i < data.size(); ++i) data[i] = float(i % 17) / 8;
  for (const std::string& target : AvailableTargets()) {
    ForceTarget(target);
    for (int multiply_adds : {0, 1, 2, 8, 128}) {
      double expected = 0;
      for (double y : data) {
        for (int m = 0; m < multiply_adds; ++m) y = y * 0.75 + 0.25;
        expected += y;
      }
      EXPECT_NEAR(ReadAndCompute(data.data(), data.size(), multiply_adds), expected, 1e-5 * expected)
          << target << " " << multiply_adds;
    }
  }
  ForceTarget("");
}

TEST(Reuse, CountsItsOperations) {
  EXPECT_EQ(ReuseRate(0), 0.25);
  EXPECT_EQ(ReuseRate(8), 4.25);
}

}  // namespace
}  // namespace mete
