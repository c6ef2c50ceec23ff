// What families_test.cc does not show of quantized nodes: that their outputs are spread over the levels, and
// the floats that are hard to round.
#include <cstring>

#include "processor/cpu/prepare/one_node_testing.h"

namespace mete {
namespace {

TEST(CpuQuantizedConv, MostOutputsOfTheTestedNodesAreNotSaturated) {
  std::vector<NodeText> nodes = ReadNodes("src/processor/cpu/prepare/nodes/quantized_conv.txt");
  for (NodeText& text : ReadNodes("src/processor/cpu/prepare/nodes/quantized_matrix.txt"))
    nodes.push_back(std::move(text));
  for (const NodeText& text : nodes) {
    if (text.expected.starts_with("reference")) continue;
    const Tensor y = OneNode(text, 11).Run({.reference = true})[0];
    if (y.type() == DType::kI32 || y.type() == DType::kF32) continue;
    int64_t saturated = 0;
    for (int64_t i = 0; i < y.elements(); ++i) {
      const int level = y.type() == DType::kI8 ? y.as<int8_t>()[i] + 128 : y.as<uint8_t>()[i];
      saturated += level == 0 || level == 255;
    }
    EXPECT_LT(saturated, y.elements() * 9 / 10) << text.where << " tests little";
  }
}

// The values include ties, NaN and values beyond all levels.
TEST(CpuConvert, HardFloatsEqualTheReference) {
  for (const std::string type : {"i8", "u8"}) {
    OneNode node(
        fmt::format("QuantizeLinear(3x7x1001, const scalar in 0.037 to 0.037, const {} scalar)", type), 3);
    const float scale = node.data(1).as<float>()[0];
    const int64_t elements = node.data(0).elements();
    for (int64_t i = 0; i < elements; ++i) node.SetInput(0, i, scale * 0.5f * float(i % 1200 - 600));
    node.SetInput(0, 5, INFINITY);
    node.SetInput(0, 6, -1e30f);
    for (int64_t i : {7, 500, 20999}) node.SetInput(0, i, NAN);
    std::string kernel;
    const Tensor want = node.Run({.reference = true})[0], got = node.Run({.threads = 2}, &kernel)[0];
    EXPECT_TRUE(kernel.starts_with("quantize_f32")) << kernel;
    EXPECT_EQ(std::memcmp(want.data(), got.data(), want.bytes()), 0);
    const int level = type == "i8" ? got.as<int8_t>()[7] + 128 : got.as<uint8_t>()[7];
    EXPECT_EQ(level, 0) << "a NaN is the least level";
  }
}

// Scales that are 0 or infinite, and bounds of which no zero point follows.
TEST(CpuDynamicConvert, HardFloatsEqualTheReference) {
  const std::vector<float> cases[] = {
      {1e-45f, 0},           {-1e-45f, 1e-45f},  {-1e-45f},    {INFINITY, -1, 2},
      {-INFINITY, INFINITY}, {3e38f, -3e38f, 1}, {NAN, 1, -2}, {NAN}};
  for (const std::vector<float>& values : cases) {
    OneNode node("DynamicQuantizeLinear[3](3x7x1001 in 0 to 1)", 3);
    for (int64_t i = 0; i < node.data(0).elements(); ++i)
      node.SetInput(0, i, values[size_t(i) % values.size()]);
    std::string kernel;
    const std::vector<Tensor> want = node.Run({.reference = true}), got = node.Run({.threads = 2}, &kernel);
    EXPECT_TRUE(kernel.starts_with("dynamic_quantize_f32")) << kernel;
    for (size_t o = 0; o < want.size(); ++o)
      EXPECT_EQ(std::memcmp(want[o].data(), got[o].data(), want[o].bytes()), 0)
          << "output " << o << " of " << values[0];
  }
}

}  // namespace
}  // namespace mete
