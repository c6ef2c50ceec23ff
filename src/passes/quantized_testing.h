// Networks between tensors of bytes, for the tests of the pass fuse-quantized.
#pragma once

#include "base/fused.h"
#include "passes/graphs_testing.h"

namespace mete {

// Builds networks of quantized activations with a scale of 1/16 and a zero point of 3, and of i8 weights with
// one scale per channel.
class QuantizedBuilder : public Builder {
 public:
  using Builder::Builder;
  ValueId Quantize(ValueId x, DType type = DType::kI8, float scale = 0.0625f) {
    return Op("QuantizeLinear", {x, Scalar(scale), Zero(type)});
  }
  ValueId Dequantize(ValueId x, DType type = DType::kI8, float scale = 0.0625f) {
    return Op("DequantizeLinear", {x, Scalar(scale), Zero(type)});
  }
  // Quantizes and dequantizes.
  ValueId Rounded(ValueId x, DType type = DType::kI8, float scale = 0.0625f) {
    return Dequantize(Quantize(x, type, scale), type, scale);
  }
  ValueId Conv(ValueId x, int64_t in, int64_t out, int64_t kernel, float bias_factor = 1) {
    return Op("Conv", {x, Weights(Shape{out, in, kernel, kernel}, 0), Bias(out, bias_factor)});
  }
  // Weights with a scale for each index of `axis`.
  ValueId Weights(const Shape& shape, int axis) {
    Tensor weights(DType::kI8, shape);
    for (int64_t i = 0; i < weights.elements(); ++i)
      weights.mutable_view().as<int8_t>()[i] = int8_t(i * 37 % 101 - 50);
    return Dequantized(weights, Scales(shape[axis], 1), axis);
  }
  ValueId Bias(int64_t channels, float factor = 1) {
    Tensor bias(DType::kI32, Shape{channels});
    for (int64_t i = 0; i < channels; ++i)
      bias.mutable_view().as<int32_t>()[i] = int32_t(i * 5300 % 20000 - 10000);
    return Dequantized(bias, Scales(channels, 0.0625f * factor), 0);
  }

 private:
  static Tensor Scales(int64_t count, float factor) {
    Tensor scales(DType::kF32, Shape{count});
    for (int64_t i = 0; i < count; ++i)
      scales.mutable_view().as<float>()[i] = factor * (0.001f * float(i + 1));
    return scales;
  }
  ValueId Dequantized(const Tensor& t, const Tensor& scales, int64_t axis) {
    Attributes per_channel;
    per_channel.Set("axis", axis);
    return Op("DequantizeLinear", {graph.AddConstant(Name(), t), graph.AddConstant(Name(), scales)},
              per_channel);
  }
  ValueId Zero(DType type) {
    Tensor zero(type, Shape{});
    *static_cast<uint8_t*>(zero.mutable_view().data) = 3;
    return graph.AddConstant(Name(), zero);
  }
};

inline const Node* Find(const Graph& graph, const std::string& op) {
  for (const Node& n : graph.nodes)
    if (n.op == op) return &n;
  return nullptr;
}

// Runs the pass between two foldings, as RunPasses does, and compares the outputs with those of the graph in
// floats. A value on a rounding boundary may differ by one step of 1/16.
inline void ExpectSameToAStep(Graph& graph, bool (*pass)(Graph&) = FuseQuantized) {
  FoldConstants(graph, {.keep_dequantized = true});
  Settle(graph);
  const Tensor before = Evaluate(graph)[0];
  EXPECT_TRUE(pass(graph));
  FoldConstants(graph);
  Settle(graph);
  const Tensor after = Evaluate(graph)[0];
  int64_t different = 0;
  for (int64_t i = 0; i < before.elements(); ++i) {
    const float step = std::abs(before.as<float>()[i] - after.as<float>()[i]);
    ASSERT_LE(step, 0.0625f) << i;
    different += step != 0;
  }
  EXPECT_LE(different, before.elements() / 50);
}

}  // namespace mete
