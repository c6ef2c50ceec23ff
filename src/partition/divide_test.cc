#include "partition/divide.h"

#include <cstring>
#include <functional>
#include <set>

#include "graph/operators.h"
#include "partition/share.h"
#include "passes/graphs_testing.h"

namespace mete {
namespace {

using Make = std::function<ValueId(Builder&)>;

Attributes Attrs(std::initializer_list<std::pair<const char*, Attribute>> items) {
  Attributes a;
  for (const auto& [name, value] : items) a.Set(name, value);
  return a;
}

// A graph whose last node, the last that `make` adds, is divided.
struct OneNode {
  explicit OneNode(const Make& make) {
    b.Output(make(b));
    InferShapes(b.graph);
    Verify(b.graph);
  }
  const Node& node() const { return b.graph.nodes.back(); }
  std::optional<Division> Of(int axis, int64_t begin, int64_t end) const {
    return Divide(b.graph, node(), Part::Of(axis, {begin, end}));
  }
  Builder b;
};

// Bytes quantizes an input to u8; ByteConstant makes a u8 constant.
ValueId Bytes(Builder& b, const Shape& shape) {
  const ValueId zero = b.graph.AddConstant("zero" + std::to_string(b.graph.values.size()),
                                           Tensor::Of<uint8_t>(DType::kU8, {}, std::vector<uint8_t>{100}));
  return b.Op("QuantizeLinear", {b.Input(shape), b.Scalar(0.01f), zero});
}
ValueId ByteConstant(Builder& b, const Shape& shape) {
  std::vector<uint8_t> values;
  for (int64_t i = 0; i < shape.Elements(); ++i) values.push_back(uint8_t(90 + 3 * i));
  return b.graph.AddConstant("bytes" + std::to_string(b.graph.values.size()),
                             Tensor::Of<uint8_t>(DType::kU8, shape, values));
}

struct ConvCase {
  int64_t kernel, stride, dilation, pad, pad_end, rows;
};

OneNode ConvOf(const ConvCase& c) {
  return OneNode([&](Builder& b) {
    return b.Op("Conv", {b.Input({1, 2, c.rows, 3}), b.Weight({4, 2, c.kernel, 1})},
                Attrs({{"strides", Ints{c.stride, 1}},
                       {"dilations", Ints{c.dilation, 1}},
                       {"pads", Ints{c.pad, 0, c.pad_end, 0}}}));
  });
}

TEST(Divide, AConvolutionNeedsItsHaloAndThePaddingOfItsEdges) {
  const OneNode conv = ConvOf({3, 1, 1, 1, 1, 16});
  const auto first = conv.Of(2, 0, 5), middle = conv.Of(2, 5, 9), last = conv.Of(2, 9, 16);
  EXPECT_EQ(first->inputs[0], Part::Of(2, {0, 6}));
  EXPECT_EQ(first->attributes.IntList("pads"), (Ints{1, 0, 0, 0}));
  EXPECT_EQ(middle->inputs[0], Part::Of(2, {4, 10}));
  EXPECT_EQ(middle->attributes.IntList("pads"), (Ints{0, 0, 0, 0}));
  EXPECT_EQ(last->inputs[0], Part::Of(2, {8, 16}));
  EXPECT_EQ(last->attributes.IntList("pads"), (Ints{0, 0, 1, 0}));
  EXPECT_TRUE(first->inputs[1].all());
}

TEST(Divide, StrideAndDilationWidenTheHalo) {
  // Output row o reads rows 2 o - 1, 2 o + 2, 2 o + 5 of 20.
  const OneNode conv = ConvOf({3, 2, 3, 1, 0, 20});
  EXPECT_EQ(conv.Of(2, 0, 2)->inputs[0], Part::Of(2, {0, 8}));
  EXPECT_EQ(conv.Of(2, 3, 5)->inputs[0], Part::Of(2, {5, 14}));
}

TEST(Divide, RowsOfPaddingAloneAreNotDivided) {
  const OneNode conv = ConvOf({2, 1, 1, 4, 0, 6});
  EXPECT_FALSE(conv.Of(2, 0, 2));
  EXPECT_TRUE(conv.Of(2, 2, 5));
}

TEST(Divide, ChannelsOfAConvolutionAreRowsOfItsWeights) {
  const OneNode conv([](Builder& b) {
    return b.Op("Conv", {b.Input({1, 3, 4, 4}), b.Weight({8, 3, 1, 1}), b.Weight({8})});
  });
  const auto d = conv.Of(1, 2, 5);
  EXPECT_TRUE(d->inputs[0].all());
  EXPECT_EQ(d->inputs[1], Part::Of(0, {2, 5}));
  EXPECT_EQ(d->inputs[2], Part::Of(0, {2, 5}));
}

TEST(Divide, GroupedConvolutionsAreDividedBetweenGroups) {
  const OneNode conv([](Builder& b) {
    return b.Op("Conv", {b.Input({1, 6, 4, 4}), b.Weight({9, 2, 1, 1})}, Attrs({{"group", int64_t(3)}}));
  });
  const auto d = conv.Of(1, 3, 9);
  EXPECT_EQ(d->inputs[0], Part::Of(1, {2, 6}));
  EXPECT_EQ(d->attributes.Int("group", 0), 2);
  const auto odd = conv.Of(1, 4, 8);  // channels of the second and the third group
  EXPECT_EQ(Part::Of(1, odd->rows.value()), Part::Of(1, {3, 9}));
  EXPECT_EQ(odd->inputs[0], Part::Of(1, {2, 6}));
  EXPECT_EQ(odd->inputs[1], Part::Of(0, {3, 9}));
}

TEST(Divide, RepeatedRowsAreMadeInBlocksOfOne) {
  const OneNode twice([](Builder& b) {
    return b.Op("Resize", {b.Input({1, 3, 8, 8}), kNoValue, kNoValue, b.Ints({1, 3, 24, 16})});
  });
  const auto d = twice.Of(2, 4, 13);
  EXPECT_EQ(Part::Of(2, d->rows.value()), Part::Of(2, {3, 15}));
  EXPECT_EQ(d->inputs[0], Part::Of(2, {1, 5}));
  EXPECT_EQ(d->ints.at(3), (Ints{1, 3, 12, 16}));
  // This mode rounds up from the edges of pixels, so the last row of a block copies the next input row.
  const OneNode up([](Builder& b) {
    return b.Op("Resize", {b.Input({1, 3, 8, 8}), kNoValue, kNoValue, b.Ints({1, 3, 24, 16})},
                Attrs({{"coordinate_transformation_mode", std::string("asymmetric")},
                       {"nearest_mode", std::string("ceil")}}));
  });
  EXPECT_FALSE(up.Of(2, 0, 12));
}

TEST(Divide, ChannelsOfAFlattenedImageAreRowsOfItsFeatures) {
  const OneNode flat([](Builder& b) { return b.Op("Flatten", {b.Input({1, 6, 2, 5})}); });
  EXPECT_EQ(flat.Of(1, 20, 40)->inputs[0], Part::Of(1, {2, 4}));
  EXPECT_FALSE(flat.Of(1, 20, 41));
}

TEST(Divide, WhatDependsOnDataIsNotDivided) {
  Builder b;
  const ValueId x = b.Input({4, 4});
  b.Output(b.Op("Relu", {b.Op("NonZero", {x})}));
  InferShapes(b.graph);
  for (const Node& node : b.graph.nodes) EXPECT_FALSE(Divide(b.graph, node, Part::Of(0, {0, 1})));
}

TEST(Divide, RowsThatAreNotThereAreNotDivided) {
  const OneNode relu([](Builder& b) { return b.Op("Relu", {b.Input({2, 5})}); });
  EXPECT_TRUE(relu.Of(1, 0, 5));
  EXPECT_FALSE(relu.Of(1, 0, 6));
  EXPECT_FALSE(relu.Of(1, 3, 3));
  EXPECT_FALSE(relu.Of(2, 0, 1));
}

// The axes along which each operator can be divided. The test also checks the results of the shares.
struct AxesCase {
  const char* name;
  const char* axes;  // the axes of the output that can be divided in halves
  Make make;
};

const std::vector<AxesCase>& AxesCases() {
  static const std::vector<AxesCase> cases = {
      {"Conv", "0123",
       [](Builder& b) {
         return b.Conv(b.Input({2, 4, 6, 6}), 4, 6, 3, {1, 1, 1, 1});
       }},
      {"ConvTranspose", "023",
       [](Builder& b) {
         return b.Op("ConvTranspose", {b.Input({2, 4, 6, 6}), b.Weight({4, 3, 3, 3})});
       }},
      {"ConvInteger", "0123",
       [](Builder& b) {
         return b.Op("ConvInteger",
                     {Bytes(b, {2, 4, 7, 5}), ByteConstant(b, {6, 2, 3, 3}), ByteConstant(b, {}),
                      ByteConstant(b, {})},
                     Attrs({{"group", int64_t(2)}, {"pads", Ints{1, 0, 2, 1}}}));
       }},
      {"mete.ScaledConvInteger", "0123",
       [](Builder& b) {
         return b.Op("mete.ScaledConvInteger",
                     {Bytes(b, {2, 4, 7, 5}), ByteConstant(b, {6, 4, 3, 3}), ByteConstant(b, {}),
                      ByteConstant(b, {}), b.Weight({6}), b.Weight({6})},
                     Attrs({{"pads", Ints{1, 0, 2, 1}}}));
       }},
      {"QLinearConv", "0123",
       [](Builder& b) {
         return b.Op(
             "QLinearConv",
             {Bytes(b, {2, 4, 7, 5}), b.Scalar(0.01f), ByteConstant(b, {}), ByteConstant(b, {6, 4, 3, 3}),
              b.Scalar(0.02f), ByteConstant(b, {}), b.Scalar(0.5f), ByteConstant(b, {})},
             Attrs({{"strides", Ints{2, 1}}, {"pads", Ints{1, 1, 1, 1}}}));
       }},
      {"QLinearConv", "0123",  // with scales, zero points and biases of its channels
       [](Builder& b) {
         const ValueId bias = b.graph.AddConstant(
             "bias", Tensor::Of<int32_t>(DType::kI32, {6}, std::vector<int32_t>{9, -40, 0, 70, 300, -5}));
         return b.Op(
             "QLinearConv",
             {Bytes(b, {2, 4, 7, 5}), b.Scalar(0.01f), ByteConstant(b, {}), ByteConstant(b, {6, 2, 3, 3}),
              b.Weight({6}, 0.01f, 0.02f), ByteConstant(b, {6}), b.Scalar(0.5f), ByteConstant(b, {}), bias},
             Attrs({{"group", int64_t(2)}, {"pads", Ints{1, 0, 1, 1}}}));
       }},
      {"MaxPool", "0123",
       [](Builder& b) {
         return b.Op("MaxPool", {b.Input({2, 4, 6, 6})}, Attrs({{"kernel_shape", Ints{2, 2}}}));
       }},
      {"mete.QLinearAveragePool", "0123",
       [](Builder& b) {
         return b.Op("mete.QLinearAveragePool",
                     {Bytes(b, {2, 4, 6, 6}), b.Scalar(0.01f), ByteConstant(b, {}), b.Scalar(0.02f),
                      ByteConstant(b, {})},
                     Attrs({{"kernel_shape", Ints{2, 2}}}));
       }},
      {"mete.QLinearGlobalAveragePool", "01",
       [](Builder& b) {
         return b.Op("mete.QLinearGlobalAveragePool",
                     {Bytes(b, {2, 4, 6, 6}), b.Scalar(0.01f), ByteConstant(b, {}), b.Scalar(0.02f),
                      ByteConstant(b, {})});
       }},
      {"mete.QLinearAdd", "0123",
       [](Builder& b) {
         return b.Op("mete.QLinearAdd",
                     {Bytes(b, {2, 4, 6, 6}), b.Scalar(0.01f), ByteConstant(b, {}), Bytes(b, {4, 1, 6}),
                      b.Scalar(0.03f), ByteConstant(b, {}), b.Scalar(0.02f), ByteConstant(b, {})},
                     Attrs({{"levels", Ints{20, 200}}}));
       }},
      {"mete.ByteTable", "012",
       [](Builder& b) {
         return b.Op("mete.ByteTable", {Bytes(b, {2, 4, 6}), ByteConstant(b, {256})});
       }},
      {"GlobalMaxPool", "01",
       [](Builder& b) {
         return b.Op("GlobalMaxPool", {b.Input({2, 4, 6, 6})});
       }},
      {"Gemm", "01",
       [](Builder& b) {
         return b.Op("Gemm", {b.Input({4, 6}), b.Weight({6, 8}), b.Weight({8})});
       }},
      {"Gemm with a bias for each row", "01",
       [](Builder& b) {
         return b.Op("Gemm", {b.Input({4, 6}), b.Weight({6, 8}), b.Weight({4, 1})});
       }},
      {"Gemm transposed", "01",
       [](Builder& b) {
         return b.Op("Gemm", {b.Input({6, 4}), b.Weight({8, 6})},
                     Attrs({{"transA", int64_t(1)}, {"transB", int64_t(1)}}));
       }},
      {"MatMul", "0123",
       [](Builder& b) {
         return b.Op("MatMul", {b.Input({2, 1, 4, 5}), b.Input({2, 5, 6})});
       }},
      {"Attention", "012",
       [](Builder& b) {
         return b.Op("Attention", {b.Input({2, 4, 6, 8}), b.Input({2, 4, 5, 8}), b.Input({2, 4, 5, 8})});
       }},
      {"MatMul with a bias", "0123",
       [](Builder& b) {
         return b.Op("MatMul", {b.Input({2, 1, 4, 5}), b.Input({2, 5, 6}), b.Weight({6})});
       }},
      {"MatMulInteger", "012",
       [](Builder& b) {
         return b.Op("MatMulInteger",
                     {Bytes(b, {2, 4, 5}), Bytes(b, {2, 5, 6}), ByteConstant(b, {4}), ByteConstant(b, {6})});
       }},
      {"MatMulInteger with matrices of zero points", "012",
       [](Builder& b) {
         return b.Op("MatMulInteger", {Bytes(b, {2, 4, 5}), Bytes(b, {2, 5, 6}), ByteConstant(b, {2, 4, 1}),
                                       ByteConstant(b, {2, 1, 6})});
       }},
      {"mete.ScaledMatMulInteger", "012",
       [](Builder& b) {
         return b.Op("mete.ScaledMatMulInteger", {Bytes(b, {2, 4, 5}), Bytes(b, {5, 6}), ByteConstant(b, {4}),
                                                  ByteConstant(b, {6}), b.Weight({6}), b.Weight({1})});
       }},
      {"QLinearMatMul", "012",
       [](Builder& b) {
         return b.Op("QLinearMatMul", {Bytes(b, {2, 4, 5}), b.Weight({4}, 0.01f, 0.02f), ByteConstant(b, {4}),
                                       Bytes(b, {5, 6}), b.Weight({6}, 0.01f, 0.02f), ByteConstant(b, {6}),
                                       b.Scalar(0.02f), ByteConstant(b, {})});
       }},
      {"Attention with a mask", "012",
       [](Builder& b) {
         return b.Op("Attention", {b.Input({2, 4, 6, 8}), b.Input({2, 4, 6, 8}), b.Input({2, 4, 6, 8}),
                                   b.Input({4, 6, 6})});
       }},
      {"causal Attention", "01",
       [](Builder& b) {
         return b.Op("Attention", {b.Input({2, 4, 6, 8}), b.Input({2, 4, 6, 8}), b.Input({2, 4, 6, 8})},
                     Attrs({{"is_causal", int64_t(1)}}));
       }},
      {"Softmax", "01",
       [](Builder& b) {
         return b.Op("Softmax", {b.Input({2, 4, 6})});
       }},
      {"LayerNormalization", "01",
       [](Builder& b) {
         return b.Op("LayerNormalization", {b.Input({2, 4, 6}), b.Weight({6}), b.Weight({6})});
       }},
      {"InstanceNormalization", "01",
       [](Builder& b) {
         return b.Op("InstanceNormalization", {b.Input({2, 4, 6}), b.Weight({4}), b.Weight({4})});
       }},
      {"BatchNormalization", "0123",
       [](Builder& b) {
         return b.BatchNorm(b.Input({2, 4, 6, 6}), 4);
       }},
      {"LRN", "023",
       [](Builder& b) {
         return b.Op("LRN", {b.Input({2, 4, 6, 6})}, Attrs({{"size", int64_t(3)}}));
       }},
      {"ReduceMean", "02",
       [](Builder& b) {
         return b.Op("ReduceMean", {b.Input({2, 4, 6, 8}), b.Ints({1, -1})});
       }},
      {"ReduceMean without dimensions", "01",
       [](Builder& b) {
         return b.Op("ReduceMean", {b.Input({2, 4, 6, 8}), b.Ints({1, -1})},
                     Attrs({{"keepdims", int64_t(0)}}));
       }},
      {"Reshape", "013",
       [](Builder& b) {
         return b.Op("Reshape", {b.Input({2, 4, 6, 8}), b.Ints({2, 2, 2, 48})});
       }},
      {"Transpose", "012",
       [](Builder& b) {
         return b.Op("Transpose", {b.Input({2, 4, 6})});
       }},
      {"Unsqueeze", "02",
       [](Builder& b) {
         return b.Op("Unsqueeze", {b.Input({2, 4}), b.Ints({1})});
       }},
      {"Expand", "01",
       [](Builder& b) {
         return b.Op("Expand", {b.Input({4, 1}), b.Ints({4, 6})});
       }},
      {"Concat", "02",
       [](Builder& b) {
         return b.Op("Concat", {b.Input({2, 4, 6}), b.Input({2, 2, 6})}, Attrs({{"axis", int64_t(1)}}));
       }},
      {"Gather", "0123",
       [](Builder& b) {
         Tensor indices = Tensor::Of<int64_t>(DType::kI64, {2, 2}, std::vector<int64_t>{3, 0, 1, 2});
         return b.Op("Gather", {b.Input({2, 4, 6}), b.graph.AddConstant("indices", indices)},
                     Attrs({{"axis", int64_t(1)}}));
       }},
      {"Slice", "012",
       [](Builder& b) {
         return b.Op("Slice", {b.Input({2, 9, 6}), b.Ints({-8}), b.Ints({100}), b.Ints({1}), b.Ints({3})});
       }},
      {"Slice backwards", "02",
       [](Builder& b) {
         return b.Op("Slice", {b.Input({2, 9, 6}), b.Ints({8}), b.Ints({0}), b.Ints({1}), b.Ints({-3})});
       }},
      {"Pad", "012",
       [](Builder& b) {
         return b.Op("Pad", {b.Input({2, 4, 6}), b.Ints({0, 1, 0, 0, 2, 0})});
       }},
      {"Pad by reflection", "02",
       [](Builder& b) {
         return b.Op("Pad", {b.Input({2, 4, 6}), b.Ints({0, 1, 0, 0, 2, 0})},
                     Attrs({{"mode", std::string("reflect")}}));
       }},
      {"Where", "01",
       [](Builder& b) {
         return b.Op("Where", {b.Op("Greater", {b.Input({4, 6}), b.Scalar(0)}), b.Input({6}), b.Scalar(1)});
       }},
      {"Squeeze without axes", "",
       [](Builder& b) {
         return b.Op("Squeeze", {b.Input({1, 4, 5})});
       }},
      {"Squeeze", "01",
       [](Builder& b) {
         return b.Op("Squeeze", {b.Input({1, 4, 5}), b.Ints({0})});
       }},
      {"Transpose in a given order", "012",
       [](Builder& b) {
         return b.Op("Transpose", {b.Input({2, 4, 6})}, Attrs({{"perm", Ints{0, 2, 1}}}));
       }},
      {"BatchNormalization in training", "",
       [](Builder& b) {
         return b.Op(
             "BatchNormalization",
             {b.Input({2, 4, 6, 6}), b.Weight({4}), b.Weight({4}), b.Weight({4}), b.Weight({4}, 0.5, 2)},
             Attrs({{"training_mode", int64_t(1)}}));
       }},
      {"Attention through a window", "01",
       [](Builder& b) {
         return b.Op("Attention", {b.Input({2, 4, 6, 8}), b.Input({2, 4, 6, 8}), b.Input({2, 4, 6, 8})},
                     Attrs({{"left_window_size", int64_t(2)}}));
       }},
      {"QuantizeLinear in blocks", "",
       [](Builder& b) {
         const Attributes blocks = Attrs({{"axis", int64_t(0)}, {"block_size", int64_t(4)}});
         return b.Op("QuantizeLinear", {b.Input({8}), b.Weight({2}, 0.1f, 0.2f)}, blocks);
       }},
      {"MaxPool with an empty auto_pad", "0123",
       [](Builder& b) {
         Attributes a =
             Attrs({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"ceil_mode", int64_t(1)}});
         a.Set("auto_pad", std::string(""));
         return b.Op("MaxPool", {b.Input({2, 4, 7, 5})}, a);
       }},
      {"SwiGLU", "01",
       [](Builder& b) {
         return b.Op("SwiGLU", {b.Input({4, 6}), b.Input({4, 6})});
       }},
      {"Clip", "01",
       [](Builder& b) {
         return b.Op("Clip", {b.Input({4, 6}), b.Scalar(-1), b.Scalar(1)});
       }},
      {"QuantizeLinear", "01",
       [](Builder& b) {
         const ValueId zero =
             b.graph.AddConstant("zero", Tensor::Of<uint8_t>(DType::kU8, {6}, std::vector<uint8_t>(6, 128)));
         return b.Op("QuantizeLinear", {b.Input({4, 6}), b.Weight({6}, 0.1f, 0.2f), zero});
       }},
      {"SpaceToDepth", "023",
       [](Builder& b) {
         return b.Op("SpaceToDepth", {b.Input({2, 4, 8, 8})}, Attrs({{"blocksize", int64_t(2)}}));
       }},
      {"Resize by 2", "0123",
       [](Builder& b) {
         return b.Op("Resize", {b.Input({2, 4, 6, 6}), kNoValue, b.Floats({1, 1, 2, 2})});
       }},
      {"Resize by 1.5", "01",
       [](Builder& b) {
         return b.Op("Resize", {b.Input({2, 4, 6, 6}), kNoValue, b.Floats({1, 1, 1.5f, 1.5f})});
       }},
      {"Resize of axes", "012",
       [](Builder& b) {
         return b.Op("Resize", {b.Input({2, 4, 6, 6}), kNoValue, kNoValue, b.Ints({9})},
                     Attrs({{"axes", Ints{-1}}, {"mode", std::string("linear")}}));
       }},
      {"DepthToSpace", "023",
       [](Builder& b) {
         return b.Op("DepthToSpace", {b.Input({2, 8, 4, 4})}, Attrs({{"blocksize", int64_t(2)}}));
       }},
      {"CumSum", "",
       [](Builder& b) {
         return b.Op("CumSum", {b.Input({4, 6}), b.Ints({1})});
       }},
  };
  return cases;
}

TEST(Divide, EachOperatorAlongItsAxes) {
  for (const AxesCase& c : AxesCases()) {
    SCOPED_TRACE(c.name);
    const OneNode one(c.make);
    const Graph& graph = one.b.graph;
    const std::vector<Tensor> values = EvaluateAll(graph, RandomInputs(graph, 1));
    const int node = int(graph.nodes.size()) - 1;
    const ValueId out = graph.outputs[0];
    const Tensor& whole = values[size_t(out)];
    std::string axes;
    for (int axis = 0; axis < whole.shape().rank(); ++axis) {
      const int64_t extent = whole.shape()[axis], half = extent / 2;
      if (extent < 2) continue;
      const bool divided = one.Of(axis, 0, half) && one.Of(axis, half, extent);
      if (divided) axes += char('0' + axis);
      Tensor stitched(whole.type(), whole.shape());
      // The second half is divided row by row, because operators that look for dimensions of 1 treat parts of
      // one row differently.
      std::vector<IndexRange> parts{{0, half}};
      for (int64_t row = half; row < extent; ++row) parts.push_back({row, row + 1});
      for (const IndexRange& rows : parts) {
        const ShareGraph share =
            MakeShareGraph(graph, std::vector{node}, std::vector{ValuePart{out, Part::Of(axis, rows)}});
        Verify(share.graph);
        if (rows.begin == 0) {
          EXPECT_EQ(!share.parts.computed[0].all(), divided);
        }
        std::vector<Tensor> inputs;
        for (const ValuePart& input : share.parts.inputs)
          inputs.push_back(Cut(values[size_t(input.value)], input.part));
        const Tensor piece = EvaluateAll(share.graph, inputs)[size_t(share.graph.outputs[0])];
        Place(piece.view(), Part::Of(axis, rows), stitched.mutable_view(), Part::All());
      }
      EXPECT_EQ(std::memcmp(stitched.data(), whole.data(), whole.bytes()), 0) << "axis " << axis;
    }
    EXPECT_EQ(axes, c.axes);
  }
}

// A rule that no case above divides could be wrong unseen.
TEST(Divide, EachRuleHasACaseAbove) {
  std::set<DivideBy> tried;
  for (const AxesCase& c : AxesCases()) tried.insert(TraitsOf(OneNode(c.make).node().op).divide_by);
  for (const OpSchema* op : AllOperators()) EXPECT_TRUE(tried.contains(op->traits.divide_by)) << op->name;
}

}  // namespace
}  // namespace mete
