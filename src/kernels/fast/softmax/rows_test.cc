#include "kernels/fast/softmax/rows.h"

#include <gtest/gtest.h>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

constexpr int64_t kRows = 3;
constexpr int64_t kLengths[] = {1, 3, 16, 31, 64, 77, 1000};

TEST(RowsF32, SoftmaxAndItsLogarithmMatchDouble) {
  OnEveryTarget([](const std::string&) {
    for (const int64_t length : kLengths) {
      const std::vector<float> x = RandomData(static_cast<uint32_t>(length)).Floats(kRows * length, 30);
      std::vector<float> soft(x.size()), log_soft(x.size());
      for (const Range rows : {Range{0, 1}, Range{1, kRows}}) {
        SoftmaxRows(x.data(), length, rows, soft.data());
        LogSoftmaxRows(x.data(), length, rows, log_soft.data());
      }
      for (int64_t r = 0; r < kRows; ++r) {
        double most = -1e9, sum = 0;
        for (int64_t i = 0; i < length; ++i) most = std::max<double>(most, x[r * length + i]);
        for (int64_t i = 0; i < length; ++i) sum += std::exp(x[r * length + i] - most);
        for (int64_t i = 0; i < length; ++i) {
          const double log_expected = x[r * length + i] - most - std::log(sum);
          const double expected = std::exp(log_expected);
          // x - max is rounded once (60 * 6e-8) before the exponential.
          ASSERT_NEAR(soft[r * length + i], expected, expected * (5e-6 + SumTolerance(length, 1))) << length;
          ASSERT_NEAR(log_soft[r * length + i], log_expected, 1e-5 + SumTolerance(length, 1)) << length;
        }
      }
    }
  });
}

TEST(RowsF32, SoftmaxOfMaskedAndOfNanRows) {
  OnEveryTarget([](const std::string&) {
    std::vector<float> x = {0, -INFINITY, 0, -INFINITY, 0}, out(5);
    SoftmaxRows(x.data(), 5, {0, 1}, out.data());
    EXPECT_EQ(out[1], 0);
    EXPECT_NEAR(out[0], 1.0 / 3, 1e-6);
    x[4] = NAN;
    SoftmaxRows(x.data(), 5, {0, 1}, out.data());
    for (const float v : out) EXPECT_TRUE(std::isnan(v));
  });
}

TEST(RowsF32, NormalisationMatchesDouble) {
  OnEveryTarget([](const std::string&) {
    for (const int64_t length : kLengths) {
      RandomData random(static_cast<uint32_t>(length) + 1);
      std::vector<float> x = random.Floats(kRows * length);
      for (float& v : x) v += 5;  // a large mean, which would reveal cancellation
      const std::vector<float> scale = random.Floats(length), shift = random.Floats(length);
      std::vector<float> layer(x.size()), rms(x.size());
      LayerNormRows(x.data(), length, scale.data(), shift.data(), 1e-2f, {0, kRows}, layer.data());
      RmsNormRows(x.data(), length, scale.data(), 1e-2f, {0, kRows}, rms.data());
      for (int64_t r = 0; r < kRows; ++r) {
        double mean = 0, variance = 0, squares = 0;
        for (int64_t i = 0; i < length; ++i) mean += x[r * length + i] / static_cast<double>(length);
        for (int64_t i = 0; i < length; ++i) {
          variance += std::pow(x[r * length + i] - mean, 2) / static_cast<double>(length);
          squares += std::pow(x[r * length + i], 2) / static_cast<double>(length);
        }
        const double tolerance = 10 * SumTolerance(length, 10);
        for (int64_t i = 0; i < length; ++i) {
          const double value = x[r * length + i];
          ASSERT_NEAR(layer[r * length + i],
                      (value - mean) / std::sqrt(variance + 1e-2f) * scale[i] + shift[i], tolerance)
              << length;
          ASSERT_NEAR(rms[r * length + i], value / std::sqrt(squares + 1e-2f) * scale[i], tolerance)
              << length;
        }
      }
    }
  });
}

}  // namespace
}  // namespace mete
