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
        const double expected = (at(fy, fx) * (1 - tx) + at(fy, fx + 1) * tx) * (1 - ty) +
                                (at(fy + 1, fx) * (1 - tx) + at(fy + 1, fx + 1) * tx) * ty;
        EXPECT_NEAR(out.row(y)[x * 3 + c], expected, 1.01);  // rounded twice
      }
}

TEST(ResizeImage, AntialiasAveragesWhatItDrops) {
  Image in(8, 1);
  for (int x = 0; x < 8; ++x) in.row(0)[x * 3] = x % 2 ? 255 : 0;
  const Image out = ResizeImage(in, 2, 1, Interpolation::kAntialias);
  // The triangle's weights within the picture are 5 7 7 5 3 1 of 28, and the mirrored ones for the second
  // pixel. The odd pixels are white.
  EXPECT_EQ(out.rgb[0], 118);
  EXPECT_EQ(out.rgb[3], 137);
}

TEST(ResizeImage, BothEqualWhereItGrows) {
  const Image in = Noise(5, 6);
  EXPECT_EQ(ResizeImage(in, 9, 13, Interpolation::kAntialias).rgb,
            ResizeImage(in, 9, 13, Interpolation::kBilinear).rgb);
}

// The expected values are the result of Pillow's Image.resize(), whose default is bicubic, for one channel.
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
  EXPECT_EQ(reds(ResizeImage(in, 10, 1, Interpolation::kBicubic)),
            (std::vector<int>{0, 122, 180, 36, 0, 85, 255, 135, 41, 2}));
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
  const Image expected = ResizeImage(CropCenter(ResizeImage(in, 50, 32, Interpolation::kAntialias), 28, 28),
                                     16, 12, Interpolation::kAntialias);
  const Tensor t = MakeInput(in, p);
  ASSERT_EQ(t.shape(), (Shape{1, 3, 12, 16}));
  EXPECT_EQ(t.as<float>()[12 * 16 + 5], expected.row(0)[5 * 3 + 1]);
}

TEST(PlaceOf, NeedsTheSizesOfAnInputOfPictures) {
  const Image in(120, 90);
  for (const Shape& shape : {Shape{1, 3, -1, -1}, Shape{3, 41, 32}, Shape{1, 5, 41, 32}})
    EXPECT_NE(MessageOf([&] {
                (void)PlaceOf(in, {}, shape);
              }).find("the input does not take pictures; got " + ToString(shape)),
              std::string::npos);
}

// Every pixel of an input made from a smooth picture is what the picture has at its place.
TEST(PlaceOf, IsWhereMakeInputTookThePixelsFrom) {
  Image in(120, 90);
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      in.row(y)[x * 3] = uint8_t(2 * x);
      in.row(y)[x * 3 + 1] = uint8_t(2 * y);
    }
  Preprocess stretched, cropped, covered, boxed, turned;
  cropped.resize_shorter = 60;
  cropped.crop_width = 51;
  cropped.crop_height = 40;
  covered.crop_fraction = 0.8f;
  boxed.letterbox = true;
  turned.letterbox = turned.transpose = true;
  for (const Preprocess& p : {stretched, cropped, covered, boxed, turned}) {
    const Shape shape{1, 3, 41, 32};
    const Tensor t = MakeInput(in, p, shape);
    const InputPlace place = PlaceOf(in, p, shape);
    EXPECT_EQ(place.input_width * 1000 + place.input_height, 32041);
    int compared = 0;
    for (int y = 0; y < 41; ++y)
      for (int x = 0; x < 32; ++x) {
        const auto [at_x, at_y] = place.InPicture(x + 0.5, y + 0.5);
        const auto [back_x, back_y] = place.InInput(at_x, at_y);
        EXPECT_NEAR(back_x, x + 0.5, 1e-9);
        EXPECT_NEAR(back_y, y + 0.5, 1e-9);
        constexpr double kEdge = 4;  // pixels; the filter of a resize is one-sided at the picture's edge
        if (at_x < kEdge || at_y < kEdge || at_x > 120 - kEdge || at_y > 90 - kEdge) continue;
        // Pixels have whole numbers, and two resizes round twice: one level, or half a pixel, for each.
        EXPECT_NEAR(t.as<float>()[y * 32 + x], 2 * (at_x - 0.5), 2);
        EXPECT_NEAR(t.as<float>()[(41 + y) * 32 + x], 2 * (at_y - 0.5), 2);
        ++compared;
      }
    EXPECT_GT(compared, 300);
  }
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

