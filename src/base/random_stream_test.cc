#include "base/random_stream.h"

#include <gtest/gtest.h>

#include <vector>

namespace mete {
namespace {

// The first numbers of SplitMix64 with the seed 1234567, as its implementations publish them.
TEST(RandomStream, MixesAsSplitMix64) {
  EXPECT_EQ(MixBits(1234567 + kMixStep), 6457827717110365317u);
  EXPECT_EQ(MixBits(1234567 + 2 * kMixStep), 3203168211198807973u);
}

// The bounds are six standard deviations of each moment; the moments of uniform numbers are those of [0, 1).
TEST(RandomStream, HasTheMomentsOfItsDistributions) {
  constexpr int kCount = 100000;
  const double root = std::sqrt(double(kCount));
  for (const float seed : {0.0f, 1.0f, 2.0f, -3.5f}) {
    const RandomStream random(seed);
    double sum = 0, squares = 0, neighbours = 0, normal = 0, normal_squares = 0, fourth = 0;
    for (uint64_t i = 0; i < kCount; ++i) {
      const double u = random.Uniform(i) - 0.5, n = random.Normal(i);
      ASSERT_GE(u, -0.5);
      ASSERT_LT(u, 0.5);
      sum += u;
      squares += u * u;
      neighbours += u * (random.Uniform(i + 1) - 0.5);
      normal += n;
      normal_squares += n * n;
      fourth += n * n * n * n;
    }
    EXPECT_NEAR(sum / kCount, 0, 6 * std::sqrt(1.0 / 12) / root);
    EXPECT_NEAR(squares / kCount, 1.0 / 12, 6 * std::sqrt(1.0 / 180) / root);
    EXPECT_NEAR(neighbours / kCount, 0, 6.0 / 12 / root);
    EXPECT_NEAR(normal / kCount, 0, 6 / root);
    EXPECT_NEAR(normal_squares / kCount, 1, 6 * std::sqrt(2.0) / root);
    EXPECT_NEAR(fourth / kCount, 3, 6 * std::sqrt(96.0) / root);
  }
}

TEST(RandomStream, SeedsGiveDifferentNumbers) {
  const RandomStream a(0), b(1);
  double products = 0;
  constexpr int kCount = 10000;
  for (uint64_t i = 0; i < kCount; ++i) products += (a.Uniform(i) - 0.5) * (b.Uniform(i) - 0.5);
  EXPECT_NEAR(products / kCount, 0, 6.0 / 12 / std::sqrt(double(kCount)));
  EXPECT_NE(SeedOf("noise"), SeedOf("noise_1"));
  EXPECT_EQ(SeedOf("noise"), std::floor(SeedOf("noise")));
  EXPECT_LT(SeedOf("noise"), 0x1p24f);
}

}  // namespace
}  // namespace mete
