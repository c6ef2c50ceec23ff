#include "passes/slice_convolution.h"

#include <algorithm>

#include "base/window.h"
#include "passes/depth_taps.h"
#include "passes/made_nodes.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// The most bytes of taps side by side as channels. Larger ones are convolved one after the other, so that a
// chain needs memory for one more value and not for one of each tap. A guess: no cache keeps so many.
constexpr int64_t kMostJoinedBytes = int64_t(64) << 20;

std::optional<Window> WindowOf(const Graph& graph, const Node& node) {
  const Shape& w = graph.value(node.inputs[1]).shape;
  return WindowOfTaps(node.attributes, graph.value(node.inputs[0]).shape, {w[2], w[3], w[4]},
                      WindowKind::kConvolution);
}

// One convolution of volumes that becomes one or more of slices.
class SliceConvolution {
 public:
  SliceConvolution(Graph& graph, const Node& node)
      : graph_(graph),
        node_(node),
        attributes_(OfSlices(node.attributes)),
        weights_(graph.value(node.inputs[1]).constant),
        x_(graph.value(node.inputs[0]).shape),
        y_(graph.value(node.outputs[0]).shape) {}

  ValueId Conv(ValueId slices) {
    const WindowAxis depth = (*WindowOf(graph_, node_))[0];
    const DepthTaps taps(graph_, node_.name, {slices, x_[0]}, depth, 0);
    const int64_t joined_bytes = depth.kernel * depth.out * x_.Elements() / x_[2] * int64_t(sizeof(float));
    const bool one_by_one = node_.attributes.Int("group", 1) > 1 || joined_bytes > kMostJoinedBytes;
    return one_by_one ? TapByTap(taps) : Joined(taps);
  }

  // Where windows along the depth do not overlap, each slice gives as many as the kernel is deep: they are
  // channels of one convolution.
  ValueId Transposed(ValueId slices) {
    const Shape& w = weights_.shape();
    const int64_t deep = w[2], batch = x_[0];
    const Shape joined{x_[2] * batch, deep * y_[1], y_[3], y_[4]};
    const ValueId channels = Add(
        node_.name, slices, WithShape(Permuted(weights_, {0, 2, 1, 3, 4}), {w[0], deep * w[1], w[3], w[4]}),
        RepeatedBias(deep), joined);
    if (deep == 1) return channels;
    ValueId ordered = channels;
    if (batch > 1) {
      const int64_t slice = y_[1] * y_[3] * y_[4];
      const ValueId split = AddReshape(graph_, node_.name, ".split", channels, {x_[2], batch, deep, slice});
      ordered = AddTranspose(graph_, node_.name, ".order", split, {0, 2, 1, 3});
    }
    return AddReshape(graph_, node_.name, ".slices", ordered, ShapeOfSlices(y_));
  }

 private:
  static Tensor WithShape(const Tensor& t, const Shape& shape) {
    return Tensor(t.type(), shape, t.data(), std::make_shared<Tensor>(t));
  }

  // The taps are channels of one convolution.
  ValueId Joined(const DepthTaps& taps) {
    const Shape& w = weights_.shape();
    const Shape shape{w[0], w[2] * w[1], w[3], w[4]};
    std::vector<ValueId> parts;
    for (int64_t t = 0; t < taps.size(); ++t) parts.push_back(taps.Add(t));
    ValueId channels = parts[0];
    if (parts.size() > 1) {
      Attributes axis;
      axis.Set("axis", int64_t{1});
      Shape joined = graph_.value(channels).shape;
      joined[1] *= taps.size();
      channels = AddMade(graph_, "Concat", node_.name, ".taps", parts, joined, &axis);
    }
    const Tensor ordered = parts.size() > 1 ? Permuted(weights_, {0, 2, 1, 3, 4}) : weights_;
    return Add(node_.name, channels, WithShape(ordered, shape), node_.input(2), ShapeOfSlices(y_));
  }

  // Each tap has a convolution, and these are added up.
  ValueId TapByTap(const DepthTaps& taps) {
    const Shape& w = weights_.shape();
    const Shape shape{w[0], w[1], w[3], w[4]};
    const auto ordered = std::make_shared<Tensor>(Permuted(weights_, {2, 0, 1, 3, 4}));
    ValueId sum = kNoValue;
    for (int64_t t = 0; t < taps.size(); ++t) {
      const Tensor of_tap(weights_.type(), shape, ordered->as<float>() + t * shape.Elements(), ordered);
      const std::string name = t == 0 ? node_.name : node_.name + ".tap" + std::to_string(t);
      const ValueId product =
          Add(name, taps.Add(t), of_tap, t == 0 ? node_.input(2) : kNoValue, ShapeOfSlices(y_));
      sum = t == 0 ? product : AddMade(graph_, "Add", name, ".sum", {product, sum}, ShapeOfSlices(y_));
    }
    return sum;
  }

  ValueId RepeatedBias(int64_t times) {
    if (node_.input(2) == kNoValue || times == 1) return node_.input(2);
    const Tensor& bias = graph_.value(node_.inputs[2]).constant;
    const int64_t n = bias.elements();
    Tensor repeated(DType::kF32, {times * n});
    float* to = repeated.mutable_view().as<float>();
    for (int64_t t = 0; t < times; ++t) std::copy_n(bias.as<float>(), n, to + t * n);
    return graph_.AddConstant(node_.name + ".biases", std::move(repeated));
  }

  ValueId Add(const std::string& name, ValueId x, const Tensor& weights, ValueId bias, const Shape& shape) {
    const ValueId inputs[] = {x, graph_.AddConstant(name + ".weights", weights), bias};
    return AddMade(graph_, node_.op.c_str(), name, "", std::span(inputs, bias == kNoValue ? 2 : 3), shape,
                   &attributes_);
  }

  Graph& graph_;
  const Node& node_;
  const Attributes attributes_;
  const Tensor weights_;
  const Shape x_, y_;  // of the volumes
};

// Windows of a ConvTranspose that neither overlap along the depth nor leave a slice out.
bool IsDeepened(const Graph& graph, const Node& node) {
  const Attributes& a = node.attributes;
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape,
              &w = graph.value(node.inputs[1]).shape;
  const Ints &strides = a.IntList("strides"), &dilations = a.IntList("dilations");
  const auto pads = StatedPads(a, 3);
  return a.Int("group", 1) == 1 && !a.Has("output_shape") && pads && (*pads)[0] == 0 && (*pads)[3] == 0 &&
         w[2] == (strides.empty() ? 1 : strides[0]) &&
         (w[2] == 1 || dilations.empty() || dilations[0] == 1) && y[2] == x[2] * w[2] &&
         (node.input(2) == kNoValue || IsConstant(graph, node.inputs[2]));
}

}  // namespace

bool IsSliceConvolution(const Graph& graph, const Node& node) {
  if (node.inputs.size() > 3 || !IsConstant(graph, node.inputs[1])) return false;
  return node.op == "Conv" ? WindowOf(graph, node).has_value() : IsDeepened(graph, node);
}

ValueId AddSliceConvolution(Graph& graph, const Node& node, ValueId slices) {
  SliceConvolution convolution(graph, node);
  return node.op == "Conv" ? convolution.Conv(slices) : convolution.Transposed(slices);
}

}  // namespace mete
