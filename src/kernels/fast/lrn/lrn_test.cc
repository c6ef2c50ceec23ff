#include "kernels/fast/lrn/lrn.h"

#include <gtest/gtest.h>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

TEST(LrnF32, MatchesDoubleOverOddChannelsAndSizes) {
  OnEveryTarget([](const std::string&) {
    for (const int64_t channels : {1, 3, 16, 33, 96})
      for (const int64_t size : {1, 2, 5, 8})
        for (const float beta : {0.75f, 0.5f, 1.3f}) {
          const LrnShape shape{channels, size, 2.0f, beta, 1.5f};
          const std::vector<float> x =
              RandomData(static_cast<uint32_t>(channels * size)).Floats(3 * channels, 3);
          std::vector<float> y(x.size());
          RunLrn(shape, x.data(), {0, 1}, y.data());
          RunLrn(shape, x.data(), {1, 3}, y.data());
          for (int64_t p = 0; p < 3; ++p)
            for (int64_t c = 0; c < channels; ++c) {
              double sum = 0;
              for (int64_t j = std::max<int64_t>(0, c - (size - 1) / 2);
                   j <= std::min(channels - 1, c + size / 2); ++j)
                sum += double(x[p * channels + j]) * x[p * channels + j];
              const double expected = x[p * channels + c] *
                                      std::pow(shape.bias + shape.alpha / double(size) * sum, -double(beta));
              // The power multiplies the sum's relative error by beta; Exp and Log add a few epsilons times
              // |log|.
              ASSERT_NEAR(y[p * channels + c], expected, std::abs(expected) * (SumTolerance(size, 2) + 4e-6))
                  << channels << " " << size;
            }
        }
  });
}

TEST(LrnF32, MayWriteOverItsInput) {
  std::vector<float> x = RandomData(1).Floats(70), y(70);
  const LrnShape shape{35, 5, 1e-2f, 0.75f, 1};
  RunLrn(shape, x.data(), {0, 2}, y.data());
  RunLrn(shape, x.data(), {0, 2}, x.data());
  EXPECT_EQ(x, y);
}

}  // namespace
}  // namespace mete
