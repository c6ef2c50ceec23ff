#include "kernels/fast/bytes/byte_conv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "kernels/fast/conv/conv_oracle.h"
#include "mete/error.h"

namespace mete {
namespace {

struct Signs {
  bool inputs, weights, outputs;
};
constexpr Signs kSigns[] = {{false, true, false},
                            {false, false, false},
                            {true, true, true},
                            {true, false, true},
                            {false, true, true}};

// The random operands of a convolution of bytes. Each number is kept as int32_t, and as a byte of its type.
class Problem {
 public:
  Problem(const ConvShape& shape, const Signs& signs, bool weight_zeros, uint32_t seed)
      : s_(shape), signs_(signs), random_(seed), plan_(PlanByteConv(shape, signs.inputs)) {
    in_stride_ = s_.in_pixel_stride ? s_.in_pixel_stride : s_.in_channels;
    out_stride_ = s_.out_pixel_stride ? s_.out_pixel_stride : s_.out_channels;
    const bool large_scales = seed % 8 == 7;
    length_ = s_.in_channels / s_.groups * s_.kernel_height * s_.kernel_width;
    input_ = Bytes(s_.batch * s_.in_height * s_.in_width * in_stride_, signs.inputs);
    weights_ = Bytes(s_.out_channels * length_, signs.weights);
    input_zero_ = Byte(signs.inputs);
    for (int64_t m = 0; m < s_.out_channels; ++m) {
      bias_.push_back(int32_t(random_.Int(-3000, 3000)));
      weight_zeros_.push_back(weight_zeros ? Byte(signs.weights) : signs.weights ? 0 : 128);
      minus_zeros_.push_back(MinusWeightZero(signs.weights, weight_zeros_.back()));
      scale_.push_back(random_.Floats(1, large_scales ? 3 : 0.002f)[0]);
    }
    const ByteWeights weights{weights_.data(), signs.weights};
    packed_.assign(PackedByteConvBytes(plan_), 0x55);
    PackByteConv(plan_, weights, {0, plan_.panels}, packed_.data());
    start_.resize(size_t(s_.out_channels));
    SumByteWeights(plan_, weights, start_.data());
    StartOfByteSums(plan_, start_.data(), bias_.data(), input_zero_, start_.data());
    for (auto* list : {&start_, &minus_zeros_}) list->resize(size_t(s_.out_channels) + 64, -1);
    scale_.resize(size_t(s_.out_channels) + 64, NAN);
    epilogue_.bias = start_.data();
    if (weight_zeros) epilogue_.weight_zeros = minus_zeros_.data();
    epilogue_.zero = Byte(signs.outputs);
    epilogue_.least = float((signs.outputs ? -128 : 0) - epilogue_.zero);
    epilogue_.most = epilogue_.least + 255;
    epilogue_.is_signed = signs.outputs;
    epilogue_.small_scales = !large_scales;
    scratch_.resize(ByteConvScratchBytes(plan_) / sizeof(double) + 1);
  }

  const ByteConvPlan& plan() const { return plan_; }
  int64_t pixels() const { return s_.out_pixels(); }
  int64_t outputs() const { return s_.out_pixels() * out_stride_; }

  template <class T>
  void Run(Range pixels, Range panels, std::vector<T>& out) {
    ByteEpilogue epilogue = epilogue_;
    if (sizeof(T) == 1) epilogue.scale = scale_.data();
    RunByteConv(plan_, input_.data(), input_zero_, packed_.data(), epilogue, pixels, panels, out.data(),
                scratch_.data());
  }
  template <class T>
  std::vector<T> RunWhole() {
    std::vector<T> out(size_t(outputs()), T(77));
    Run({0, pixels()}, {0, plan_.panels}, out);
    return out;
  }

  void CheckSums(const std::vector<int32_t>& out) const {
    ForEach(
        [&](int64_t p, int64_t m, int64_t at) { ASSERT_EQ(out[size_t(at)], Sum(p, m)) << p << ", " << m; },
        [&](int64_t at) { ASSERT_EQ(out[size_t(at)], 77) << "written outside"; });
  }
  void CheckBytes(const std::vector<uint8_t>& out) const {
    ForEach(
        [&](int64_t p, int64_t m, int64_t at) {
          const float steps = std::nearbyint(float(Sum(p, m)) * scale_[size_t(m)]);
          const float level = std::clamp(steps, epilogue_.least, epilogue_.most) + float(epilogue_.zero);
          const int got = signs_.outputs ? int(int8_t(out[size_t(at)])) : int(out[size_t(at)]);
          ASSERT_EQ(got, int(level)) << "pixel " << p << " channel " << m << " sum " << Sum(p, m);
        },
        [&](int64_t at) { ASSERT_EQ(out[size_t(at)], 77) << "written outside"; });
  }

