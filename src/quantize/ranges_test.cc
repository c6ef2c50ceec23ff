#include "quantize/ranges.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace mete {
namespace {

std::vector<float> Normal(size_t count, float scale, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> d(0, scale);
  std::vector<float> values(count);
  for (float& v : values) v = d(random);
  return values;
}

Histogram Of(std::span<const float> values) {
  Histogram h;
  h.Add(values);
  return h;
}

// Ten million values of a normal distribution, and one that is far out: so rare that cutting it off costs
// less than the width that it asks of each level.
Histogram WithOutlier(float outlier) {
  const std::vector<float> values = Normal(100000, 1, 4);
  Histogram h = Of(std::span(&outlier, 1));
  for (int i = 0; i < 100; ++i) h.Add(values);
  return h;
}

int64_t Counted(const Histogram& h) {
  int64_t all = h.zeros();
  for (const int64_t n : h.bins()) all += n;
  return all;
}

TEST(Histogram, CountsEachValueOnceInItsBin) {
  std::vector<float> values = Normal(5000, 3, 1);
  for (size_t i = 0; i < values.size(); i += 7) values[i] = 0;
  const Histogram h = Of(values);
  EXPECT_EQ(h.count(), 5000);
  EXPECT_EQ(Counted(h), 5000);
  EXPECT_EQ(h.low(), *std::min_element(values.begin(), values.end()));
  EXPECT_EQ(h.high(), *std::max_element(values.begin(), values.end()));
  for (const float v : values) {
    if (v == 0) continue;
    const auto bin = size_t(int(std::floor(double(v) / h.width())) + Histogram::kSide);
    ASSERT_LT(bin, h.bins().size());
    ASSERT_GT(h.bins()[bin], 0) << v;
  }
}

TEST(Histogram, TheOrderOfTensorsDoesNotMatter) {
  const std::vector<float> small = Normal(1000, 0.01f, 1), large = Normal(1000, 50, 2);
  Histogram a = Of(small), b = Of(large), merged = Of(small);
  a.Add(large);
  b.Add(small);
  merged.Merge(Of(large));
  for (const Histogram* other : {&b, &merged}) {
    EXPECT_EQ(a.width(), other->width());
    EXPECT_TRUE(std::ranges::equal(a.bins(), other->bins()));
    EXPECT_EQ(a.low(), other->low());
    EXPECT_EQ(a.high(), other->high());
    EXPECT_EQ(a.count(), other->count());
  }
}

TEST(Histogram, ValuesAtPowersOfTwoAndTinyOnesHaveABin) {
  for (const float v : {1.0f, -1.0f, 2048.0f, -4096.0f, 1e-40f, -1e-30f, 3e38f, -3e38f}) {
    const Histogram h = Of(std::span(&v, 1));
    EXPECT_EQ(Counted(h), 1) << v;
  }
}

TEST(Histogram, LeavesOutWhatIsNoNumber) {
  const float values[] = {1, std::numeric_limits<float>::infinity(), -2, std::nanf("")};
  const Histogram h = Of(values);
  EXPECT_EQ(h.not_finite(), 2);
  EXPECT_EQ(h.count(), 2);
  EXPECT_EQ(Counted(h), 2);
  EXPECT_EQ(h.low(), -2);
  EXPECT_EQ(h.high(), 1);
  EXPECT_EQ(Of(std::span(values).subspan(1, 1)).count(), 0);
}

TEST(RangeOf, MinMaxContainsZero) {
  const float values[] = {3, 5, 4};
  EXPECT_EQ(RangeOf(Of(values), {RangeMethod::kMinMax}), (ValueRange{0, 5}));
  const float negative[] = {-3, -5};
  EXPECT_EQ(RangeOf(Of(negative), {RangeMethod::kMinMax}), (ValueRange{-5, 0}));
  EXPECT_TRUE(RangeOf(Of(std::vector<float>(9)), {RangeMethod::kMinMax}).empty());
}

TEST(RangeOf, PercentileLeavesOutTheFarthest) {
  std::vector<float> values(10000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i + 1) / 10000;
  values.back() = 100;
  const Histogram h = Of(values);
  const ValueRange r = RangeOf(h, {RangeMethod::kPercentile, 99.9});
  EXPECT_EQ(r.low, 0);
  EXPECT_NEAR(r.high, 1, h.width());
  EXPECT_EQ(RangeOf(h, {RangeMethod::kPercentile, 100}).high, 100);
}

// The noise of 256 levels over values that are spread evenly is that of the formula step^2 / 12.
TEST(NoiseOf, IsThatOfTheQuantizedValues) {
  const std::vector<float> values = Normal(200000, 1, 3);
  const Histogram h = Of(values);
  for (const ValueRange& r : {ValueRange{-4, 4}, ValueRange{-2, 3}, ValueRange{-1, 1}}) {
    const ActivationScale s = ScaleOf(r, DType::kU8);
    double noise = 0;
    for (const float v : values) {
      const double level = std::clamp(std::nearbyint(v / s.scale) + s.zero, 0.0f, 255.0f);
      const double e = double(v) - (level - s.zero) * double(s.scale);
      noise += e * e;
    }
    noise /= double(values.size());
    EXPECT_NEAR(NoiseOf(h, r), noise, 0.05 * noise) << r.low << " " << r.high;
  }
}

TEST(RangeOf, TheLeastSquaredErrorIsNoWorseThanOthers) {
  const Histogram h = WithOutlier(40);
  const double least = NoiseOf(h, RangeOf(h, {RangeMethod::kMse}));
  for (const RangeMethod m : {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kEntropy})
    EXPECT_LE(least, NoiseOf(h, RangeOf(h, {m, 99.99})) * 1.001) << NameOf(m);
  EXPECT_LT(RangeOf(h, {RangeMethod::kMse}).high, 20);
}

TEST(RangeOf, EntropyCutsALongTail) {
  EXPECT_LT(RangeOf(WithOutlier(100), {RangeMethod::kEntropy}).high, 50);
}

// All values but one lie in few bins, about which a histogram says nothing.
TEST(RangeOf, EntropyHasABinForEachLevel) {
  const Histogram h = WithOutlier(40000);
  const ValueRange r = RangeOf(h, {RangeMethod::kEntropy});
  EXPECT_GE(r.high - r.low, 255 * h.width());
}

TEST(RangeOf, AutoKeepsMinMaxUnlessAnotherIsClearlyBetter) {
  const Histogram plain = Of(Normal(100000, 1, 6));
  EXPECT_EQ(RangeOf(plain, {RangeMethod::kAuto}), RangeOf(plain, {RangeMethod::kMinMax}));
  EXPECT_LT(RangeOf(WithOutlier(100), {RangeMethod::kAuto}).high, 50);
}

TEST(RangeMethods, NamesComeBack) {
  for (const std::string_view name : RangeMethodNames()) EXPECT_EQ(NameOf(RangeMethodOf(name)), name);
}

}  // namespace
}  // namespace mete
