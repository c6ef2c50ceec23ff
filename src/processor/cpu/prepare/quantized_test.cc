// Compares quantized convolutions and conversions on the fast kernels with the reference: every bit of the
// integers must be equal.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "graph/operators.h"
#include "processor/cpu/prepare/kernels.h"

namespace mete {
namespace {

template <class T>
Tensor Random(DType type, const Shape& shape, int least, int most, std::mt19937& random) {
  Tensor t(type, shape);
  for (int64_t i = 0; i < t.elements(); ++i)
    t.mutable_view().as<T>()[i] = T(std::uniform_int_distribution<int>(least, most)(random));
  return t;
}

Tensor Bytes(DType type, const Shape& shape, std::mt19937& random) {
  return type == DType::kI8 ? Random<int8_t>(type, shape, -128, 127, random)
                            : Random<uint8_t>(type, shape, 0, 255, random);
}

struct Case {
  Shape x, w;
  DType x_type, y_type;
  bool per_channel = true, bias = true;
  Attributes attributes;
};

// A graph with one node, whose only input is x.
class QuantizedConvNode {
 public:
  explicit QuantizedConvNode(const Case& c) {
    std::mt19937 random(5);
    const int64_t channels = c.w[0], scales = c.per_channel ? channels : 1;
    x_ = Bytes(c.x_type, c.x, random);
    Tensor scale(DType::kF32, c.per_channel ? Shape{scales} : Shape{});
    const float typical = 1000.f * std::sqrt(float(c.w.Elements() / channels));
    for (int64_t i = 0; i < scales; ++i)
      scale.mutable_view().as<float>()[i] = (1.f + 0.1f * float(i)) / typical;
    auto constant = [&](const char* name, const Tensor& t) { return graph_.AddConstant(name, t); };
    const float one = 0.5f, y_scale = 0.02f;
    std::vector<ValueId> in = {graph_.AddValue("x", c.x_type, c.x),
                               constant("xs", Tensor::Floats({}, {&one, 1})),
                               constant("xz", Bytes(c.x_type, {}, random)),
                               constant("w", Bytes(DType::kI8, c.w, random)),
                               constant("ws", scale),
                               constant("wz", Tensor(DType::kI8, scale.shape())),
                               constant("ys", Tensor::Floats({}, {&y_scale, 1})),
                               constant("yz", Bytes(c.y_type, {}, random))};
    if (c.bias) in.push_back(constant("b", Random<int32_t>(DType::kI32, {channels}, -5000, 5000, random)));
    graph_.AddNode("QLinearConv", "node", in, {graph_.AddValue("y")}, c.attributes);
    InferShapes(graph_);
  }

  Tensor Run(const KernelOptions& options, std::string* kernel) {
    CpuKernels cpu(options);
    auto prepared = cpu.Prepare(graph_, graph_.nodes[0], Step{.threads = options.threads});
    *kernel = prepared->kernel();
    if (*kernel == "reference") *kernel += ": " + prepared->reason();
    std::vector<ConstView> in;
    for (ValueId id : graph_.nodes[0].inputs)
      in.push_back(graph_.value(id).is_constant() ? graph_.value(id).constant.view() : x_.view());
    const Value& y = graph_.value(graph_.nodes[0].outputs[0]);
    Tensor result(y.type, y.shape);
    std::vector<View> out{result.mutable_view()};
    prepared->Execute(in, out);
    return result;
  }

