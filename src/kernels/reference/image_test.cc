#include <gtest/gtest.h>

#include <cmath>

#include "kernels/reference/reference_testing.h"

namespace mete {
namespace {

using Vf = std::vector<float>;

Tensor L(const std::vector<int64_t>& values) { return Tensor::Ints(values); }
const Tensor kNone;

void ExpectNear(const Vf& got, const Vf& expected, float tolerance = 1e-5f) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], tolerance) << "element " << i;
}

Attributes Modes(const char* mode, const char* coordinates) {
  return Attrs({{"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string(coordinates)}});
}

Vf Resize1d(Attributes attributes, const Vf& x, int64_t size) {
  return RunFor<float>("Resize", attributes, {F({int64_t(x.size())}, x), kNone, kNone, L({size})});
}

TEST(ResizeKernel, NearestModesRoundTheirWay) {
  // In half_pixel mode, 4 pixels of 8 have the source positions 0.5, 2.5, 4.5, 6.5.
  const Vf x = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto run = [&](const char* nearest) {
    Attributes a = Modes("nearest", "half_pixel");
    a.Set("nearest_mode", std::string(nearest));
    return Resize1d(a, x, 4);
  };
  EXPECT_EQ(run("round_prefer_floor"), (Vf{0, 2, 4, 6}));
  EXPECT_EQ(run("round_prefer_ceil"), (Vf{1, 3, 5, 7}));
  EXPECT_EQ(run("floor"), (Vf{0, 2, 4, 6}));
  EXPECT_EQ(run("ceil"), (Vf{1, 3, 5, 7}));
}

TEST(ResizeKernel, NearestDoublesImages) {
  const Tensor scales = F({4}, {1, 1, 2, 2});
  EXPECT_EQ(
      RunFor<float>("Resize", Modes("nearest", "asymmetric"), {F({1, 1, 2, 2}, {1, 2, 3, 4}), kNone, scales}),
      (Vf{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}));
}

TEST(ResizeKernel, LinearCoordinates) {
  ExpectNear(Resize1d(Modes("linear", "half_pixel"), {1, 2}, 4), {1, 1.25f, 1.75f, 2});
  ExpectNear(Resize1d(Modes("linear", "align_corners"), {1, 2}, 4), {1, 1 + 1 / 3.f, 1 + 2 / 3.f, 2});
  ExpectNear(Resize1d(Modes("linear", "asymmetric"), {1, 2}, 4), {1, 1.5f, 2, 2});
  ExpectNear(Resize1d(Modes("linear", "half_pixel"), {1, 2, 3, 4}, 1), {2.5f});
  ExpectNear(Resize1d(Modes("linear", "pytorch_half_pixel"), {1, 2, 3, 4}, 1), {1});
  ExpectNear(Resize1d(Modes("linear", "align_corners"), {1, 2, 3, 4}, 1), {1});
}

TEST(ResizeKernel, HalfPixelSymmetricCentersTheOutput) {
  // 4 * 0.6 = 2.4 pixels, of which 2 are kept. The source positions are those of half_pixel plus
  // (4 - 2 / 0.6) / 2.
  const auto a = Modes("linear", "half_pixel_symmetric");
  ExpectNear(RunFor<float>("Resize", a, {F({4}, {1, 2, 3, 4}), kNone, F({1}, {0.6f})}),
             {1.6666667f, 3.3333333f});
}

TEST(ResizeKernel, CropsAndExtrapolates) {
  Attributes a = Modes("linear", "tf_crop_and_resize");
  a.Set("extrapolation_value", 9.f);
  EXPECT_EQ(RunFor<float>("Resize", a, {F({3}, {1, 2, 3}), F({2}, {0.5f, 1.5f}), kNone, L({3})}),
            (Vf{2, 3, 9}));
  EXPECT_EQ(RunFor<float>("Resize", a, {F({3}, {1, 2, 3}), F({2}, {NAN, 1}), kNone, L({2})}), (Vf{9, 9}));
  a.Set("mode", std::string("nearest"));
  EXPECT_EQ(RunFor<float>("Resize", a, {F({3}, {1, 2, 3}), F({2}, {0.5f, 1.5f}), kNone, L({3})}),
            (Vf{2, 3, 9}));
}

// The weights of Keys' cubic with a = -0.75 at 1/2 are -3/32, 19/32, 19/32, -3/32.
TEST(ResizeKernel, CubicClampsOrExcludesWhatIsOutside) {
  Attributes a = Modes("cubic", "asymmetric");
  ExpectNear(Resize1d(a, {1, 2, 4, 8}, 8), {1, (-3 + 19 + 38 - 12) / 32.f, 2, (-3 + 38 + 76 - 24) / 32.f, 4,
                                            (-6 + 76 + 152 - 24) / 32.f, 8, (-12 + 152 + 152 - 24) / 32.f});
  a.Set("exclude_outside", int64_t(1));
  ExpectNear(Resize1d(a, {1, 2, 4, 8}, 8), {1, (19 + 38 - 12) / 35.f, 2, (-3 + 38 + 76 - 24) / 32.f, 4,
                                            (-6 + 76 + 152) / 35.f, 8, (-12 + 152) / 16.f});
}

// Halving stretches the triangle to two pixels; the weights are 1, 3, 3, 1 over 8.
TEST(ResizeKernel, AntialiasWidensTheFilter) {
  Attributes a = Modes("linear", "half_pixel");
  a.Set("antialias", int64_t(1));
  ExpectNear(Resize1d(a, {0, 8, 16, 24}, 2), {(0 + 0 + 24 + 16) / 8.f, (8 + 48 + 72 + 24) / 8.f});
}

TEST(ResizeKernel, AxesMayBeReorderedAndAnyOrderGivesTheSame) {
  Vf x(5 * 7);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(i * i % 11);
  Attributes a = Modes("cubic", "half_pixel"), b = a;
  a.Set("axes", Ints{0, 1});
  b.Set("axes", Ints{-1, 0});
  const Tensor in = F({5, 7}, x);
  ExpectNear(RunFor<float>("Resize", a, {in, kNone, kNone, L({9, 3})}),
             RunFor<float>("Resize", b, {in, kNone, kNone, L({3, 9})}));
}

TEST(ResizeKernel, IntegersRoundAndSaturate) {
  EXPECT_EQ(
      RunFor<uint8_t>("Resize", Modes("linear", "align_corners"), {U8({2}, {0, 3}), kNone, kNone, L({3})}),
      (std::vector<uint8_t>{0, 2, 3}));
  const auto cubic = RunFor<uint8_t>("Resize", Modes("cubic", "asymmetric"),
                                     {U8({4}, {0, 255, 255, 0}), kNone, kNone, L({8})});
  EXPECT_EQ(cubic[3], 255);  // saturated; the cubic overshoots to 303
}

TEST(GridSampleKernel, PaddingModes) {
  // The image is one row of pixels 1 2 3. x = -2 is at pixel -2, x = 0 in the middle, x = 4/3 at pixel 3.
  const Tensor in = F({1, 1, 1, 3}, {1, 2, 3}), grid = F({1, 1, 3, 2}, {-2, 0, 0, 0, 4 / 3.f, 0});
  const auto run = [&](const char* mode, const char* padding) {
    return RunFor<float>("GridSample",
                         Attrs({{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}}),
                         {in, grid});
  };
  ExpectNear(run("linear", "zeros"), {0, 2, 0});
  ExpectNear(run("linear", "border"), {1, 2, 3});
  ExpectNear(run("linear", "reflection"), {2, 2, 3});
  ExpectNear(run("nearest", "zeros"), {0, 2, 0});
  ExpectNear(run("cubic", "border"), {1, 2, 3});
}

TEST(GridSampleKernel, LinearBetweenPixelsAndAlignedCorners) {
  const Tensor in = F({1, 1, 2, 2}, {1, 2, 3, 4});
  ExpectNear(RunFor<float>("GridSample", {}, {in, F({1, 1, 1, 2}, {0, 0})}), {2.5f});
  ExpectNear(RunFor<float>("GridSample", Attrs({{"align_corners", int64_t(1)}}),
                           {in, F({1, 1, 2, 2}, {1, -1, 0, 1})}),
             {2, 3.5f});
}

TEST(GridSampleKernel, VolumesTakeThreeCoordinates) {
  const Tensor in = F({1, 1, 2, 1, 2}, {1, 2, 3, 4});
  ExpectNear(RunFor<float>("GridSample", Attrs({{"align_corners", int64_t(1)}}),
                           {in, F({1, 1, 1, 2, 3}, {1, 0, -1, -1, 0, 0})}),
             {2, 2});
}

TEST(GridSampleKernel, SurvivesNanAndInfinity) {
  const Tensor in = F({1, 1, 1, 3}, {1, 2, 3}), grid = F({1, 1, 3, 2}, {NAN, 0, INFINITY, 0, 1e30f, 0});
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (float v : RunFor<float>(
               "GridSample", Attrs({{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}}),
               {in, grid}))
        EXPECT_TRUE(v >= 0 && v <= 3) << mode << " " << padding;
}

TEST(AffineGridKernel, IdentityGivesPixelCenters) {
  const Tensor theta = F({1, 2, 3}, {1, 0, 0, 0, 1, 0.5f});
  ExpectNear(RunFor<float>("AffineGrid", {}, {theta, L({1, 1, 1, 2})}), {-0.5f, 0.5f, 0.5f, 0.5f});
  ExpectNear(RunFor<float>("AffineGrid", Attrs({{"align_corners", int64_t(1)}}), {theta, L({1, 1, 2, 2})}),
             {-1, -0.5f, 1, -0.5f, -1, 1.5f, 1, 1.5f});
}

TEST(RoiAlignKernel, AveragesAndTakesTheLargestCorner) {
  const Tensor in = F({1, 1, 2, 2}, {1, 2, 3, 4}), rois = F({1, 4}, {0, 0, 2, 2}), batch = L({0});
  ExpectNear(RunFor<float>("RoiAlign", {}, {in, rois, batch}), {2.5f});
  Attributes a = Attrs({{"mode", std::string("max")}, {"sampling_ratio", int64_t(1)}});
  ExpectNear(RunFor<float>("RoiAlign", a, {in, rois, batch}), {1});  // a quarter of 4
  EXPECT_THROW(RunOp("RoiAlign", {}, {in, rois, L({1})}), Error);
  EXPECT_THROW(RunOp("RoiAlign", {}, {in, F({1, 4}, {0, 0, 1e9f, 1e9f}), batch}), Error);
}

// A region of 4 x 3 pixels, corners included, in bins that share pixels, and one that is outside.
TEST(MaxRoiPoolKernel, TakesTheLargestPixelOfEachBin) {
  std::vector<float> pixels(30);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = float(i);
  const Tensor in = F({1, 1, 5, 6}, pixels);
  const Attributes a = Attrs({{"pooled_shape", Ints{2, 2}}, {"spatial_scale", 0.5f}});
  ExpectNear(RunFor<float>("MaxRoiPool", a, {in, F({2, 5}, {0, 2, 1, 8.9f, 6, 0, 40, 40, 50, 50})}),
             {14, 16, 20, 22, 0, 0, 0, 0});
  EXPECT_THROW(RunOp("MaxRoiPool", a, {in, F({1, 5}, {1, 0, 0, 1, 1})}), Error);
  EXPECT_THROW(RunOp("MaxRoiPool", a, {in, F({1, 5}, {0, NAN, 0, 1, 1})}), Error);
}

TEST(MaxUnpoolKernel, PutsElementsBack) {
  const auto pool = Attrs({{"kernel_shape", Ints{2}}, {"strides", Ints{2}}});
  const Tensor in = F({1, 1, 2}, {5, 7});
  EXPECT_EQ(RunFor<float>("MaxUnpool", pool, {in, I64({1, 1, 2}, {1, 2})}), (Vf{0, 5, 7, 0}));
  EXPECT_THROW(RunOp("MaxUnpool", pool, {in, I64({1, 1, 2}, {1, 4})}), Error);
  const auto square = Attrs({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  EXPECT_EQ(
      RunFor<float>("MaxUnpool", square, {F({1, 1, 1, 1}, {5}), I64({1, 1, 1, 1}, {3}), L({1, 1, 3, 3})}),
      (Vf{0, 0, 0, 0, 5, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace mete
