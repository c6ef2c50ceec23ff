#include "quantize/equalize.h"

#include <algorithm>
#include <cmath>

#include "passes/rewrite.h"
#include "quantize/places.h"

namespace mete {
namespace {

// Factors beyond these bounds would move a channel's weights out of the range of the others'. A guess.
constexpr float kMostFactor = 8;

int64_t GroupOf(const Node& node) { return node.attributes.Int("group", 1); }

// Returns the input channel of the element `at` of the second product's weights. Conv: M x C/group x taps.
class InputChannels {
 public:
  InputChannels(const Node& node, const Shape& weights) : conv_(node.op == "Conv") {
    if (conv_) {
      per_group_ = weights[1];
      taps_ = weights.Elements(2, weights.rank());
      outputs_per_group_ = weights[0] / GroupOf(node);
    } else {
      transposed_ = WeightAxisOf(node) == 0;
      columns_ = weights[1];
    }
  }
  int64_t Of(int64_t at) const {
    if (!conv_) return transposed_ ? at % columns_ : at / columns_;
    const int64_t output = at / (per_group_ * taps_);
    return output / outputs_per_group_ * per_group_ + at / taps_ % per_group_;
  }

 private:
  bool conv_, transposed_ = false;
  int64_t per_group_ = 1, taps_ = 1, outputs_per_group_ = 1, columns_ = 1;
};

// Returns the output channel of the element `at` of the first product's weights.
int64_t OutputChannel(const Node& node, const Shape& weights, int64_t at) {
  return WeightAxisOf(node) == 0 ? at / weights.Elements(1, weights.rank()) : at % weights[1];
}

class Equalizer {
 public:
  explicit Equalizer(const Graph& graph) : graph_(graph) {}

  void Equalize(const EqualizablePair& pair, const std::vector<float>& activations) {
    const std::vector<float> factors = FactorsOf(graph_.nodes[pair.second], activations);
    Node& first = graph_.nodes[pair.first];
    const Shape shape = graph_.value(first.inputs[1]).shape;
    Scale(first, 1, [&](int64_t at) { return 1 / factors[size_t(OutputChannel(first, shape, at))]; });
    if (first.input(2) != kNoValue) Scale(first, 2, [&](int64_t at) { return 1 / factors[size_t(at)]; });
    Node& second = graph_.nodes[pair.second];
    const InputChannels channels(second, graph_.value(second.inputs[1]).shape);
    Scale(second, 1, [&](int64_t at) { return factors[size_t(channels.Of(at))]; });
  }

  Graph Take() { return std::move(graph_); }

 private:
  std::vector<float> FactorsOf(const Node& second, const std::vector<float>& activations) const {
    const Tensor& weights = graph_.value(second.inputs[1]).constant;
    std::vector<float> largest(activations.size()), factors(activations.size(), 1);
    const InputChannels channels(second, weights.shape());
    const int64_t count_of_weights = weights.elements();
    for (int64_t i = 0; i < count_of_weights; ++i) {
      float& of = largest[size_t(channels.Of(i))];
      of = std::max(of, std::abs(weights.as<float>()[i]));
    }
    double logs = 0;
    int64_t count = 0;
    for (size_t c = 0; c < factors.size(); ++c) {
      if (activations[c] <= 0 || largest[c] <= 0) continue;
      factors[c] = std::sqrt(activations[c] / largest[c]);
      logs += std::log(double(factors[c]));
      ++count;
    }
    // about a mean of 1, so that the sizes of activations and weights as a whole stay
    const auto mean = float(count ? std::exp(logs / double(count)) : 1);
    for (size_t c = 0; c < factors.size(); ++c) {
      const bool scaled = activations[c] > 0 && largest[c] > 0;
      factors[c] = scaled ? std::clamp(factors[c] / mean, 1 / kMostFactor, kMostFactor) : 1;
    }
    return factors;
  }

  template <class F>
  void Scale(Node& node, size_t input, F&& factor) {
    const Value& old = graph_.value(node.inputs[input]);
    Tensor scaled(DType::kF32, old.shape);
    const int64_t count = scaled.elements();
    auto* to = scaled.mutable_view().as<float>();
    for (int64_t i = 0; i < count; ++i) to[i] = old.constant.as<float>()[i] * factor(i);
    node.inputs[input] = graph_.AddConstant(std::string(old.name), std::move(scaled));
  }

  Graph graph_;
};

}  // namespace

std::vector<EqualizablePair> EqualizablePairs(const Graph& graph) {
  const Uses uses(graph);
  std::vector<EqualizablePair> pairs;
  const auto only_reader = [&](ValueId id) { return uses.OnlyReader(id) ? uses.readers[size_t(id)][0] : -1; };
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!HasWeights(graph, graph.nodes[n])) continue;
    ValueId between = graph.nodes[n].outputs[0];
    int reader = only_reader(between);
    if (reader >= 0 && graph.nodes[size_t(reader)].op == "Relu") {
      between = graph.nodes[size_t(reader)].outputs[0];
      reader = only_reader(between);
    }
    if (reader < 0) continue;
    const Node& second = graph.nodes[size_t(reader)];
    // a matrix product takes its channels along the last dimension, which is dimension 1 of a matrix
    const bool same_channels = (graph.nodes[n].op == "Conv") == (second.op == "Conv") &&
                               (second.op == "Conv" || graph.value(between).shape.rank() == 2);
    if (same_channels && HasWeights(graph, second) && second.inputs[0] == between)
      pairs.push_back({n, size_t(reader), between});
  }
  return pairs;
}

Graph Equalized(const Graph& graph, const std::vector<EqualizablePair>& pairs,
                const ChannelMagnitudes& magnitudes) {
  Equalizer equalizer(graph);
  for (const EqualizablePair& pair : pairs) equalizer.Equalize(pair, magnitudes.at(pair.between));
  return equalizer.Take();
}

}  // namespace mete