 private:
  int32_t Byte(bool is_signed) { return int32_t(random_.Int(is_signed ? -128 : 0, is_signed ? 127 : 255)); }
  // Every fourth number is the least or the largest one, which saturates sums of 16 bits.
  std::vector<uint8_t> Bytes(int64_t count, bool is_signed) {
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < count; ++i)
      bytes.push_back(
          uint8_t(i % 4 == 0 ? (random_.Int(0, 3) ? 255 : 0) ^ (is_signed ? 0x80 : 0) : Byte(is_signed)));
    return bytes;
  }
  static int32_t As(bool is_signed, uint8_t byte) {
    return is_signed ? int32_t(int8_t(byte)) : int32_t(byte);
  }

  template <class Inside, class Outside>
  void ForEach(const Inside& inside, const Outside& outside) const {
    for (int64_t p = 0; p < s_.out_pixels(); ++p)
      for (int64_t m = 0; m < out_stride_; ++m) {
        if (m < s_.out_channels) inside(p, m, p * out_stride_ + m);
        else outside(p * out_stride_ + m);
        if (::testing::Test::HasFatalFailure()) return;
      }
  }

  int32_t Sum(int64_t p, int64_t m) const {
    const int64_t n = p / (s_.out_height * s_.out_width), y = p / s_.out_width % s_.out_height,
                  x = p % s_.out_width;
    const int64_t gc = s_.in_channels / s_.groups, group = m / (s_.out_channels / s_.groups);
    int64_t sum = bias_[size_t(m)];
    for (int64_t ky = 0; ky < s_.kernel_height; ++ky)
      for (int64_t kx = 0; kx < s_.kernel_width; ++kx) {
        const int64_t iy = y * s_.stride_y - s_.pad_top + ky * s_.dilation_y,
                      ix = x * s_.stride_x - s_.pad_left + kx * s_.dilation_x;
        if (iy < 0 || ix < 0 || iy >= s_.in_height || ix >= s_.in_width) continue;
        for (int64_t c = 0; c < gc; ++c) {
          const int64_t from = ((n * s_.in_height + iy) * s_.in_width + ix) * in_stride_ + group * gc + c;
          const int64_t w = ((m * gc + c) * s_.kernel_height + ky) * s_.kernel_width + kx;
          sum += (As(signs_.inputs, input_[size_t(from)]) - input_zero_) *
                 (As(signs_.weights, weights_[size_t(w)]) - weight_zeros_[size_t(m)]);
        }
      }
    return int32_t(sum);
  }

  ConvShape s_;
  Signs signs_;
  RandomData random_;
  ByteConvPlan plan_;
  int64_t in_stride_, out_stride_, length_;
  std::vector<uint8_t> input_, weights_, packed_;
  int32_t input_zero_;
  std::vector<int32_t> bias_, weight_zeros_, minus_zeros_, start_;
  std::vector<float> scale_;
  ByteEpilogue epilogue_;
  std::vector<double> scratch_;
};

TEST(ByteConv, OddShapesHaveTheExactSums) {
  OnEveryTargetAndFeature([] {
    uint32_t seed = 1;
    for (const ConvShape& shape : OddConvShapes())
      for (const bool zeros : {false, true}) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        Problem problem(shape, kSigns[seed % std::size(kSigns)], zeros, seed);
        problem.CheckSums(problem.RunWhole<int32_t>());
        problem.CheckBytes(problem.RunWhole<uint8_t>());
        ++seed;
        if (::testing::Test::HasFailure()) return;
      }
  });
}

