// A share of an 8-bit network has the bits of the whole, at its seams as well, by the kernels that are fast.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "partition/share.h"
#include "passes/quantized_testing.h"
#include "processor/cpu/cpu_testing.h"

namespace mete {
namespace {

Attributes Windows(int64_t stride, int64_t pad) {
  Attributes a;
  a.Set("strides", Ints{stride, stride});
  a.Set("pads", Ints{pad, pad, pad, pad});
  return a;
}

constexpr float kScale = 0.0625f;  // of all values, so that sums have the scale of the builder's biases

ValueId Layer(QuantizedBuilder& b, DType type, ValueId x, const Shape& weights, int64_t stride,
              int64_t group = 1) {
  Attributes a = Windows(stride, weights[2] / 2);
  a.Set("group", group);
  return b.Rounded(b.Op("Conv", {x, b.Weights(weights, 0), b.Bias(weights[0])}, a), type, kScale);
}

// The kinds of layers of 8-bit networks: first layer, depthwise, 1x1, residual, pool, table, 3x3 with a
// stride. All values between the layers are bytes.
Graph NetOf(DType type) {
  QuantizedBuilder b;
  ValueId x = b.Rounded(b.Input({1, 3, 37, 23}), type, kScale);
  x = Layer(b, type, x, {24, 3, 3, 3}, 2);
  const ValueId shortcut = x;
  x = Layer(b, type, x, {24, 1, 3, 3}, 1, 24);
  x = b.Rounded(b.Op("Sigmoid", {x}), type, kScale);
  x = Layer(b, type, x, {24, 24, 1, 1}, 1);
  x = b.Rounded(b.Op("Add", {x, shortcut}), type, kScale);
  Attributes pool = Windows(1, 1);
  pool.Set("kernel_shape", Ints{3, 3});
  x = b.Op("MaxPool", {x}, pool);
  x = Layer(b, type, x, {40, 24, 3, 3}, 2);
  Graph graph = std::move(b.Output(Layer(b, type, x, {17, 40, 5, 5}, 1)));
  FoldConstants(graph, {.keep_dequantized = true});
  Settle(graph);
  FuseQuantized(graph);
  FoldConstants(graph);
  Settle(graph);
  return graph;
}

std::vector<int> AllNodes(const Graph& graph) {
  std::vector<int> nodes(graph.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

// Computes the output in parts that meet at `seams` of the axis, each by a session of its own.
Tensor ComputedInParts(const Graph& graph, const Tensor& input, int axis, const std::vector<int64_t>& seams) {
  const ValueId output = graph.outputs[0];
  Tensor stitched(graph.value(output).type, graph.value(output).shape);
  for (size_t s = 0; s + 1 < seams.size(); ++s) {
    const Part part = Part::Of(axis, {seams[s], seams[s + 1]});
    const ShareGraph share = MakeShareGraph(graph, AllNodes(graph), std::vector{ValuePart{output, part}});
    EXPECT_EQ(share.parts.inputs.size(), 1u);
    const Tensor piece =
        FastReady(share.graph)->Run(std::vector{Cut(input, share.parts.inputs[0].part)}, {}).at(0);
    Place(piece.view(), part, stitched.mutable_view(), Part::All());
  }
  return stitched;
}

TEST(ByteShares, SeamsHaveTheBitsOfTheWhole) {
  for (const DType type : {DType::kU8, DType::kI8}) {
    SCOPED_TRACE(type == DType::kU8 ? "u8" : "i8");
    const Graph graph = NetOf(type);
    ASSERT_EQ(CountOf(graph, "QLinearConv"), 5) << ToText(graph);
    const Tensor input = RandomInputs(graph, 5).at(0);
    const Tensor whole = FastReady(graph)->Run(std::vector{input}, {}).at(0);
    const int64_t rows = whole.shape()[2], channels = whole.shape()[1];
    using Division = std::pair<int, std::vector<int64_t>>;
    for (const auto& [axis, seams] :
         {Division{2, {0, 1, rows}}, Division{2, {0, 4, rows}}, Division{2, {0, 3, 7, rows - 1, rows}},
          Division{1, {0, 1, channels}}, Division{1, {0, 5, 16, channels}}}) {
      const Tensor parts = ComputedInParts(graph, input, axis, seams);
      EXPECT_EQ(std::memcmp(parts.data(), whole.data(), whole.bytes()), 0)
          << "axis " << axis << ", first seam at " << seams[1];
    }
  }
}

}  // namespace
}  // namespace mete
