// Compares trained TensorFlow Lite networks with the same networks in ONNX, both run by the engine on seeded
// random input.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "mete/engine.h"

namespace mete {
namespace {

std::filesystem::path Folder() {
  const char* shared = std::getenv("METE_SHARED");
  return std::filesystem::path(shared ? shared : "../shared") / "models";
}

class TfliteTwin : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(Folder()))
      GTEST_SKIP() << Folder() << " is missing: the trained models are not in the repository";
  }

  static Model Load(const std::string& name) { return Model::Load(Folder() / name); }
  static Tensor Run(const Model& model, const Tensor& input) {
    return Session(model, {.reference = true}).Run(std::vector<Tensor>{input})[0];
  }
};

// Returns an image of N, H, W, C in the order of ONNX, as floats.
template <class T>
Tensor Planar(const Tensor& image, float scale, float zero) {
  const Shape& s = image.shape();
  Tensor planar(DType::kF32, {s[0], s[3], s[1], s[2]});
  const int64_t pixels = s[1] * s[2];
  for (int64_t n = 0; n < s[0]; ++n)
    for (int64_t p = 0; p < pixels; ++p)
      for (int64_t c = 0; c < s[3]; ++c)
        planar.mutable_view().as<float>()[(n * s[3] + c) * pixels + p] =
            (float(image.as<T>()[(n * pixels + p) * s[3] + c]) - zero) * scale;
  return planar;
}

TEST_F(TfliteTwin, FloatsGiveWhatTheirOnnxFileGives) {
  const Model tflite = Load("resnet8_cifar10.tflite"), onnx = Load("resnet8_cifar10.onnx");
  Tensor image(DType::kF32, tflite.inputs()[0].shape);
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(0, 255);
  for (int64_t i = 0; i < image.elements(); ++i) image.mutable_view().as<float>()[i] = uniform(random);
  const Tensor ours = Run(tflite, image), theirs = Run(onnx, Planar<float>(image, 1, 0));
  ASSERT_EQ(ours.shape(), theirs.shape());
  for (int64_t i = 0; i < ours.elements(); ++i)
    EXPECT_NEAR(ours.as<float>()[i], theirs.as<float>()[i], 1e-5f);
}

// Both files have the same bytes, scales and zero points up to the last layer, whose scores the ONNX file
// lacks one of: the background's. It gives the Softmax of the other scores in floats, the original one of all
// in steps of 1/256.
TEST_F(TfliteTwin, BytesGiveWhatTheirOnnxFileGives) {
  const Model tflite = Load("mobilenet_v1_0.5_160_quant.tflite"),
              onnx = Load("mobilenet_v1_0.5_160_qlinear_uint8.onnx");
  std::mt19937 random(11);
  for (int picture = 0; picture < 3; ++picture) {
    // Waves of several lengths: noise alone gives no class a high score.
    const Shape shape = tflite.inputs()[0].shape;
    Tensor image(DType::kU8, shape);
    const double length = 6 + 9 * picture;
    for (int64_t i = 0; i < image.elements(); ++i) {
      const double row = double(i / shape[3] / shape[2]), column = double(i / shape[3] % shape[2]);
      const double wave = std::sin(row / length) * std::cos(column / (length + double(i % shape[3])));
      image.mutable_view().as<uint8_t>()[i] = uint8_t(128 + 100 * wave + double(random() % 20));
    }
    const Tensor ours = Run(tflite, image), theirs = Run(onnx, Planar<uint8_t>(image, 0.0078125f, 128));
    ASSERT_EQ(ours.elements(), theirs.elements() + 1);
    // Half a step for our rounding, and half of one for the background's, which scales the others.
    constexpr double kStep = 1.0 / 256, kTolerance = kStep + 1e-6;
    const double others = 1 - ours.as<uint8_t>()[0] * kStep;
    for (int64_t i = 0; i < theirs.elements(); ++i)
      EXPECT_NEAR(ours.as<uint8_t>()[i + 1] * kStep, theirs.as<float>()[i] * others, kTolerance) << i;
    const auto* best = std::max_element(ours.as<uint8_t>() + 1, ours.as<uint8_t>() + ours.elements());
    const auto* their_best = std::max_element(theirs.as<float>(), theirs.as<float>() + theirs.elements());
    EXPECT_EQ(best - ours.as<uint8_t>() - 1, their_best - theirs.as<float>()) << "picture " << picture;
  }
}

// Between convolutions there is no Transpose, and no value but those of the Softmax is in floats.
TEST_F(TfliteTwin, MobileNetsComputeOnBytesWithoutTransposes) {
  for (const char* name : {"mobilenet_v1_0.25_128_quant.tflite", "mobilenet_v2_1.0_224_quant.tflite"}) {
    const auto operators = Load(name).stats().operators;
    EXPECT_EQ(operators.count("Transpose"), 0u) << name;
    EXPECT_EQ(operators.at("DequantizeLinear"), 1) << name;
    EXPECT_EQ(operators.at("QuantizeLinear"), 1) << name;
    EXPECT_EQ(operators.count("Conv"), 0u) << name;
  }
}

}  // namespace
}  // namespace mete