// A channel more or less than vectors have, kernels with taps that fill no quad, and strides.
TEST(ByteConv, DepthwiseShapesHaveTheExactSums) {
  OnEveryTargetAndFeature([] {
    uint32_t seed = 100;
    for (const int64_t c : {2, 15, 16, 31, 64, 65, 130})
      for (const auto& [kernel, stride, dilation] :
           {std::array{3, 1, 1}, {3, 2, 1}, {5, 1, 2}, {1, 1, 1}, {2, 3, 1}})
        for (const bool zeros : {false, true}) {
          SCOPED_TRACE(::testing::Message() << c << " channels, seed " << seed);
          const int64_t pad = kernel / 2;
          Problem problem(Sized({2, 9, 7, c, 1, 1, c, kernel, kernel, stride, stride, dilation, dilation, pad,
                                 pad, c, c + 3, c + 5},
                                pad, pad),
                          kSigns[seed % std::size(kSigns)], zeros, seed);
          EXPECT_TRUE(problem.plan().by_channel);
          problem.CheckSums(problem.RunWhole<int32_t>());
          problem.CheckBytes(problem.RunWhole<uint8_t>());
          ++seed;
          if (::testing::Test::HasFailure()) return;
        }
  });
}

// Rows that are longer than the working memory, with columns that outputs share and with others, kernels of
// more rows than a quad, and of three columns.
TEST(ByteConv, LongRowsOfDepthwiseConvolutionsHaveTheExactSums) {
  OnEveryTargetAndFeature([] {
    uint32_t seed = 300;
    for (const int64_t c : {5, 32, 70})
      for (const auto& [height, width, stride, dilation] : {std::array{3, 3, 1, 1},
                                                            {3, 3, 2, 1},
                                                            {3, 3, 1, 2},
                                                            {3, 3, 3, 1},
                                                            {5, 3, 1, 1},
                                                            {2, 3, 2, 1},
                                                            {5, 5, 1, 1},
                                                            {5, 5, 2, 1},
                                                            {1, 7, 1, 1},
                                                            {9, 2, 1, 1}}) {
        SCOPED_TRACE(::testing::Message()
                     << c << " channels, " << height << "x" << width << ", seed " << seed);
        Problem problem(Sized({1, 6, 211, c, 1, 1, c, height, width, stride, stride, dilation, dilation,
                               height / 2, width / 2, c},
                              height / 2, width / 2),
                        kSigns[seed % std::size(kSigns)], false, seed);
        problem.CheckSums(problem.RunWhole<int32_t>());
        problem.CheckBytes(problem.RunWhole<uint8_t>());
        ++seed;
        if (::testing::Test::HasFailure()) return;
      }
  });
}

// Sums of 16 bits, which some engines use, would saturate.
TEST(ByteConv, TheLargestBytesHaveTheExactSum) {
  OnEveryTargetAndFeature([] {
    for (const Signs& signs : kSigns) {
      const ConvShape shape = Sized({1, 1, 9, 333, 1, 1, 70, 1, 1, 1, 1, 1, 1, 0, 0, 1}, 0, 0);
      const ByteConvPlan plan = PlanByteConv(shape, signs.inputs);
      const std::vector<uint8_t> most(9 * 333, signs.inputs ? 127 : 255),
          weights(70 * 333, signs.weights ? 0x80 : 0);
      std::vector<uint8_t> packed(PackedByteConvBytes(plan));
      const ByteWeights from{weights.data(), signs.weights};
      PackByteConv(plan, from, {0, plan.panels}, packed.data());
      std::vector<int32_t> start(70 + 64), sums(9 * 70);
      SumByteWeights(plan, from, start.data());
      StartOfByteSums(plan, start.data(), nullptr, 0, start.data());
      std::vector<double> scratch(ByteConvScratchBytes(plan) / sizeof(double) + 1);
      ByteEpilogue epilogue;
      epilogue.bias = start.data();
      RunByteConv(plan, most.data(), 0, packed.data(), epilogue, {0, 9}, {0, plan.panels}, sums.data(),
                  scratch.data());
      // Without `weight_zeros`, the zero point of unsigned weights is 128.
      const int32_t expected = 333 * (signs.inputs ? 127 : 255) * -128;
      for (const int32_t sum : sums) ASSERT_EQ(sum, expected) << TargetOf(plan);
    }
  });
}

