#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "image/image_testing.h"
#include "mete/error.h"

namespace mete {
namespace {

Image Noise(int width, int height) {
  Image image(width, height);
  std::mt19937 random(7);
  for (uint8_t& v : image.rgb) v = uint8_t(random());
  return image;
}

std::string MessageOf(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(ResizeImage, BilinearReadsTheTwoNearestPixels) {
  const Image in = Noise(11, 7), out = ResizeImage(in, 5, 9, Interpolation::kBilinear);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 5; ++x)
      for (int c = 0; c < 3; ++c) {
        const double sy = (y + 0.5) * 7 / 9 - 0.5, sx = (x + 0.5) * 11 / 5 - 0.5;
        auto at = [&](double row, double column) {
          return double(in.row(std::clamp(int(row), 0, 6))[std::clamp(int(column), 0, 10) * 3 + c]);
        };
        const double fy = std::floor(sy), fx = std::floor(sx), ty = sy - fy, tx = sx - fx;
        const double expected =
            (at(fy, fx) * (1 - tx) + at(fy, fx + 1) * tx) * (1 - ty) + (at(fy + 1, fx) * (1 - tx) + at(fy + 1, fx + 1) * tx) * ty;
        EXPECT_NEAR(out.row(y)[x * 3 + c], expected, 1.01);  // rounded twice
      }
}

TEST(ResizeImage, AntialiasAveragesWhatItDrops) {
  Image in(8, 1);
  for (int x = 0; x < 8; ++x) in.row(0)[x * 3] = x % 2 ? 255 : 0;
  const Image out = ResizeImage(in, 2, 1, Interpolation::kAntialias);
  // The triangle's weights inside the picture: 5 7 7 5 3 1 of 28, and mirrored. The odd pixels are white.
  EXPECT_EQ(out.rgb[0], 118);
  EXPECT_EQ(out.rgb[3], 137);
}

TEST(ResizeImage, BothEqualWhereItGrows) {
  const Image in = Noise(5, 6);
  EXPECT_EQ(ResizeImage(in, 9, 13, Interpolation::kAntialias).rgb, ResizeImage(in, 9, 13, Interpolation::kBilinear).rgb);
}

// What Pillow's Image.resize(), whose default it is, gives for one channel.
TEST(ResizeImage, BicubicIsPillows) {
  Image in(7, 1);
  const std::vector<int> row = {10, 200, 30, 0, 255, 90, 7};
  for (size_t x = 0; x < row.size(); ++x) in.rgb[x * 3] = uint8_t(row[x]);
  auto reds = [](const Image& image) {
    std::vector<int> values;
    for (int x = 0; x < image.width; ++x) values.push_back(image.row(0)[x * 3]);
    return values;
  };
  EXPECT_EQ(reds(ResizeImage(in, 3, 1, Interpolation::kBicubic)), (std::vector<int>{90, 91, 95}));
  EXPECT_EQ(reds(ResizeImage(in, 10, 1, Interpolation::kBicubic)), (std::vector<int>{0, 122, 180, 36, 0, 85, 255, 135, 41, 2}));
}

TEST(CropCenter, TheOddPixelStaysRightAndBelow) {
  Image in(4, 4);
  for (size_t i = 0; i < 16; ++i) in.rgb[i * 3] = uint8_t(i);
  const Image out = CropCenter(in, 1, 3);
  EXPECT_EQ(out.rgb[0], 1);
  EXPECT_EQ(out.rgb[3], 5);
  EXPECT_NE(MessageOf([&] { CropCenter(in, 5, 1); }).find("does not fit"), std::string::npos);
}

TEST(MakeInput, StagesRunInOrder) {
  Preprocess p;
  p.resize_shorter = 32;
  p.crop_width = p.crop_height = 28;
  p.resize_width = 16;
  p.resize_height = 12;
  const Image in = Noise(100, 64);
  const Image expected =
      ResizeImage(CropCenter(ResizeImage(in, 50, 32, Interpolation::kAntialias), 28, 28), 16, 12, Interpolation::kAntialias);
  const Tensor t = MakeInput(in, p);
  ASSERT_EQ(t.shape(), (Shape{1, 3, 12, 16}));
  EXPECT_EQ(t.as<float>()[12 * 16 + 5], expected.row(0)[5 * 3 + 1]);
}

TEST(MakeInput, OrderLayoutMeanAndTranspose) {
  Image in(2, 1);
  in.rgb = {10, 20, 30, 40, 50, 60};
  Preprocess p;
  p.channels = ChannelOrder::kBgr;
  p.mean = {1, 2, 3};
  p.scale = {1, 2, 0.5f};
  Tensor t = MakeInput(in, p);
  const std::vector<float> nchw = {29, 59, 36, 96, 3.5f, 18.5f};
  EXPECT_TRUE(std::equal(nchw.begin(), nchw.end(), t.as<float>()));
  p.transpose = true;
  p.layout = TensorOrder::kNhwc;
  t = MakeInput(in, p);
  EXPECT_EQ(t.shape(), (Shape{1, 2, 1, 3}));
  const std::vector<float> nhwc = {29, 36, 3.5f, 59, 96, 18.5f};
  EXPECT_TRUE(std::equal(nhwc.begin(), nhwc.end(), t.as<float>()));
  p = {};
  p.channels = ChannelOrder::kGray;
  p.type = DType::kU8;
  t = MakeInput(in, p);
  EXPECT_EQ(t.shape(), (Shape{1, 1, 1, 2}));
  EXPECT_EQ(t.as<uint8_t>()[0], 18);  // 0.299 * 10 + 0.587 * 20 + 0.114 * 30
}

// The quotient may differ in its last bit from the product with 1 / 127.5, as with these pixels.
TEST(MakeInput, DividesByStd) {
  Image in(256, 1);
  for (int x = 0; x < 256; ++x) in.row(0)[x * 3] = uint8_t(x);
  Preprocess p;
  SetPreprocess(p, "mean", "127.5", "test");
  SetPreprocess(p, "std", "127.5", "test");
  const Tensor t = MakeInput(in, p);
  int other = 0;
  for (int x = 0; x < 256; ++x) {
    ASSERT_EQ(t.as<float>()[x], (float(x) - 127.5f) / 127.5f);
    other += t.as<float>()[x] != (float(x) - 127.5f) * (1 / 127.5f);
  }
  EXPECT_GT(other, 0);
}

TEST(ParsePreprocess, ReadsEveryKey) {
  const Preprocess p = ParsePreprocess(R"(
resize_shorter = 256
crop = 224
resize = [320, 240]
interpolation = "bilinear"
channels = "bgr"
mean = [104, 117.5, 123]
std = 2
transpose = true
layout = "nhwc"
type = "u8"
labels = "names.txt"
top_k = 3)", "net.toml");
  EXPECT_EQ(p.resize_shorter, 256);
  EXPECT_EQ(p.crop_width * 1000 + p.crop_height, 224224);
  EXPECT_EQ(p.resize_width * 1000 + p.resize_height, 320240);
  EXPECT_EQ(p.interpolation, Interpolation::kBilinear);
  EXPECT_EQ(p.channels, ChannelOrder::kBgr);
  EXPECT_EQ(p.mean, (std::array<float, 3>{104, 117.5f, 123}));
  EXPECT_EQ(p.divisor, (std::array<float, 3>{2, 2, 2}));
  EXPECT_EQ(p.scale, (std::array<float, 3>{1, 1, 1}));
  EXPECT_TRUE(p.transpose);
  EXPECT_EQ(p.layout, TensorOrder::kNhwc);
  EXPECT_EQ(p.type, DType::kU8);
  EXPECT_EQ(p.labels, "names.txt");
  EXPECT_EQ(p.top_k, 3);
}

TEST(ParsePreprocess, ProblemsNameTheLineAndTheKeys) {
  EXPECT_EQ(MessageOf([] { ParsePreprocess("\nmeen = 3", "net.toml"); }),
            "[net.toml:2] unknown key 'meen'; expected one of resize_shorter, crop, resize, interpolation, channels, mean, scale, std, "
            "transpose, layout, type, labels, top_k");
  EXPECT_EQ(MessageOf([] { ParsePreprocess("crop = 'big'", "net.toml"); }),
            "[net.toml:1] bad value for 'crop'; got 'big', expected none, a side, or WIDTHxHEIGHT");
  EXPECT_EQ(MessageOf([] { ParsePreprocess("crop = ", "net.toml"); }).rfind("[net.toml:1:", 0), 0u);
  EXPECT_NE(MessageOf([] { ParsePreprocess("mean = [1, 2]", "n"); }).find("expected a number, or three"), std::string::npos);
  EXPECT_NE(MessageOf([] { ParsePreprocess("std = 0", "n"); }).find("other than 0"), std::string::npos);
  EXPECT_NE(MessageOf([] { ParsePreprocess("[mean]\nx = 1", "n"); }).find("table"), std::string::npos);
}

TEST(SetPreprocess, FlagsOverrideFieldByField) {
  Preprocess p = ParsePreprocess("crop = 224\nmean = 127.5", "net.toml");
  SetPreprocess(p, "crop", "none", "--crop");
  SetPreprocess(p, "resize", "64x48", "--resize");
  EXPECT_EQ(p.crop_width, 0);
  EXPECT_EQ(p.resize_width * 100 + p.resize_height, 6448);
  EXPECT_EQ(p.mean[2], 127.5f);
  EXPECT_EQ(PreprocessPath("a/net.onnx"), "a/net.toml");
}

}  // namespace
}  // namespace mete
