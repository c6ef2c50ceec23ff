#include "quantize/places.h"

#include <algorithm>
#include <numeric>

#include "graph/traits.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

bool IsComputed(const Graph& graph, ValueId id) { return IsF32(graph, id) && !graph.value(id).is_constant(); }

// A set of values with one scale each; joined sets have one together.
class Sets {
 public:
  explicit Sets(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  ValueId Find(ValueId id) {
    while (parent_[size_t(id)] != id) id = parent_[size_t(id)] = parent_[size_t(parent_[size_t(id)])];
    return id;
  }
  void Join(ValueId a, ValueId b) { parent_[size_t(Find(a))] = Find(b); }

 private:
  std::vector<ValueId> parent_;
};

class Finder {
 public:
  Finder(const Graph& graph, const std::set<std::string>& kept)
      : graph_(graph), uses_(graph), sets_(graph.values.size()), needed_(graph.values.size()) {
    source_.resize(graph.values.size(), kNoValue);
    places_.computes.resize(graph.nodes.size());
    for (size_t n = 0; n < graph.nodes.size(); ++n) FindSource(graph.nodes[n]);
    for (size_t n = 0; n < graph.nodes.size(); ++n)
      places_.computes[n] = IsQuantizable(graph, graph.nodes[n]) && !IsOfOne(graph.nodes[n]) &&
                            !kept.contains(graph.nodes[n].name);
  }

  Places Find() {
    for (const Node& node : graph_.nodes)
      if (KeepsScale(node)) JoinAll(node);
    // Backwards, so that a value is known to be needed before the node that makes it is looked at.
    for (size_t n = graph_.nodes.size(); n-- > 0;) Visit(n);
    // A set is needed where one of its values is, also by a node that comes earlier.
    for (size_t n = graph_.nodes.size(); n-- > 0;) Visit(n);
    NumberSets();
    return std::move(places_);
  }

 private:
  // The value on which alone each value depends element by element; itself where there is none.
  void FindSource(const Node& node) {
    if (node.outputs.empty() || node.outputs[0] == kNoValue) return;
    ValueId& source = source_[size_t(node.outputs[0])];
    source = node.outputs[0];
    if (!IsElementwiseOperator(node.op) || !IsF32(graph_, node.outputs[0])) return;
    ValueId common = kNoValue;
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || graph_.value(id).is_constant()) {
        if (id != kNoValue && graph_.value(id).constant.elements() != 1) return;
        continue;
      }
      const ValueId of = SourceOf(id);
      if (common != kNoValue && common != of) return;
      common = of;
    }
    if (common != kNoValue && IsF32(graph_, common) &&
        graph_.value(common).shape == graph_.value(node.outputs[0]).shape)
      source = common;
  }
  ValueId SourceOf(ValueId id) const { return source_[size_t(id)] == kNoValue ? id : source_[size_t(id)]; }
  // Returns whether the node's output depends on one value element by element, as x * sigmoid(x) does.
  bool IsOfOne(const Node& node) const { return SourceOf(node.outputs[0]) != node.outputs[0]; }

  void JoinAll(const Node& node) {
    if (!IsF32(graph_, node.outputs[0])) return;
    const size_t count = node.op == "Concat" ? node.inputs.size() : 1;
    for (size_t i = 0; i < count; ++i)
      if (!IsComputed(graph_, node.inputs[i])) return;
    for (size_t i = 0; i < count; ++i) sets_.Join(node.inputs[i], node.outputs[0]);
    for (const ValueId id : node.outputs)
      if (id != kNoValue) sets_.Join(id, node.outputs[0]);
  }

  void Need(ValueId id) {
    if (IsComputed(graph_, id)) needed_[size_t(sets_.Find(id))] = true;
  }
  bool IsNeeded(ValueId id) { return id != kNoValue && needed_[size_t(sets_.Find(id))]; }

  void Visit(size_t n) {
    const Node& node = graph_.nodes[n];
    if (places_.computes[n]) {
      for (const ValueId id : node.inputs) Need(id);
      return;
    }
    if (node.outputs.empty() || !IsNeeded(node.outputs[0]) || !IsOfOne(node)) return;
    // A chain of element-wise nodes whose end is quantized begins at bytes if bytes are there.
    const ValueId source = SourceOf(node.outputs[0]);
    if (IsMadeAsBytes(source) && !IsClipOf(node, source)) Need(source);
  }

  // Returns whether the node makes bytes, if its output is quantized.
  bool IsMadeAsBytes(ValueId id) const {
    const int p = uses_.producer[size_t(id)];
    return p >= 0 && (places_.computes[size_t(p)] || KeepsScale(graph_.nodes[size_t(p)]));
  }

  // A Relu or Clip directly behind a product is a bound of its levels.
  bool IsClipOf(const Node& node, ValueId source) const {
    return IsOneOf(node.op, {"Relu", "Clip"}) && node.inputs[0] == source && uses_.OnlyReader(source) &&
           places_.computes[size_t(uses_.producer[size_t(source)])];
  }

  void NumberSets() {
    places_.scale_of.assign(graph_.values.size(), Places::kFloat);
    std::vector<int> number(graph_.values.size(), Places::kFloat);
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const auto id = ValueId(i);
      if (!IsComputed(graph_, id) || !IsNeeded(id)) continue;
      int& of = number[size_t(sets_.Find(id))];
      if (of == Places::kFloat) {
        of = int(places_.measured.size());
        places_.measured.emplace_back();
      }
      places_.scale_of[i] = of;
      const int p = uses_.producer[i];
      const bool moved = p >= 0 && KeepsScale(graph_.nodes[size_t(p)]) &&
                         IsComputed(graph_, graph_.nodes[size_t(p)].inputs[0]) &&
                         sets_.Find(graph_.nodes[size_t(p)].inputs[0]) == sets_.Find(id);
      if (!moved) places_.measured[size_t(of)].push_back(id);
    }
  }

  const Graph& graph_;
  const Uses uses_;
  Sets sets_;
  std::vector<bool> needed_;  // by the first value of a set
  std::vector<ValueId> source_;
  Places places_;
};

