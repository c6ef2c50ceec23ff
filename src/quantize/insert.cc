#include "quantize/insert.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "graph/operators.h"
#include "passes/rewrite.h"
#include "quantize/finished.h"

namespace mete {
namespace {

Tensor ScalarF32(float value) { return Tensor::Floats({}, std::span(&value, 1)); }

Tensor ZeroPoint(const ActivationScale& s) {
  if (s.type == DType::kI8) {
    const auto zero = int8_t(s.zero);
    return Tensor::Of<int8_t>(DType::kI8, {}, std::span(&zero, 1));
  }
  const auto zero = uint8_t(s.zero);
  return Tensor::Of<uint8_t>(DType::kU8, {}, std::span(&zero, 1));
}

// The level of a number, without the bounds of a byte.
double LevelOf(double value, const ActivationScale& s) { return std::nearbyint(value / s.scale) + s.zero; }

class Inserter {
 public:
  Inserter(const Graph& graph, const Places& places, const Scales& scales)
      : graph_(graph), before_(graph), uses_(graph), places_(places), scales_(scales) {}

  Graph Run() {
    scale_ids_.resize(scales_.activations.size(), {kNoValue, kNoValue});
    LeaveOutClips();
    // Constants that the graph got after its places were found have no scale.
    for (size_t i = 0; i < places_.scale_of.size(); ++i)
      if (places_.scale_of[i] != Places::kFloat) Quantize(ValueId(i));
    for (size_t n = 0; n < before_.nodes.size(); ++n)
      if (places_.computes[n] && HasWeights(before_, before_.nodes[n])) QuantizeProduct(n);
    return Finished(std::move(graph_));
  }

 private:
  const ActivationScale& ScaleAt(ValueId id) const {
    return scales_.activations[size_t(places_.scale_of[size_t(id)])];
  }

  // The node before writes the clip's output, if saturation has the effect of the clip.
  void LeaveOutClips() {
    for (size_t n = 0; n < before_.nodes.size(); ++n) {
      const Node& clip = before_.nodes[n];
      if (!IsOneOf(clip.op, {"Relu", "Clip"}) || places_.scale_of[size_t(clip.outputs[0])] == Places::kFloat)
        continue;
      const ValueId from = clip.inputs[0];
      const int p = uses_.producer[size_t(from)];
      if (p < 0 || !places_.computes[size_t(p)] || !uses_.OnlyReader(from) ||
          places_.scale_of[size_t(from)] != Places::kFloat || !Saturates(clip, ScaleAt(clip.outputs[0])))
        continue;
      graph_.nodes[size_t(p)].outputs[0] = clip.outputs[0];
      graph_.nodes[n].op.clear();
    }
  }

  // Returns whether rounding to a byte clips at least as much as the node does.
  bool Saturates(const Node& clip, const ActivationScale& s) const {
    const double lowest = s.type == DType::kI8 ? -128 : 0, highest = lowest + kLevels8;
    if (clip.op == "Relu") return s.zero <= lowest;
    const auto low = ScalarOf(before_, clip.input(1)), high = ScalarOf(before_, clip.input(2));
    if ((clip.input(1) != kNoValue && !low) || (clip.input(2) != kNoValue && !high)) return false;
    return (!low || LevelOf(*low, s) <= lowest) && (!high || LevelOf(*high, s) >= highest);
  }

  std::pair<ValueId, ValueId> ScaleIds(ValueId id) {
    auto& ids = scale_ids_[size_t(places_.scale_of[size_t(id)])];
    if (ids.first == kNoValue) {
      const std::string name = before_.value(id).name;
      ids.first = graph_.AddConstant(name + "_scale", ScalarF32(ScaleAt(id).scale));
      ids.second = graph_.AddConstant(name + "_zero_point", ZeroPoint(ScaleAt(id)));
    }
    return ids;
  }

  void Quantize(ValueId id) {
    const std::string name = before_.value(id).name;
    const Shape shape = before_.value(id).shape;
    const auto [scale, zero] = ScaleIds(id);
    const ValueId bytes = graph_.AddValue(name + "_quantized", ScaleAt(id).type, shape);
    const ValueId floats = graph_.AddValue(DequantizedName(name), DType::kF32, shape);
    for (const int reader : uses_.readers[size_t(id)])
      if (ReadsBytes(size_t(reader), id))
        std::replace(graph_.nodes[size_t(reader)].inputs.begin(), graph_.nodes[size_t(reader)].inputs.end(),
                     id, floats);
    graph_.AddNode("QuantizeLinear", name + "_QuantizeLinear", {id, scale, zero}, {bytes});
    graph_.AddNode("DequantizeLinear", name + "_DequantizeLinear", {bytes, scale, zero}, {floats});
  }