// What converters to 8 bits write: integers of i8 are the bytes less 128, or follow from the scale of the
// input.
TEST(MakeInput, IntegersStandForNumbers) {
  Image in(4, 1);
  for (int x = 0; x < 4; ++x) in.row(0)[x * 3] = std::array<uint8_t, 4>{0, 100, 129, 255}[size_t(x)];
  const auto red = [&](const Preprocess& p) {
    const Tensor t = MakeInput(in, p);
    EXPECT_EQ(t.type(), DType::kI8);
    return std::vector<int>(t.as<int8_t>(), t.as<int8_t>() + 4);
  };
  Preprocess p = PreprocessFor("no/such.tflite", DType::kI8, {1, 8, 8, 3}, 0.5f, -3);
  p.layout = TensorOrder::kNchw;
  EXPECT_EQ(red(p), (std::vector<int>{-128, -28, 1, 127}));
  SetPreprocess(p, "mean", "128", "test");
  SetPreprocess(p, "std", "4", "test");  // -32, -7, 0.25, 31.75; halves of them, from -3 on
  EXPECT_EQ(red(p), (std::vector<int>{-67, -17, -2, 60}));
  p.step = 0.125f;
  EXPECT_EQ(red(p), (std::vector<int>{-128, -59, -1, 127}));
  p.step = 0;
  EXPECT_EQ(MessageOf([&] { MakeInput(in, p); }),
            "[preprocess] the step of integers is none; got 0, expected a number above 0");
}

// For some of these pixels the quotient differs in its last bit from the product with 1 / 127.5.
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

std::vector<int> Reds(const Tensor& t) {
  std::vector<int> reds;
  const int64_t pixels = t.shape()[2] * t.shape()[3];
  for (int64_t i = 0; i < pixels; ++i) reds.push_back(int(t.as<float>()[i]));
  return reds;
}

TEST(MakeInput, LetterboxKeepsTheAspectAndFillsTheRest) {
  Image in(4, 2);
  std::fill(in.rgb.begin(), in.rgb.end(), uint8_t(200));
  Preprocess p;
  p.letterbox = true;
  p.pad = {7, 8, 9};
  EXPECT_EQ(Reds(MakeInput(in, p, {1, 3, 4, 4})),
            (std::vector<int>{7, 7, 7, 7, 200, 200, 200, 200, 200, 200, 200, 200, 7, 7, 7, 7}));
  Image tall(2, 4);
  std::fill(tall.rgb.begin(), tall.rgb.end(), uint8_t(200));
  EXPECT_EQ(Reds(MakeInput(tall, p, {1, 3, 2, 3})), (std::vector<int>{7, 200, 7, 7, 200, 7}));
  EXPECT_NE(MessageOf([&] { MakeInput(in, p); }).find("letterbox needs a size"), std::string::npos);
}

// For a square input, crop_fraction has the result of torchvision's Resize(32) and CenterCrop(28).
TEST(MakeInput, CropFractionCoversAndCutsTheCentre) {
  const Image in = Noise(100, 64);
  Preprocess p, torch;
  p.crop_fraction = 0.875f;
  torch.resize_shorter = 32;
  torch.crop_width = torch.crop_height = 28;
  const Tensor a = MakeInput(in, p, {1, 3, 28, 28}), b = MakeInput(in, torch);
  EXPECT_EQ(Reds(a), Reds(b));
  // The result has the input's shape, whichever side is the narrow one.
  for (const Shape& shape : {Shape{1, 3, 60, 80}, Shape{1, 3, 80, 60}, Shape{1, 3, 1, 90}})
    EXPECT_EQ(MakeInput(in, p, shape).shape(), shape);
}

