// Winograd's convolution of bytes with sums in f32.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "kernels/fast/winograd/winograd_oracle.h"

namespace mete {
namespace {

// Inputs are whole numbers of steps from the zero point, weights are those minus theirs.
constexpr float kMost = 100;
float Whole(float x) { return std::nearbyint(x * kMost); }

class ByteProblem : public WinogradProblem {
 public:
  ByteProblem(const ConvShape& shape, int m, bool signed_input, bool signed_output, uint32_t seed)
      : WinogradProblem(shape, m, FusedOp::kNone, seed, Whole) {
    RandomData random(seed + 7);
    bytes_.signed_input = signed_input;
    bytes_.input_zero = int32_t(random.Int(100, 155)) - (signed_input ? 128 : 0);
    for (size_t i = 0; i < inputs(); ++i) input_.push_back(uint8_t(int(input()[i]) + bytes_.input_zero));
    // Most levels of sums of random signs are in range.
    const double length = 9.0 * double(shape.in_channels);
    for (int64_t c = 0; c < shape.out_channels; ++c) {
      bias_.push_back(float(random.Int(-3000, 3000)));
      scale_.push_back(float(double(random.Int(50, 150)) / (kMost * kMost * std::sqrt(length))));
    }
    for (int64_t i = 0; i < 256; ++i) table_.push_back(uint8_t(i * 7 + 3));
    bytes_.input = input_.data();
    bytes_.bias = bias_.data();
    bytes_.scale = scale_.data();
    bytes_.signed_output = signed_output;
    bytes_.zero = int32_t(random.Int(80, 160)) - (signed_output ? 128 : 0);
    bytes_.least = float((signed_output ? -128 : 0) + 3 - bytes_.zero);
    bytes_.most = bytes_.least + 249;
    if (seed % 3 == 0) bytes_.table = table_.data();
  }

  void RunBytes(Range tiles, Range panels, std::vector<uint8_t>& out) {
    WinogradBytes bytes = bytes_;
    bytes.output = out.data();
    RunWinograd(plan(), bytes, packed(), tiles, panels, scratch());
  }
  std::vector<uint8_t> BlankBytes() const { return std::vector<uint8_t>(Blank().size(), 77); }
  std::vector<uint8_t> RunWholeBytes() {
    std::vector<uint8_t> out = BlankBytes();
    RunBytes({0, plan().tiles}, {0, plan().panels}, out);
    return out;
  }
  std::vector<uint8_t> RunInStages() {
    std::vector<float> transformed(TransformedWinogradBytes(plan()) / sizeof(float)),
        products(WinogradProductsBytes(plan()) / sizeof(float));
    const WinogradStages stages{transformed.data(), products.data()};
    std::vector<uint8_t> out = BlankBytes();
    WinogradBytes bytes = bytes_;
    bytes.output = out.data();
    TransformWinograd(plan(), bytes, {0, plan().tiles}, stages);
    MultiplyWinograd(plan(), packed(), {0, plan().positions * plan().panels}, stages);
    FinishWinograd(plan(), stages, bytes, {0, plan().tiles});
    return out;
  }

  // Expects the levels of the exact sums, or their neighbours where the sum is as near to the middle between
  // two levels as the error's bound. Returns the number of neighbours.
  int64_t CheckBytes(const std::vector<uint8_t>& out) const {
    const int64_t channels = shape().out_channels,
                  stride = shape().out_pixel_stride ? shape().out_pixel_stride : channels;
    const std::vector<double> bounds = Bounds();
    int64_t neighbours = 0;
    for (int64_t p = 0; p < shape().out_pixels(); ++p) {
      for (int64_t c = channels; c < stride; ++c) EXPECT_EQ(out[size_t(p * stride + c)], 77) << "outside";
      for (int64_t c = 0; c < channels; ++c) {
        const double sum = Sum(p, c).sum + double(bias_[size_t(c)]);
        const float level = float(sum) * scale_[size_t(c)];
        const uint8_t got = out[size_t(p * stride + c)];
        if (got == ByteOf(std::nearbyint(level))) continue;
        ++neighbours;
        // Rounding the sum with its bias, and the scaled one, adds two roundings to the bound.
        const double error =
            bounds[size_t(p * channels + c)] * double(scale_[size_t(c)]) + SumTolerance(2, std::abs(level));
        const float other = std::nearbyint(level) + (level > std::nearbyint(level) ? 1.f : -1.f);
        const double from_middle = 0.5 - std::abs(double(level) - double(std::nearbyint(level)));
        EXPECT_EQ(got, ByteOf(other)) << "pixel " << p << " channel " << c << " level " << level;
        EXPECT_LE(from_middle, error) << "pixel " << p << " channel " << c << " level " << level;
        if (::testing::Test::HasFailure()) return neighbours;
      }
    }
    return neighbours;
  }

