#include "passes/slice_convolution.h"

#include <algorithm>

#include "base/window.h"
#include "graph/traits.h"
#include "passes/depth_taps.h"
#include "passes/made_nodes.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// The most bytes of taps side by side as channels. Larger ones are convolved one after the other, so that a
// chain needs memory for one more value and not for one of each tap. A guess: no cache keeps so many.
constexpr int64_t kMostJoinedBytes = int64_t(64) << 20;

// The most bytes of taps of bytes, which cannot be convolved one after the other, as many times those of
// input and output. A guess: twice the taps of the windows that networks have.
constexpr int64_t kMostTimesOwnBytes = 8;

ValueId WeightsOf(const Node& node) { return node.inputs[size_t(TraitsOf(node.op).weights)]; }

bool IsOfFloats(const Node& node) { return IsOneOf(node.op, {"Conv", "ConvTranspose"}); }

std::optional<Window> WindowOf(const Graph& graph, const Node& node) {
  const Shape& w = graph.value(WeightsOf(node)).shape;
  return WindowOfTaps(node.attributes, graph.value(node.inputs[0]).shape, {w[2], w[3], w[4]},
                      WindowKind::kConvolution);
}

// Where the slices of a ConvTranspose's output come from. Slice o, whose place with the padding in front is
// o + pad = q * stride + phase, is the sum of the taps k with k * dilation = lag * stride + phase, which read
// slice q - lag of the input. For example, with a kernel of 3 and stride 2, the even places read taps 0 and
// 2, with lags 0 and 1, and the odd ones tap 1, with lag 0.
struct TransposedDepth {
  WindowAxis axis;            // of the ConvTranspose
  int64_t first;              // the first q; the taps make all phases of each q
  WindowAxis lags;            // a window over the input with a tap for each lag, the greatest first
  std::vector<int64_t> used;  // the lags that have weights

  int64_t LagOf(int64_t k) const { return k * axis.dilation / axis.stride; }
  int64_t PhaseOf(int64_t k) const { return k * axis.dilation % axis.stride; }
};

std::optional<TransposedDepth> TransposedDepthOf(const Graph& graph, const Node& node) {
  const Shape& w = graph.value(node.inputs[1]).shape;
  Window window;
  if (!ResolveTransposedWindow(node.attributes, ImageDimsOf(graph.value(node.inputs[0]).shape),
                               Ints{w[2], w[3], w[4]}, window)
           .empty())
    return std::nullopt;
  TransposedDepth d{window[0], 0, {}, {}};
  const int64_t greatest = d.LagOf(d.axis.kernel - 1), end = d.axis.pad + d.axis.in;
  if (d.axis.kernel > kMostTaps || d.axis.stride > kMostTaps || greatest > kMostTaps) return std::nullopt;
  d.first = d.axis.pad / d.axis.stride;
  if (d.first > greatest) return std::nullopt;  // the first slices of the input would be cut off
  d.lags.kernel = greatest + 1;
  d.lags.pad = greatest - d.first;
  d.lags.in = d.axis.out;
  d.lags.out = (end + d.axis.stride - 1) / d.axis.stride - d.first;
  for (int64_t k = 0; k < d.axis.kernel; ++k)
    if (d.used.empty() || d.used.back() != d.LagOf(k)) d.used.push_back(d.LagOf(k));
  // Neither padding nor weights that are 0 may need memory that the network itself does not.
  const bool bounded = d.lags.pad + PadEnd(d.lags) <= d.lags.in + kMostTaps &&
                       int64_t(d.used.size()) * d.axis.stride <= 4 * d.axis.kernel;
  return bounded ? std::optional(std::move(d)) : std::nullopt;
}

// Returns the bytes of all taps side by side.
int64_t JoinedBytes(const WindowAxis& depth, const Shape& x, DType type) {
  return depth.kernel * depth.out * (x.Elements() / x[2]) * int64_t(SizeOf(type));
}