  // What a node on bytes makes has only readers of bytes. Readers on floats of another value, such as the
  // residual sum beside a product, keep the value as it is.
  bool ReadsBytes(size_t reader, ValueId id) const {
    const int p = uses_.producer[size_t(id)];
    const bool made_as_bytes = p >= 0 && (places_.computes[size_t(p)] ||
                                          KeepsScale(before_.nodes[size_t(p)]) || IsClipOfBytes(size_t(p)));
    const Node& node = before_.nodes[reader];
    return made_as_bytes || places_.computes[reader] ||
           (KeepsScale(node) && places_.scale_of[size_t(node.outputs[0])] != Places::kFloat);
  }
  bool IsClipOfBytes(size_t n) const {
    const Node& node = before_.nodes[n];
    if (!IsOneOf(node.op, {"Relu", "Clip"})) return false;
    const int p = uses_.producer[size_t(node.inputs[0])];
    return p >= 0 && places_.computes[size_t(p)];
  }

  void QuantizeProduct(size_t n) {
    const Node& product = before_.nodes[n];
    const float input_scale = ScaleAt(product.inputs[0]).scale;
    const QuantizedWeights weights = WeightsOf(before_, product, *scales_.weights, input_scale);
    const int axis = WeightAxisOf(product);
    graph_.nodes[n].inputs[1] =
        Dequantized(product, before_.value(product.inputs[1]).name, weights.bytes, weights.scales, axis);
    if (product.input(2) == kNoValue) return;
    const Tensor& bias = before_.value(product.inputs[2]).constant;
    Tensor integers(DType::kI32, bias.shape()), scales(DType::kF32, bias.shape());
    for (int64_t c = 0; c < bias.elements(); ++c) {
      const float scale = input_scale * weights.scales.as<float>()[c];
      scales.mutable_view().as<float>()[c] = scale;
      integers.mutable_view().as<int32_t>()[c] =
          int32_t(std::nearbyint(double(bias.as<float>()[c]) / double(scale)));
    }
    graph_.nodes[n].inputs[2] =
        Dequantized(product, before_.value(product.inputs[2]).name, integers, scales, 0);
  }

  // Adds a constant behind a DequantizeLinear, and returns the latter's output.
  ValueId Dequantized(const Node& reader, const std::string& name, const Tensor& integers,
                      const Tensor& scales, int axis) {
    // Weights that two products share are quantized for each, because a bias may ask for another scale.
    const std::string own = names_.insert({name, 0}).first->second++ == 0 ? name : name + "_" + reader.name;
    Attributes attributes;
    attributes.Set("axis", int64_t(axis));
    const ValueId out = graph_.AddValue(DequantizedName(own), DType::kF32, integers.shape());
    graph_.AddNode(
        "DequantizeLinear", own + "_DequantizeLinear",
        {graph_.AddConstant(own + "_quantized", integers), graph_.AddConstant(own + "_scale", scales)}, {out},
        std::move(attributes));
    return out;
  }

  Graph graph_;
  const Graph& before_;
  const Uses uses_;
  const Places& places_;
  const Scales& scales_;
  std::vector<std::pair<ValueId, ValueId>> scale_ids_;
  std::map<std::string, int> names_;
};

}  // namespace

std::string DequantizedName(const std::string& value) { return value + "_dequantized"; }

WeightScales FindWeightScales(const Graph& graph) {
  WeightScales scales;
  for (const Node& node : graph.nodes)
    if (HasWeights(graph, node) && !scales.contains(node.inputs[1]))
      scales[node.inputs[1]] = WeightScalesOf(graph.value(node.inputs[1]).constant, WeightAxisOf(node));
  return scales;
}

QuantizedWeights WeightsOf(const Graph& graph, const Node& product, const WeightScales& known,
                           float input_scale) {
  // A bias in units of the scale takes at most half of what 32 bits hold, so that the sum of the products has
  // room beside it.
  constexpr float kMostBias = float(1 << 30);
  std::vector<float> scales = known.at(product.inputs[1]);
  if (product.input(2) != kNoValue) {
    const auto* bias = graph.value(product.inputs[2]).constant.as<float>();
    for (size_t c = 0; c < scales.size(); ++c)
      if (const float least = std::abs(bias[c]) / (input_scale * kMostBias); least >= kLeastScale)
        scales[c] = std::max(scales[c], least);
  }
  std::replace(scales.begin(), scales.end(), 0.0f, 1.0f);  // all weights and the bias are 0 or all but 0
  return QuantizeWeights(graph.value(product.inputs[1]).constant, WeightAxisOf(product), scales);
}

Graph InsertQuantization(const Graph& graph, const Places& places, const Scales& scales) {
  return Inserter(graph, places, scales).Run();
}

}  // namespace mete