bool IsConstantF32(const Graph& graph, ValueId id) { return IsConstant(graph, id) && IsF32(graph, id); }

// Returns whether a bias can be 32-bit integers: one for each channel.
bool TakesBias(const Graph& graph, const Node& node) {
  const ValueId bias = node.input(2);
  if (bias == kNoValue) return true;
  const int64_t channels = graph.value(node.inputs[1]).shape[WeightAxisOf(node)];
  return IsConstantF32(graph, bias) && graph.value(bias).shape == Shape{channels};
}

}  // namespace

Places FindPlaces(const Graph& graph, const std::set<std::string>& kept) {
  return Finder(graph, kept).Find();
}

int WeightAxisOf(const Node& node) {
  if (node.op == "Conv") return 0;
  return node.op == "Gemm" && node.attributes.Int("transB", 0) != 0 ? 0 : 1;
}

// Pools of volumes, and convolutions of volumes with groups, have fast kernels of floats alone
// (passes/volume_convolutions.cc).
bool IsVolume(const Shape& shape) { return shape.rank() == 5; }

bool HasWeights(const Graph& graph, const Node& node) {
  if (!IsOneOf(node.op, {"Conv", "Gemm", "MatMul"}) || !IsComputed(graph, node.input(0)) ||
      !IsF32(graph, node.output(0)) || !IsConstantF32(graph, node.input(1)))
    return false;
  const Shape &x = graph.value(node.inputs[0]).shape, &w = graph.value(node.inputs[1]).shape;
  if (node.op == "Conv")
    return w.rank() >= 3 && TakesBias(graph, node) && !(IsVolume(x) && node.attributes.Int("group", 1) > 1);
  if (w.rank() != 2 || x.rank() < 2) return false;
  if (node.op == "MatMul") return true;
  return node.attributes.Int("transA", 0) == 0 && node.attributes.Float("alpha", 1) == 1 &&
         node.attributes.Float("beta", 1) == 1 && TakesBias(graph, node);
}

bool IsQuantizable(const Graph& graph, const Node& node) {
  if (HasWeights(graph, node)) return true;
  if (!IsF32(graph, node.output(0))) return false;
  if (IsOneOf(node.op, {"AveragePool", "GlobalAveragePool"}))
    return IsComputed(graph, node.input(0)) && !IsVolume(graph.value(node.inputs[0]).shape);
  return IsOneOf(node.op, {"Add", "Mul", "MatMul"}) && IsComputed(graph, node.input(0)) &&
         IsComputed(graph, node.input(1));
}

bool KeepsScale(const Node& node) {
  if (node.outputs.empty() || node.outputs[0] == kNoValue) return false;
  if (node.op == "MaxPool") return node.output(1) == kNoValue;
  if (node.op == "Resize") return node.attributes.String("mode", "nearest") == "nearest";
  // Padding adds zeros, which are a level of every scale.
  if (node.op == "Pad") return node.input(2) == kNoValue;
  return IsOneOf(node.op, {"Concat", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose",
                           "DepthToSpace", "SpaceToDepth", "Slice", "Split", "Expand", "Tile", "Identity"});
}

}  // namespace mete