TEST(MakeInput, TakesAsManyPicturesAsTheInput) {
  const std::vector<Image> two{Noise(8, 8), Image(8, 8)};
  const Tensor batch = MakeInput(two, {}, {2, 3, 4, 4});
  EXPECT_EQ(batch.shape(), (Shape{2, 3, 4, 4}));
  EXPECT_EQ(Reds(batch), Reds(MakeInput(two[0], {}, {1, 3, 4, 4})));
  EXPECT_EQ(batch.as<float>()[48], 0);
  EXPECT_EQ(MessageOf([&] {
              MakeInput(two, {}, {3, 3, 4, 4});
            }),
            "[preprocess] the input takes 3 pictures at once; got 2, expected 3x3x4x4");
  EXPECT_NE(MessageOf([&] {
              MakeInput(two, {}, {2, 1, 4, 4});
            }).find("try channels = gray"),
            std::string::npos);
  EXPECT_NE(MessageOf([&] {
              MakeInput(two, {}, {2, 10});
            }).find("does not take pictures"),
            std::string::npos);
}

TEST(MakeInput, ASizeThatWasAskedForIsNotOverridden) {
  Preprocess p;
  p.resize_width = p.resize_height = 6;
  EXPECT_EQ(MessageOf([&] {
              MakeInput(Noise(8, 8), p, {1, 3, 4, 5});
            }),
            "[preprocess] the settings do not end at the input's size; got 1x3x6x6, expected 1x3x4x5; try "
            "resize = 5x4, or without resize");
}

TEST(PreprocessFor, FollowsFromTheInput) {
  const Preprocess gray = PreprocessFor("no/such.onnx", DType::kU8, {1, 28, 28, 1});
  EXPECT_EQ(gray.channels, ChannelOrder::kGray);
  EXPECT_EQ(gray.layout, TensorOrder::kNhwc);
  EXPECT_EQ(gray.type, DType::kU8);
  EXPECT_EQ(PreprocessFor("no/such.onnx", DType::kF32, {1, 10}).channels, ChannelOrder::kRgb);
  EXPECT_FALSE(gray.values_known);
  Preprocess wrong;
  wrong.divisor[1] = 0;
  EXPECT_EQ(MessageOf([&] { MakeInput(Image(2, 2), wrong); }),
            "[divisor] cannot be 0; expected a number for each channel");
  wrong = {};
  wrong.crop_fraction = 9;
  EXPECT_EQ(MessageOf([&] { MakeInput(Image(2, 2), wrong); }),
            "[crop_fraction] out of range; got 9, expected 0 to 1");
  EXPECT_FALSE(ParsePreprocess("labels = 'l'\nresize = 3\nchannels = 'bgr'", "net.toml").values_known);
  for (const char* known : {"preprocess = 'raw'", "mean = 0", "std = 1", "scale = 1"})
    EXPECT_TRUE(ParsePreprocess(known, "net.toml").values_known) << known;
}

TEST(Recipes, AreReadAndKeepWhatIsNotAboutPixels) {
  for (const PreprocessRecipe& r : PreprocessRecipes()) {
    Preprocess p =
        ParsePreprocess("top_k = 3\nmean = 9\ncrop = 7\nlabels = 'l'\nlayout = 'nhwc'", "net.toml");
    SetPreprocess(p, "preprocess", r.name, "--preprocess");
    EXPECT_EQ(p.top_k, 3);
    EXPECT_EQ(p.labels, "l");
    EXPECT_EQ(p.layout, TensorOrder::kNhwc);
    EXPECT_EQ(p.crop_width, 0) << r.name;
    EXPECT_NE(p.mean[0], 9) << r.name;
    EXPECT_EQ(MakeInput(Noise(50, 40), p, {2 - 1, 32, 32, 3}).shape(), (Shape{1, 32, 32, 3})) << r.name;
  }
  // The recipe comes first, whatever the order in the file.
  const Preprocess p = ParsePreprocess("std = 2\npreprocess = 'mobilenet'", "net.toml");
  EXPECT_EQ(p.mean[0], 127.5f);
  EXPECT_EQ(p.divisor[0], 2);
  EXPECT_EQ(MessageOf([] { ParsePreprocess("preprocess = 'mobilnet'", "net.toml"); }),
            "[net.toml:1] no such recipe; got 'mobilnet', expected one of raw, unit, imagenet-torch, "
            "mobilenet, caffe-bgr, clip, yolo; try "
            "mobilenet");
}