  // Returns the largest bound of the header before the data are known, over all channels.
  double LevelsOfHeader() const {
    double most = 0;
    for (int64_t c = 0; c < shape().out_channels; ++c) {
      std::array<double, 9> sums{};
      for (int64_t i = 0; i < shape().in_channels * 9; ++i)
        sums[size_t(i % 9)] += std::abs(double(weights()[c * shape().in_channels * 9 + i]));
      most = std::max(most, WinogradLevels(plan().tile, shape().in_channels, double(kMost), sums,
                                           double(scale_[size_t(c)])));
    }
    return most;
  }
  double LargestBound() const {
    const std::vector<double> bounds = Bounds();
    double most = 0;
    for (size_t i = 0; i < bounds.size(); ++i)
      most = std::max(most, bounds[i] * double(scale_[i % scale_.size()]));
    return most;
  }

 private:
  uint8_t ByteOf(float level) const {
    const auto byte = uint8_t(int(std::clamp(level, bytes_.least, bytes_.most)) + bytes_.zero);
    return bytes_.table ? table_[byte] : byte;
  }

  WinogradBytes bytes_;
  std::vector<uint8_t> input_, table_;
  std::vector<float> bias_, scale_;
};

class WinogradOfBytes : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Tiles, WinogradOfBytes, ::testing::Values(2, 4));

TEST_P(WinogradOfBytes, OddShapesGiveTheLevelsOrNeighboursNextToAMiddle) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 1;
    int64_t outputs = 0, neighbours = 0;
    for (const ConvShape& shape : WinogradShapes()) {
      for (const bool signed_input : {false, true}) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << (signed_input ? ", i8" : ", u8"));
        ByteProblem problem(shape, GetParam(), signed_input, seed / 2 % 2, seed);
        const std::vector<uint8_t> out = problem.RunWholeBytes();
        neighbours += problem.CheckBytes(out);
        outputs += int64_t(out.size());
        EXPECT_EQ(problem.RunInStages(), out);
        ++seed;
        if (::testing::Test::HasFailure()) return;
      }
    }
    EXPECT_LE(neighbours, outputs / 500) << "of " << outputs;
  });
}

TEST_P(WinogradOfBytes, ManyChannelsGiveTheLevelsOrNeighboursNextToAMiddle) {
  OnEveryTarget([](const std::string&) {
    for (const int64_t channels : {64, 512}) {
      ByteProblem problem(Three(1, 12, 12, channels, 32, 1, 1), GetParam(), false, false, 5);
      const std::vector<uint8_t> out = problem.RunWholeBytes();
      EXPECT_LE(problem.CheckBytes(out), int64_t(out.size()) / 200) << channels << " channels";
    }
  });
}

TEST_P(WinogradOfBytes, AnyBlocksStitchedTogetherGiveTheSameBits) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 31;
    for (const ConvShape& shape : WinogradShapes()) {
      ++seed;
      ByteProblem problem(shape, GetParam(), seed % 2, seed / 2 % 2, seed);
      const std::vector<uint8_t> whole = problem.RunWholeBytes();
      RandomData random(seed);
      std::vector<uint8_t> stitched = problem.BlankBytes();
      for (int64_t t = 0; t < problem.plan().tiles;) {
        const int64_t end = std::min(problem.plan().tiles, t + random.Int(1, 20));
        for (int64_t q = 0; q < problem.plan().panels; ++q) problem.RunBytes({t, end}, {q, q + 1}, stitched);
        t = end;
      }
      ASSERT_EQ(stitched, whole) << "seed " << seed;
    }
  });
}

// The bound for any data is not below that for these data, and not so far above that it says nothing.
TEST_P(WinogradOfBytes, TheBoundForAnyDataHoldsForThese) {
  for (const int64_t channels : {3, 64, 512}) {
    const ByteProblem problem(Three(1, 12, 12, channels, 32, 1, 1), GetParam(), false, false, 9);
    EXPECT_GE(problem.LevelsOfHeader(), problem.LargestBound()) << channels << " channels";
    EXPECT_LE(problem.LevelsOfHeader(), 20 * problem.LargestBound()) << channels << " channels";
  }
}

}  // namespace
}  // namespace mete