// Packing brings some input channels of a column into order at a time: columns that are longer than its
// memory, by less than a cell and by more, and kernels with more taps than it has.
TEST(ByteConv, LongColumnsHaveTheExactSums) {
  OnEveryTargetAndFeature([] {
    uint32_t seed = 700;
    for (const ConvShape& shape : {Sized({1, 3, 3, 910, 1, 1, 5, 3, 3, 1, 1, 1, 1, 0, 0, 1}, 0, 0),
                                   Sized({1, 3, 3, 1001, 1, 1, 70, 3, 3, 1, 1, 1, 1, 0, 0, 1}, 0, 0),
                                   Sized({1, 3, 2, 8195, 1, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 1}, 0, 0),
                                   Sized({1, 5, 5, 1200, 1, 1, 6, 4, 4, 1, 1, 1, 1, 0, 0, 2}, 0, 0),
                                   Sized({1, 24, 23, 16, 1, 1, 5, 23, 23, 1, 1, 1, 1, 0, 0, 1}, 0, 0),
                                   Sized({1, 92, 92, 2, 1, 1, 3, 46, 46, 1, 1, 2, 2, 0, 0, 1}, 0, 0)})
      for (int i = 0; i < 2; ++i, ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        Problem problem(shape, kSigns[seed % std::size(kSigns)], i > 0, seed);
        problem.CheckSums(problem.RunWhole<int32_t>());
        if (::testing::Test::HasFailure()) return;
      }
  });
}

TEST(ByteConv, AnyBlocksGiveTheSameBytes) {
  OnEveryTargetAndFeature([] {
    for (const ConvShape& shape : {Sized({2, 9, 8, 12, 1, 1, 150, 3, 3, 1, 1, 1, 1, 1, 1, 2}, 1, 1),
                                   Sized({2, 9, 8, 150, 1, 1, 150, 3, 3, 1, 1, 1, 1, 1, 1, 150}, 1, 1)}) {
      Problem problem(shape, kSigns[0], true, 5);
      RandomData random(6);
      const std::vector<uint8_t> whole = problem.RunWhole<uint8_t>();
      std::vector<uint8_t> out(whole.size(), 77);
      const int64_t panels = problem.plan().panels;
      for (int64_t p = 0; p < panels;) {
        const Range columns{p, random.Int(p + 1, panels)};
        for (int64_t row = 0; row < problem.pixels();) {
          const Range rows{row, random.Int(row + 1, problem.pixels())};
          problem.Run(rows, columns, out);
          row = rows.end;
        }
        p = columns.end;
      }
      EXPECT_EQ(out, whole);
    }
  });
}

TEST(ByteConv, NoByteBehindTheInputIsRead) {
  OnEveryTargetAndFeature([] {
    const ConvShape shape = Sized({1, 1, 3, 5, 1, 1, 7, 1, 1, 1, 1, 1, 1, 0, 0, 1}, 0, 0);
    const ByteConvPlan plan = PlanByteConv(shape, false);
    // The sanitizers find a read behind this buffer.
    const auto input = std::make_unique<uint8_t[]>(15);
    std::fill_n(input.get(), 15, uint8_t{1});
    const std::vector<int8_t> weights(7 * 5, 1);
    const ByteWeights from{weights.data(), true};
    std::vector<uint8_t> packed(PackedByteConvBytes(plan));
    PackByteConv(plan, from, {0, plan.panels}, packed.data());
    std::vector<int32_t> start(7 + 64), sums(3 * 7);
    SumByteWeights(plan, from, start.data());
    StartOfByteSums(plan, start.data(), nullptr, 0, start.data());
    std::vector<double> scratch(ByteConvScratchBytes(plan) / sizeof(double) + 1);
    ByteEpilogue epilogue;
    epilogue.bias = start.data();
    RunByteConv(plan, input.get(), 0, packed.data(), epilogue, {0, 3}, {0, plan.panels}, sums.data(),
                scratch.data());
    for (const int32_t sum : sums) EXPECT_EQ(sum, 5);
  });
}

TEST(Features, CanBeForcedAway) {
  const std::map<std::string, Feature> features{{"avx512vnni", Feature::kAvx512Vnni},
                                                {"avxvnni", Feature::kAvxVnni},
                                                {"avx512vbmi", Feature::kAvx512Vbmi},
                                                {"avx512bf16", Feature::kAvx512Bf16},
                                                {"dotprod", Feature::kDotprod},
                                                {"i8mm", Feature::kI8mm},
                                                {"bf16", Feature::kBf16}};
  for (const std::string& name : AvailableFeatures()) {
    ForceWithout(name);
    EXPECT_FALSE(Has(features.at(name))) << name;
    ForceWithout("");
    EXPECT_TRUE(Has(features.at(name))) << name;
  }
  try {
    ForceWithout("avx512vnni,nonsense");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("nonsense"), std::string::npos) << error.what();
  }
  ForceWithout("");
}

}  // namespace
}  // namespace mete
