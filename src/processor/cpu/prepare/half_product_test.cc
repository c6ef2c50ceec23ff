// Products whose operands may be rounded to halves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "kernels/fast/half/half_conv.h"
#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/one_node_testing.h"

namespace mete {
namespace {

struct Half {
  std::string name;
  ConvAlgorithm algorithm;
  float (*round)(float);
};
const Half kHalves[] = {{"bf16", ConvAlgorithm::kBf16, [](float x) { return BF16ToF32(F32ToBF16(x)); }},
                        {"f16", ConvAlgorithm::kF16, [](float x) { return F16ToF32(F32ToF16(x)); }}};

std::string LineOf(std::string line, const Half& half) {
  return line.replace(line.find("HALF"), 4, half.name);
}

// A node whose operands are halves already: the kernel rounds nothing more, and its sums are those of f32.
OneNodeGraph RoundedNode(const std::string& line, const Half& half) {
  OneNodeGraph one = MakeOneNodeGraph(ParseNode("test", LineOf(line, half)), 17);
  for (size_t i = 0; i < 2; ++i) {
    float* values = one.data[i].mutable_view().as<float>();
    std::transform(values, values + one.data[i].elements(), values, half.round);
    Value& value = one.graph.value(one.node().inputs[i]);
    if (value.constant.has_value()) value.constant = one.data[i];
  }
  return one;
}

std::vector<float> OutputOf(OneNodeGraph& one, const KernelOptions& options, std::string* kernel) {
  CpuKernels cpu(options);
  const auto prepared = cpu.Prepare(one.graph, one.node(), Step{.threads = options.threads});
  *kernel = prepared->kernel();
  Tensor result(DType::kF32, one.graph.value(one.node().outputs[0]).shape);
  std::vector<ConstView> in;
  for (const Tensor& t : one.data) in.push_back(t.view());
  View out[] = {result.mutable_view()};
  prepared->Execute(in, out);
  return {result.as<float>(), result.as<float>() + result.elements()};
}

TEST(HalfProduct, EqualsTheReferenceOfRoundedOperands) {
  for (const Half& half : kHalves)
    for (const std::string line :
         {"Conv(1x14x13x40, const 70x40x3x3, const 70) {operands=\"HALF\", layout=\"NHWC\", pads=[1,1,1,1]}",
          "Conv(2x9x8x30, const 100x30x1x1, -, 2x9x8x100) {operands=\"HALF\", layout=\"NHWC\", residual=1, "
          "activation=\"Relu\"}",
          "Conv(1x17x17x3, const 70x3x7x7) {operands=\"HALF\", layout=\"NHWC\", strides=[2,2]}",
          "ConvTranspose(1x5x7x13, const 13x37x4x4, const 37) {operands=\"HALF\", layout=\"NHWC\", "
          "strides=[2,2], pads=[1,1,1,1]}",
          "ConvTranspose(2x3x4x5, const 5x19x2x2, const 19) {operands=\"HALF\", layout=\"NHWC\", "
          "strides=[2,2]}",
          "ConvTranspose(2x3x4x5, const 5x9x3x3, const 9, 2x6x8x9) {operands=\"HALF\", layout=\"NHWC\", "
          "strides=[2,2], pads=[1,1,1,1], output_padding=[1,1], residual=1, activation=\"Relu\"}",
          "ConvTranspose(2x5x6x12, const 12x18x3x3, const 72) {operands=\"HALF\", layout=\"NHWC\", group=4, "
          "strides=[2,1], pads=[2,3,2,3]}",
          "Conv(1x7x9x6, const 9x6x3x3, const 9, -, 1x7x9x32) {operands=\"HALF\", layout=\"NHWC\", "
          "pads=[1,1,1,1], into_offset=7, into_channels=32}",
          "Gemm(13x50, const 50x100, const 100) {operands=\"HALF\", alpha=0.5}",
          "Gemm(1x51, const 70x51, const 70) {operands=\"HALF\", transB=1}",
          "MatMul(3x5x17, const 17x70) {operands=\"HALF\", activation=\"Gelu\"}",
          "MatMul(3x35x17, 3x17x70) {operands=\"HALF\"}", "MatMul(40x333, 333x33) {operands=\"HALF\"}",
          "Gemm(41x50, 100x50, const 100) {operands=\"HALF\", transB=1, alpha=0.5}",
          "mete.MatMul(1x40x3x16, 1x40x3x16) {operands=\"HALF\", perm_a=[0,2,1,3], perm_b=[0,2,3,1], "
          "scale=0.25}",
          "mete.MatMul(1x3x40x40, 1x40x3x64) {operands=\"HALF\", perm_b=[0,2,1,3], perm_y=[0,2,1,3]}"}) {
      OneNodeGraph one = RoundedNode(line, half);
      std::string kernel, reference;
      const std::vector<float> want = OutputOf(one, {.reference = true}, &reference);
      for (const int threads : {1, 2}) {
        const std::vector<float> got =
            OutputOf(one, {.threads = threads, .dispatch = {.conv = half.algorithm}}, &kernel);
        // Only where the processor multiplies halves are products of several rows rounded.
        const bool rounded = line.starts_with("Conv(") || line.starts_with("Gemm(1x") ||
                             IsFast(PlanHalfConv({1, 1, 1, 1, 1, 1, 1}, OperandsOf(half.algorithm)));
        ASSERT_EQ(kernel.find("conv_" + half.name + " ") != std::string::npos, rounded)
            << line << ": " << kernel;
        for (size_t i = 0; i < want.size(); ++i) {
          const bool slice = line.find("into_offset") != std::string::npos;
          if (slice && (i % 32 < 7 || i % 32 >= 16)) continue;  // the channels of others
          ASSERT_NEAR(want[i], got[i], 2e-4f) << line << " by " << kernel << " element " << i;
        }
      }
    }
}

// Without the attribute no operand is rounded, whatever the user asks of convolutions.
TEST(HalfProduct, IsOnlyForNodesThatMayBeRounded) {
  OneNode node("Conv(1x9x8x30, const 100x30x1x1) {layout=\"NHWC\"}", 3);
  std::string kernel;
  node.Run({.dispatch = {.conv = ConvAlgorithm::kBf16}}, &kernel);
  EXPECT_TRUE(kernel.starts_with("conv_1x1_f32 ")) << kernel;
}

// A rounding of each operand changes a product by at most 2^-8 (bf16) or 2^-11 (f16) of it each, and a bit
// more together. Products of a denormal f16 are off by at most 2^-25 of the other operand, which is at most 1
// here.
TEST(HalfProduct, TheErrorIsWithinTwoRoundings) {
  for (const Half& half : kHalves) {
    OneNodeGraph one = MakeOneNodeGraph(
        ParseNode("test",
                  LineOf("Conv(1x9x8x300, const 40x300x1x1) {operands=\"HALF\", layout=\"NHWC\"}", half)),
        5);
    OneNodeGraph magnitudes = one;
    for (size_t i = 0; i < 2; ++i) {
      float* values = magnitudes.data[i].mutable_view().as<float>();
      for (int64_t k = 0; k < magnitudes.data[i].elements(); ++k) values[k] = std::abs(values[k]);
    }
    magnitudes.graph.value(magnitudes.node().inputs[1]).constant = magnitudes.data[1];
    std::string kernel;
    const std::vector<float> want = OutputOf(one, {.reference = true}, &kernel),
                             magnitude = OutputOf(magnitudes, {.reference = true}, &kernel),
                             got = OutputOf(one, {.dispatch = {.conv = half.algorithm}}, &kernel);
    const bool bf16 = half.name == "bf16";
    const double relative = bf16 ? 0x1p-7 + 0x1p-16 : 0x1p-10 + 0x1p-22,
                 denormal = bf16 ? 0 : 2 * 300 * 0x1p-25;
    // The sum in f32, of which each addition rounds.
    const double sum = 300 * 0x1p-24;
    double largest = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_NEAR(want[i], got[i], (relative + sum) * magnitude[i] + denormal) << half.name << " " << i;
      largest = std::max(largest, std::abs(double(want[i]) - got[i]) / magnitude[i]);
    }
    EXPECT_GT(largest, 1e-6) << "the operands were not rounded to " << half.name;
  }
}

}  // namespace
}  // namespace mete