// The test converts the smallest and the largest pixel.
TEST(Recipes, MobilenetIsFromMinusOneToOne) {
  Preprocess p;
  SetPreprocess(p, "preprocess", "mobilenet", "test");
  Image in(1, 1);
  EXPECT_EQ(MakeInput(in, p, {1, 3, 1, 1}).as<float>()[0], -1);
  in.rgb = {255, 255, 255};
  EXPECT_EQ(MakeInput(in, p, {1, 3, 1, 1}).as<float>()[0], 1);
}

TEST(SetPreprocess, TheLastWayToCutCounts) {
  Preprocess p;
  SetPreprocess(p, "preprocess", "imagenet-torch", "test");
  SetPreprocess(p, "resize_shorter", "232", "test");
  EXPECT_EQ(p.crop_fraction, 0);
  SetPreprocess(p, "crop_fraction", "0.9", "test");
  EXPECT_EQ(p.resize_shorter, 0);
  SetPreprocess(p, "letterbox", "true", "test");
  EXPECT_EQ(p.crop_fraction, 0);
  EXPECT_NE(MessageOf([] {
              ParsePreprocess("crop_fraction = 0.5\ncrop = 3", "n");
            }).find("[n] crop_fraction and crop exclude each other"),
            std::string::npos);
  EXPECT_NE(MessageOf([] { ParsePreprocess("crop_fraction = 2", "n"); }).find("0.01 to 1"),
            std::string::npos);
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
letterbox = true
pad = [1, 2, 3]
labels = "names.txt"
top_k = 3
softmax = true
classify = "prob")",
                                       "net.toml");
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
  EXPECT_TRUE(p.letterbox);
  EXPECT_EQ(p.pad, (std::array<float, 3>{1, 2, 3}));
  EXPECT_TRUE(p.softmax);
  EXPECT_EQ(p.classify, "prob");
}

TEST(ParsePreprocess, ProblemsNameTheLineAndTheKeys) {
  EXPECT_EQ(MessageOf([] { ParsePreprocess("\nmeen = 3", "net.toml"); }),
            "[net.toml:2] unknown key 'meen'; try mean");
  EXPECT_EQ(MessageOf([] { ParsePreprocess("top = 3", "net.toml"); }),
            "[net.toml:1] unknown key 'top'; try top_k");
  EXPECT_EQ(MessageOf([] { ParsePreprocess("channels = 'rbg'", "net.toml"); }),
            "[net.toml:1] bad value for 'channels'; got 'rbg', expected one of rgb, bgr, gray; try rgb");
  EXPECT_EQ(MessageOf([] { ParsePreprocess("crop = 'big'", "net.toml"); }),
            "[net.toml:1] bad value for 'crop'; got 'big', expected none, a side, or WIDTHxHEIGHT");
  EXPECT_EQ(MessageOf([] { ParsePreprocess("crop = ", "net.toml"); }).rfind("[net.toml:1:", 0), 0u);
  EXPECT_NE(MessageOf([] { ParsePreprocess("mean = [1, 2]", "n"); }).find("expected a number, or three"),
            std::string::npos);
  EXPECT_NE(MessageOf([] { ParsePreprocess("std = 0", "n"); }).find("other than 0"), std::string::npos);
  EXPECT_NE(MessageOf([] { ParsePreprocess("scale = 0", "n"); }).find("other than 0"), std::string::npos);
  EXPECT_NE(MessageOf([] { ParsePreprocess("[mean]\nx = 1", "n"); }).find("table"), std::string::npos);
}

TEST(SetPreprocess, ClassesAreWholeNumbers) {
  Preprocess p = ParsePreprocess("classes = [0, 15]\noutput_layout = 'nhwc'", "net.toml");
  EXPECT_EQ(p.head.classes, (std::vector<int>{0, 15}));
  EXPECT_EQ(p.head.layout, TensorOrder::kNhwc);
  EXPECT_EQ(p.layout, TensorOrder::kNchw);  // of the input
  SetPreprocess(p, "classes", "7", "--classes");
  EXPECT_EQ(p.head.classes, (std::vector<int>{7}));
  SetPreprocess(p, "classes", "none", "--classes");
  EXPECT_TRUE(p.head.classes.empty());
  for (const char* wrong : {"-1", "0.5", "65536", "1e30", "cat", "1,,2", ""})
    EXPECT_NE(
        MessageOf([&] { SetPreprocess(p, "classes", wrong, "--classes"); }).find("expected none, or numbers"),
        std::string::npos)
        << wrong;
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