 private:
  Graph graph_;
  Tensor x_;
};

TEST(CpuQuantizedConv, EqualsTheReference) {
  Attributes padded, depthwise, grouped;
  padded.Set("pads", Ints{1, 0, 2, 1});
  padded.Set("strides", Ints{2, 1});
  depthwise.Set("group", int64_t{19});
  grouped.Set("group", int64_t{2});
  const Case cases[] = {
      {{2, 5, 6, 7}, {9, 5, 1, 1}, DType::kU8, DType::kU8, true, true, {}},
      {{1, 3, 9, 8}, {33, 3, 3, 3}, DType::kU8, DType::kI8, true, true, padded},
      {{2, 19, 7, 5}, {19, 1, 3, 3}, DType::kI8, DType::kU8, false, false, depthwise},
      {{1, 6, 5, 5}, {4, 3, 3, 2}, DType::kI8, DType::kI8, false, true, grouped},
  };
  for (const Case& c : cases)
    for (int threads : {1, 2, 3}) {
      QuantizedConvNode node(c);
      std::string reference, kernel;
      const Tensor want = node.Run({1, {}, true}, &reference), got = node.Run({threads, {}, false}, &kernel);
      ASSERT_EQ(kernel.rfind("quantized_", 0), 0u) << kernel;
      int different = 0, saturated = 0;
      for (int64_t i = 0; i < want.elements(); ++i) {
        different += want.as<uint8_t>()[i] != got.as<uint8_t>()[i];
        const int level = c.y_type == DType::kI8 ? want.as<int8_t>()[i] + 128 : want.as<uint8_t>()[i];
        saturated += level == 0 || level == 255;
      }
      EXPECT_EQ(different, 0) << ToString(c.w) << " with " << threads << " threads";
      EXPECT_LT(saturated, want.elements() * 9 / 10) << "the case tests little";
    }
}

TEST(CpuQuantizedConv, LeavesSumsThatFloatsCannotHoldToTheReference) {
  QuantizedConvNode node({{1, 4000, 1, 1}, {2, 4000, 1, 1}, DType::kU8, DType::kU8, true, true, {}});
  std::string kernel;
  node.Run({1, {}, false}, &kernel);
  EXPECT_EQ(kernel, "reference: sums may pass 2^24, where f32 is not exact");
}

TEST(CpuQuantizedConv, LeavesNhwcToTheReference) {
  Attributes nhwc;
  nhwc.Set("layout", std::string("NHWC"));
  QuantizedConvNode node({{1, 6, 7, 5}, {9, 5, 1, 1}, DType::kU8, DType::kU8, true, true, nhwc});
  std::string kernel;
  node.Run({1, {}, false}, &kernel);
  EXPECT_EQ(kernel, "reference: in NHWC");
}

TEST(CpuConvert, EqualsTheReference) {
  for (DType type : {DType::kI8, DType::kU8}) {
    std::mt19937 random(3);
    Graph graph;
    const float scale = 0.037f;
    const ValueId s = graph.AddConstant("s", Tensor::Floats({}, {&scale, 1})),
                  z = graph.AddConstant("z", Bytes(type, {}, random));
    const ValueId x = graph.AddValue("x", DType::kF32, {3, 7, 1001}), q = graph.AddValue("q"),
                  y = graph.AddValue("y");
    graph.AddNode("QuantizeLinear", "quantize", {x, s, z}, {q});
    graph.AddNode("DequantizeLinear", "dequantize", {q, s, z}, {y});
    InferShapes(graph);
    Tensor data(DType::kF32, {3, 7, 1001});
    // values that include ties
    for (int64_t i = 0; i < data.elements(); ++i)
      data.mutable_view().as<float>()[i] = scale * 0.5f * float(i % 1200 - 600);
    data.mutable_view().as<float>()[5] = INFINITY;
    data.mutable_view().as<float>()[6] = -1e30f;
    for (int64_t i : {7, 500, 20999}) data.mutable_view().as<float>()[i] = NAN;
    std::vector<Tensor> results[2];
    for (bool fast : {false, true}) {
      CpuKernels cpu({fast ? 2 : 1, {}, !fast});
      Tensor bytes(type, data.shape()), floats(DType::kF32, data.shape());
      const std::pair<const Tensor*, Tensor*> steps[] = {{&data, &bytes}, {&bytes, &floats}};
      for (size_t n = 0; n < 2; ++n) {
        auto prepared = cpu.Prepare(graph, graph.nodes[n], Step{.threads = cpu.pool().threads()});
        EXPECT_EQ(prepared->kernel() == "reference", !fast);
        std::vector<ConstView> in{steps[n].first->view(), graph.value(s).constant.view(),
                                  graph.value(z).constant.view()};
        std::vector<View> out{steps[n].second->mutable_view()};
        prepared->Execute(in, out);
      }
      results[fast] = {bytes, floats};
    }
    for (int64_t i = 0; i < data.elements(); ++i) {
      ASSERT_EQ(results[0][0].as<uint8_t>()[i], results[1][0].as<uint8_t>()[i])
          << data.as<float>()[i] / scale;
      ASSERT_EQ(results[0][1].as<float>()[i], results[1][1].as<float>()[i]);
    }
    const int level =
        type == DType::kI8 ? results[1][0].as<int8_t>()[7] + 128 : results[1][0].as<uint8_t>()[7];
    EXPECT_EQ(level, 0) << "a NaN is the least level";
  }
}

}  // namespace
}  // namespace mete
