// Sums of bytes in f32, and by how much bytes of shares then differ from those of the reference.
#include "processor/opencl/share/byte_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "graph/node_text/node_text.h"
#include "passes/pass.h"
#include "processor/opencl/share/compare_testing.h"

namespace mete::opencl {
namespace {

// A product [rows][k] x [k][2] of u8 and i8, whose weights are `weight(k, n)`.
struct Product {
  Product(int64_t rows, int64_t k, int64_t n, double scale,
          const std::function<int(int64_t, int64_t)>& weight)
      : one(MakeOneNodeGraph(
            ParseNode("here", fmt::format("QLinearMatMul(u8 {0}x{1}, const scalar in {3} to {3}, const u8 "
                                          "scalar in 0 to 0, const i8 {1}x{2}, const scalar in 1 to 1, const "
                                          "i8 scalar in 0 to 0, const scalar in 1 to 1, const u8 scalar in "
                                          "100 to 100)",
                                          rows, k, n, scale)),
            /*seed=*/7)) {
    auto* weights = static_cast<int8_t*>(one.data[3].mutable_view().data);
    for (int64_t i = 0; i < k * n; ++i) weights[i] = int8_t(weight(i / n, i % n));
    one.graph.values[size_t(one.node().inputs[3])].constant = one.data[3];
  }

  QuantizedConvolution conv() const {
    std::string why;
    const auto conv = QuantizedProductOf(one.graph, one.node(), &why);
    EXPECT_TRUE(conv) << why;
    return *conv;
  }

  OneNodeGraph one;
};

TEST(ByteSums, AreExactUpTo24Bits) {
  // 255 * 127 * 518 = 16775430, and one weight more of 69 makes 2^24 + 15809.
  const auto weight = [](int64_t k, int64_t) { return k < 518 ? 127 : 0; };
  const auto longer = [](int64_t k, int64_t n) { return k < 518 ? 127 : n == 1 ? -69 : 0; };
  EXPECT_EQ(LevelsOfF32Sums(Product(1, 519, 2, 0.001, weight).conv()), 0);
  const Product product(1, 519, 2, 0.001, longer);  // has the weights' bytes
  const QuantizedConvolution conv = product.conv();
  const double u = 0x1p-24, most = 255 * (127 * 518 + 69);
  EXPECT_NEAR(LevelsOfF32Sums(conv), 519 * u * most / (1 - 519 * u) * 0.001, 1e-6);
  EXPECT_TRUE(SumsOf(conv, /*within_a_level=*/false).whole);
  EXPECT_FALSE(SumsOf(conv, /*within_a_level=*/true).whole);
}

TEST(ByteSums, AreWholeNumbersWhereALevelIsTooShort) {
  const auto weight = [](int64_t, int64_t) { return 100; };
  const auto whole = [&](double scale) {
    return SumsOf(Product(1, 4000, 1, scale, weight).conv(), /*within_a_level=*/true).whole;
  };
  EXPECT_FALSE(whole(0.00003));  // 0.73 levels
  EXPECT_TRUE(whole(0.00005));   // 1.2 levels
}

class SumsOnGpu : public WithShares {
 protected:
  struct Differences {
    int largest = 0;
    int64_t count = 0;
  };