// One convolution of volumes that becomes one or more of slices.
class SliceConvolution {
 public:
  SliceConvolution(Graph& graph, const Node& node)
      : graph_(graph),
        node_(node),
        attributes_(OfSlices(node.attributes)),
        weights_(graph.value(WeightsOf(node)).constant),
        x_(graph.value(node.inputs[0]).shape),
        y_(graph.value(node.outputs[0]).shape) {}

  ValueId Conv(ValueId slices) {
    const WindowAxis depth = (*WindowOf(graph_, node_))[0];
    // The padding of bytes is their zero point.
    const ValueId fill = IsOfFloats(node_) ? kNoValue : node_.input(2);
    const DepthTaps taps(graph_, node_.name, {slices, x_[0]}, depth, fill);
    const int64_t joined_bytes = JoinedBytes(depth, x_, DType::kF32);
    const bool one_by_one = node_.attributes.Int("group", 1) > 1 || joined_bytes > kMostJoinedBytes;
    // The results of taps of bytes are bytes, which cannot be added up.
    return one_by_one && IsOfFloats(node_) ? TapByTap(taps) : Joined(taps);
  }

  // All phases of a q are channels of one convolution, whose input has the slices of all lags as channels.
  ValueId Transposed(ValueId slices) {
    const TransposedDepth d = *TransposedDepthOf(graph_, node_);
    const DepthTaps taps(graph_, node_.name, {slices, x_[0]}, d.lags);
    const Shape phases{d.lags.out * x_[0], d.axis.stride * y_[1], y_[3], y_[4]};
    const int64_t joined_bytes =
        int64_t(d.used.size()) * d.lags.out * (x_.Elements() / x_[2]) * int64_t(sizeof(float));
    const ValueId channels =
        joined_bytes > kMostJoinedBytes ? LagByLag(d, taps, phases) : LagsJoined(d, taps, phases);
    return InOrder(d, channels);
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
    const Tensor ordered = parts.size() > 1 ? Permuted(weights_, {0, 2, 1, 3, 4}) : weights_;
    return AddLike(SideBySide(parts), WithShape(ordered, shape));
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

  ValueId LagsJoined(const TransposedDepth& d, const DepthTaps& taps, const Shape& phases) {
    std::vector<ValueId> parts;
    for (const int64_t lag : d.used) parts.push_back(taps.Add(d.lags.kernel - 1 - lag));
    return Add(node_.name, SideBySide(parts), WeightsOfLags(d, d.used), RepeatedBias(d.axis.stride), phases);
  }

  ValueId LagByLag(const TransposedDepth& d, const DepthTaps& taps, const Shape& phases) {
    ValueId sum = kNoValue;
    for (const int64_t lag : d.used) {
      const bool first = sum == kNoValue;
      const std::string name = first ? node_.name : node_.name + ".lag" + std::to_string(lag);
      const ValueId product = Add(name, taps.Add(d.lags.kernel - 1 - lag), WeightsOfLags(d, {lag}),
                                  first ? RepeatedBias(d.axis.stride) : kNoValue, phases);
      sum = first ? product : AddMade(graph_, "Add", name, ".sum", {product, sum}, phases);
    }
    return sum;
  }

  // Returns the weights of these lags: the input's channels of each, and for each phase the output's. They
  // are 0 where the phase has no tap of the lag.
  Tensor WeightsOfLags(const TransposedDepth& d, const std::vector<int64_t>& lags) const {
    const Shape& w = weights_.shape();
    const int64_t ins = w[0], outs = w[1], deep = w[2], plane = w[3] * w[4], phases = d.axis.stride;
    Tensor weights(DType::kF32, {int64_t(lags.size()) * ins, phases * outs, w[3], w[4]});
    float* to = weights.mutable_view().as<float>();
    std::fill_n(to, weights.elements(), 0.0f);
    for (int64_t k = 0; k < deep; ++k) {
      const auto lag = std::find(lags.begin(), lags.end(), d.LagOf(k));
      if (lag == lags.end()) continue;
      for (int64_t in = 0; in < ins; ++in)
        for (int64_t out = 0; out < outs; ++out) {
          const int64_t row = (lag - lags.begin()) * ins + in, column = d.PhaseOf(k) * outs + out;
          std::copy_n(weights_.as<float>() + ((in * outs + out) * deep + k) * plane, plane,
                      to + (row * phases * outs + column) * plane);
        }
    }
    return weights;
  }

  // Makes slices of the phases, which are channels, and leaves out those before the first and behind the last
  // slice of the output.
  ValueId InOrder(const TransposedDepth& d, ValueId channels) {
    const int64_t batch = x_[0], count = d.lags.out * d.axis.stride, slice = y_[1] * y_[3] * y_[4];
    ValueId ordered = channels;
    if (d.axis.stride > 1) {
      if (batch > 1) {
        const Shape split{d.lags.out, batch, d.axis.stride, slice};
        ordered = AddTranspose(graph_, node_.name, ".order",
                               AddReshape(graph_, node_.name, ".split", channels, split), {0, 2, 1, 3});
      }
      ordered = AddReshape(graph_, node_.name, ".slices", ordered, {count * batch, y_[1], y_[3], y_[4]});
    }
    const int64_t first = d.axis.pad - d.first * d.axis.stride, left_out = count - first - y_[2];
    return CutSlices(graph_, node_.name + ".inner", ordered, {first * batch, left_out * batch, 1},
                     y_[2] * batch);
  }

  // Joins slices along the channels.
  ValueId SideBySide(const std::vector<ValueId>& parts) {
    if (parts.size() == 1) return parts[0];
    Attributes axis;
    axis.Set("axis", int64_t{1});
    Shape joined = graph_.value(parts[0]).shape;
    joined[1] *= int64_t(parts.size());
    return AddMade(graph_, "Concat", node_.name, ".taps", parts, joined, &axis);
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

  // Adds the operator itself, whose other inputs belong to the output channels or to whole tensors.
  ValueId AddLike(ValueId x, const Tensor& weights) {
    const ValueId y =
        graph_.AddValue(node_.name + ".made", graph_.value(node_.outputs[0]).type, ShapeOfSlices(y_));
    std::vector<ValueId> inputs = node_.inputs;
    inputs[0] = x;
    inputs[size_t(TraitsOf(node_.op).weights)] = graph_.AddConstant(node_.name + ".weights", weights);
    graph_.AddNode(node_.op, node_.name, std::move(inputs), {y}, attributes_);
    return y;
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

// Some exporters write batch and channels in front of the sizes in output_shape.
bool IsSliceTransposed(const Graph& graph, const Node& node) {
  const Attributes& a = node.attributes;
  const size_t sizes = a.IntList("output_shape").size();
  return a.Int("group", 1) == 1 && (sizes == 0 || sizes == 3) &&
         (node.input(2) == kNoValue || IsConstant(graph, node.inputs[2])) &&
         TransposedDepthOf(graph, node).has_value();
}

bool IsSliceOfBytes(const Graph& graph, const Node& node) {
  const auto window = WindowOf(graph, node);
  if (node.attributes.Int("group", 1) > 1 || !window) return false;
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape;
  const int64_t most = std::max(kMostJoinedBytes, kMostTimesOwnBytes * (x.Elements() + y.Elements()));
  return JoinedBytes((*window)[0], x, DType::kU8) <= most;
}

}  // namespace

bool IsSliceConvolution(const Graph& graph, const Node& node) {
  if (!IsConstant(graph, WeightsOf(node))) return false;
  if (!IsOfFloats(node)) return IsSliceOfBytes(graph, node);
  if (node.inputs.size() > 3) return false;
  return node.op == "Conv" ? WindowOf(graph, node).has_value() : IsSliceTransposed(graph, node);
}

ValueId AddSliceConvolution(Graph& graph, const Node& node, ValueId slices) {
  SliceConvolution convolution(graph, node);
  return node.op == "ConvTranspose" ? convolution.Transposed(slices) : convolution.Conv(slices);
}

}  // namespace mete