  // Runs a node with a target of f16 and compares its bytes with those of the reference.
  Differences Compare(const OneNodeGraph& one, bool exact_bytes) {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < one.node().inputs.size(); ++i)
      if (!one.graph.value(one.node().inputs[i]).is_constant()) inputs.push_back(one.data[i]);
    Graph graph = one.graph;
    (void)RunPasses(graph);
    const ShareOnGpu share = Lower(
        graph, {.tile = {.is_cpu = true, .vector = 8}, .storage = DType::kF16, .exact_bytes = exact_bytes},
        {});
    const Tensor got = Run(graph, share, inputs).at(0),
                 want = EvaluateAll(one.graph, inputs)[size_t(one.graph.outputs[0])];
    Differences all{LevelsApart(want, got), 0};
    for (size_t i = 0; i < want.bytes(); ++i)
      all.count += static_cast<const uint8_t*>(want.data())[i] != static_cast<const uint8_t*>(got.data())[i];
    return all;
  }
};

// A Softmax behind 8-bit layers is computed in the type of the layers, also as a share of its own.
TEST(FloatsBehindBytes, AreF32WithExactBytes) {
  Graph share;
  share.inputs = {share.AddValue("logits", DType::kF32, {3, 1000})};
  const ValueId between = share.AddValue("between", DType::kF32, {3, 1000});
  share.outputs = {share.AddValue("answer", DType::kF32, {3, 1000})};
  share.AddNode("Softmax", "first", share.inputs, {between});
  share.AddNode("Softmax", "second", {between}, share.outputs);
  const auto kernels = [&](DType storage, bool exact_bytes) {
    return GpuKernelsOf(share, {.storage = storage, .exact_bytes = exact_bytes});
  };
  EXPECT_EQ(kernels(DType::kF16, true), kernels(DType::kF16, false));
  share.share_of_bytes = true;
  EXPECT_EQ(kernels(DType::kF16, true), kernels(DType::kF32, false));
  EXPECT_NE(kernels(DType::kF16, true), kernels(DType::kF16, false));
}

// Each of 4000 additions of odd products to sums of up to 6.5e7 rounds by 1 or more, most of them downwards.
TEST_F(SumsOnGpu, RoundAByteToTheNextAtMost) {
  Product product(61, 4100, 33, 0.000025, [](int64_t k, int64_t n) {
    return k < 2000 ? 127 : k < 4000 ? -125 : int((k * 37 + n * 91) % 255) - 127;
  });
  auto* inputs = static_cast<uint8_t*>(product.one.data[0].mutable_view().data);
  for (int64_t i = 0; i < 61; ++i) std::fill_n(inputs + i * 4100, 4000, uint8_t{255});
  const double levels = LevelsOfF32Sums(product.conv());
  EXPECT_GT(levels, 0.5);
  EXPECT_LT(levels, 1);
  const Differences rounded = Compare(product.one, /*exact_bytes=*/false);
  EXPECT_EQ(rounded.largest, 1);
  EXPECT_GT(rounded.count, 10);
  EXPECT_LT(rounded.count, 61 * 33 / 4);
  EXPECT_EQ(Compare(product.one, /*exact_bytes=*/true).count, 0);
}

// Weights and inputs of any size and sign, as those of networks: the bound is nearly a level, and no byte of
// thousands differs by more.
TEST_F(SumsOnGpu, OfLongConvolutionsAreWithinALevel) {
  int64_t bytes = 0, differ = 0;
  for (
      const char* text : {
          "QLinearConv(u8 1x515x7x6, const scalar in 0.5 to 0.5, const u8 scalar, const i8 35x515x3x3, const "
          "35 in 0.000001 to 0.000002, const i8 35 in 0 to 0, const scalar in 0.02 to 0.02, const i8 scalar, "
          "const i32 35 in -5000 to 5000) {pads=[1,0,2,1], strides=[2,1]}",
          "QLinearConv(i8 2x603x5x5, const scalar in 0.5 to 0.5, const i8 scalar, const u8 21x201x3x3, const "
          "scalar in 0.000004 to 0.000004, const u8 scalar in 120 to 136, const scalar in 0.02 to 0.02, "
          "const u8 scalar) {group=3, dilations=[2,1]}",
          "QLinearMatMul(u8 3x9001, const scalar in 0.5 to 0.5, const u8 scalar, const i8 9001x70, const 70 "
          "in "
          "0.0000002 to 0.0000004, const i8 70 in 0 to 0, const scalar in 0.02 to 0.02, const u8 scalar)",
      }) {
    SCOPED_TRACE(text);
    const OneNodeGraph one = MakeOneNodeGraph(ParseNode("here", text), /*seed=*/11);
    const Differences rounded = Compare(one, /*exact_bytes=*/false);
    EXPECT_LE(rounded.largest, 1);
    EXPECT_EQ(Compare(one, /*exact_bytes=*/true).count, 0);
    bytes += one.graph.value(one.graph.outputs[0]).shape.Elements();
    differ += rounded.count;
  }
  RecordProperty("bytes", int(bytes));
  RecordProperty("differ", int(differ));
  EXPECT_LT(differ, bytes / 50);
}

}  // namespace
}  // namespace mete::opencl
