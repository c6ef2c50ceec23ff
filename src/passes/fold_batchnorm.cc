// Folds operators that scale and shift each channel (BatchNormalization, a depthwise Conv of 1x1, and Mul,
// Add, Sub, Div with constants) into the Conv, ConvTranspose, Gemm or MatMul before them. A
// BatchNormalization or such a Conv that cannot be folded becomes Mul and Add.
#include <algorithm>
#include <cmath>

#include "base/tensor_source.h"
#include "graph/operators.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// y[c] = scale[c] * x[c] + shift[c]. The elements are f64, so that folding rounds only once.
struct Affine {
  std::vector<double> scale, shift;
};

int64_t ChannelsOf(const Graph& graph, ValueId id) {
  const Shape& s = graph.value(id).shape;
  return s.known() && s.rank() >= 2 ? s[1] : -1;
}

std::optional<Affine> OfBatchNorm(const Graph& graph, const Node& node) {
  for (size_t i = 1; i < 5; ++i)
    if (!IsConstant(graph, node.input(i)) || !IsF32(graph, node.input(i))) return std::nullopt;
  const float* p[5] = {};
  for (size_t i = 1; i < 5; ++i) p[i] = graph.value(node.inputs[i]).constant.as<float>();
  const double epsilon = node.attributes.Float("epsilon", 1e-5f);
  Affine a;
  for (int64_t c = 0; c < graph.value(node.inputs[1]).constant.elements(); ++c) {
    const double scale = p[1][c] / std::sqrt(double(p[4][c]) + epsilon);
    a.scale.push_back(scale);
    a.shift.push_back(p[2][c] - scale * p[3][c]);
  }
  return a;
}

// The same of a depthwise convolution that reads one pixel: exporters to TensorFlow Lite write normalizations
// in this way.
std::optional<Affine> OfPointwise(const Graph& graph, const Node& node) {
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape;
  const ValueId w = node.input(1), b = node.input(2);
  if (node.inputs.size() > 3 || node.attributes.Has("activation")) return std::nullopt;
  const auto all = [&](const char* name, int64_t value) {
    const Ints& list = node.attributes.IntList(name);
    return std::all_of(list.begin(), list.end(), [&](int64_t v) { return v == value; });
  };
  if (!all("strides", 1) || !all("pads", 0)) return std::nullopt;
  if (!x.known() || x != y || x.rank() < 3 || node.attributes.Int("group", 1) != x[1]) return std::nullopt;
  if (!IsConstant(graph, w) || !IsF32(graph, w) || graph.value(w).constant.elements() != x[1])
    return std::nullopt;
  if (b != kNoValue && (!IsConstant(graph, b) || !IsF32(graph, b))) return std::nullopt;
  const float* scale = graph.value(w).constant.as<float>();
  Affine a{std::vector<double>(scale, scale + x[1]), std::vector<double>(size_t(x[1]), 0)};
  if (b != kNoValue) std::copy_n(graph.value(b).constant.as<float>(), x[1], a.shift.begin());
  return a;
}

bool ScalesChannels(const Node& node) { return IsOneOf(node.op, {"BatchNormalization", "Conv"}); }

// Of a node that scales channels by its nature.
std::optional<Affine> OfChannels(const Graph& graph, const Node& node) {
  return node.op == "Conv" ? OfPointwise(graph, node) : OfBatchNorm(graph, node);
}

// Returns the constant's value for each channel, or nothing if it varies within a channel. `from_back` is the
// activation's channel axis counted from the end, because broadcasting aligns shapes at the last dimension: 1
// is the last axis.
std::optional<std::vector<double>> PerChannel(const Graph& graph, ValueId id, int64_t channels,
                                              int from_back) {
  if (!IsConstant(graph, id) || !IsF32(graph, id)) return std::nullopt;
  const Tensor& t = graph.value(id).constant;
  if (t.elements() == 1) return std::vector<double>(size_t(channels), double(*t.as<float>()));
  const int axis = t.shape().rank() - from_back;
  if (axis < 0 || t.elements() != channels || t.shape()[axis] != channels) return std::nullopt;
  return std::vector<double>(t.as<float>(), t.as<float>() + channels);
}

// Returns a binary node with a constant operand as an affine function of its input `data_at`, or nothing if
// it is none.
std::optional<Affine> OfBinary(const Graph& graph, const Node& node, int64_t channels, int from_back,
                               size_t data_at) {
  const auto c = PerChannel(graph, node.input(1 - data_at), channels, from_back);
  if (!c) return std::nullopt;
  Affine a{std::vector<double>(size_t(channels), 1), std::vector<double>(size_t(channels), 0)};
  for (size_t i = 0; i < c->size(); ++i) {
    const double v = (*c)[i];
    if (node.op == "Add") {
      a.shift[i] = v;
    } else if (node.op == "Mul") {
      a.scale[i] = v;
    } else if (node.op == "Sub") {
      a.scale[i] = data_at == 0 ? 1 : -1;
      a.shift[i] = data_at == 0 ? -v : v;
    } else if (node.op == "Div" && data_at == 0 && v != 0) {
      a.scale[i] = 1 / v;
    } else {
      return std::nullopt;
    }
  }
  return a;
}

class Folder {
 public:
  explicit Folder(Graph& graph) : graph_(graph), uses_(graph) {}

  bool Run() {
    bool changed = false;
    const size_t count = graph_.nodes.size();
    for (size_t n = 0; n < count; ++n) changed |= Visit(n);
    return changed | SplitRest();
  }

 private:
  bool Visit(size_t n) {
    Node& node = graph_.nodes[n];
    if (!ScalesChannels(node) && !IsOneOf(node.op, {"Add", "Mul", "Sub", "Div"})) return false;
    for (size_t at = 0; at < (ScalesChannels(node) ? 1u : 2u); ++at) {
      const ValueId data = node.input(at);
      const int writer = data == kNoValue ? -1 : uses_.producer[size_t(data)];
      if (writer < 0 || !uses_.OnlyReader(data)) continue;
      const int producer = BeforeTranspose(writer);
      if (producer < 0) continue;
      Node& product = graph_.nodes[size_t(producer)];
      const int from_back = ChannelBehind(graph_.nodes[size_t(writer)], ChannelFromBack(product));
      if (from_back == 0 || !Foldable(product)) continue;
      // These have their channels in axis 1.
      const bool normalizes_channels = graph_.value(data).shape.rank() - from_back == 1;
      if (ScalesChannels(node) && !normalizes_channels) continue;
      const int64_t channels = graph_.value(data).shape[graph_.value(data).shape.rank() - from_back];
      const auto affine =
          ScalesChannels(node) ? OfChannels(graph_, node) : OfBinary(graph_, node, channels, from_back, at);
      if (!affine || int64_t(affine->scale.size()) != channels) continue;
      if (graph_.value(node.outputs[0]).shape != graph_.value(data).shape) continue;
      Apply(product, *affine);
      TakeOver(size_t(writer), n);
      return true;
    }
    return false;
  }

  // Returns the node itself, or of a Transpose that is the only reader of its input the node before it; -1 if
  // there is none. Behind a Transpose channels are in another axis, and else nothing changes.
  int BeforeTranspose(int writer) const {
    const Node& node = graph_.nodes[size_t(writer)];
    if (node.op != "Transpose") return writer;
    return uses_.OnlyReader(node.inputs[0]) ? uses_.producer[size_t(node.inputs[0])] : -1;
  }

  // Returns where an axis is behind a node that may be a Transpose, both counted from the end.
  int ChannelBehind(const Node& node, int from_back) const {
    if (node.op != "Transpose" || from_back == 0) return from_back;
    const Ints& perm = node.attributes.IntList("perm");
    const auto at = std::find(perm.begin(), perm.end(), int64_t(perm.size()) - from_back);
    return int(perm.end() - at);
  }

  // Returns the channel axis of the product's output, counted from the end (1 is the last axis), or 0 if the
  // node is no product.
  int ChannelFromBack(const Node& node) const {
    if (IsOneOf(node.op, {"Conv", "ConvTranspose"})) return graph_.value(node.outputs[0]).shape.rank() - 1;
    if (IsOneOf(node.op, {"Gemm", "MatMul"})) return 1;
    return 0;
  }

  bool Foldable(const Node& node) const {
    if (!IsConstant(graph_, node.input(1)) || !IsF32(graph_, node.input(1)) ||
        !IsF32(graph_, node.outputs[0]))
      return false;
    if (node.attributes.Has("activation") || node.attributes.Has("residual")) return false;
    if (node.op == "MatMul" && graph_.value(node.inputs[1]).shape.rank() != 2) return false;
    if (node.op == "Gemm" && node.attributes.Float("alpha", 1) != 1) return false;
    const ValueId bias = node.input(2);
    if (bias == kNoValue) return true;
    if (!IsConstant(graph_, bias)) return false;
    if (node.op == "Gemm" && (graph_.value(bias).shape.rank() > 1 || node.attributes.Float("beta", 1) != 1))
      return false;
    return true;
  }

  void Apply(Node& node, const Affine& a) {
    if (std::any_of(a.scale.begin(), a.scale.end(), [](double s) { return s != 1; })) ScaleWeights(node, a);
    Tensor bias(DType::kF32, Shape{int64_t(a.scale.size())});
    const ValueId old = node.input(2);
    for (size_t c = 0; c < a.scale.size(); ++c) {
      const float* b = old == kNoValue ? nullptr : graph_.value(old).constant.as<float>();
      const double before = !b ? 0 : graph_.value(old).constant.elements() == 1 ? b[0] : b[c];
      bias.mutable_view().as<float>()[c] = float(before * a.scale[c] + a.shift[c]);
    }
    node.inputs.resize(std::max<size_t>(node.inputs.size(), 3), kNoValue);
    node.inputs[2] = graph_.AddConstant(graph_.value(node.outputs[0]).name + ".bias", std::move(bias));
  }

  void ScaleWeights(Node& node, const Affine& a) {
    const Tensor w = graph_.value(node.inputs[1]).constant;
    const bool by_rows = node.op == "Conv" || (node.op == "Gemm" && node.attributes.Int("transB", 0));
    Tensor scaled =
        by_rows && w.bytes() >= kLeastSource ? ScaledRows(w, a.scale) : Scaled(node, w, a, by_rows);
    // The old weights are freed now, not at the end of the pass, so that never all weights exist twice.
    const auto old = size_t(node.inputs[1]);
    if (old >= uses_.readers.size() || (uses_.readers[old].size() == 1 && !uses_.is_output[old]))
      graph_.values[old].constant = Tensor();
    node.inputs[1] = graph_.AddConstant(graph_.value(node.outputs[0]).name + ".weight", std::move(scaled));
  }

  static Tensor Scaled(const Node& node, const Tensor& w, const Affine& a, bool by_rows) {
    Tensor scaled(DType::kF32, w.shape());
    float* to = scaled.mutable_view().as<float>();
    const int64_t rows = w.shape()[0], columns = w.elements() / std::max<int64_t>(rows, 1);
    // The weights of a ConvTranspose are C x M/group x k..., so each group has C / group rows.
    const int64_t group_rows = rows / node.attributes.Int("group", 1);
    const int64_t spatial = node.op == "ConvTranspose" ? w.shape().Elements(2, w.shape().rank()) : 1;
    const float* from = w.as<float>();
    for (int64_t r = 0; r < rows; ++r, from += columns, to += columns) {
      if (by_rows) {
        for (int64_t c = 0; c < columns; ++c) to[c] = float(double(from[c]) * a.scale[size_t(r)]);
        continue;
      }
      const double* scale = a.scale.data() + (node.op == "ConvTranspose" ? r / group_rows * w.shape()[1] : 0);
      for (int64_t c = 0; c < columns; ++c) to[c] = float(double(from[c]) * scale[c / spatial]);
    }
    ReleasePagesOf(w);
    return scaled;
  }

  // Makes the product write the output of the folded node. The folded node is left without an operator and
  // removed at the end.
  void TakeOver(size_t producer, size_t folded) {
    const ValueId output = graph_.nodes[folded].outputs[0];
    graph_.nodes[producer].outputs[0] = output;
    uses_.producer[size_t(output)] = int(producer);
    graph_.nodes[folded].op.clear();
  }

  bool SplitRest() {
    std::erase_if(graph_.nodes, [](const Node& n) { return n.op.empty(); });
    bool changed = false;
    std::vector<Node> nodes;
    std::swap(nodes, graph_.nodes);
    for (Node& node : nodes) {
      const auto affine =
          ScalesChannels(node) && IsF32(graph_, node.input(0)) ? OfChannels(graph_, node) : std::nullopt;
      if (!affine || ChannelsOf(graph_, node.inputs[0]) != int64_t(affine->scale.size())) {
        graph_.nodes.push_back(std::move(node));
      } else {
        Split(node, *affine);
        changed = true;
      }
    }
    return changed;
  }

  void Split(const Node& node, const Affine& a) {
    const Shape& shape = graph_.value(node.inputs[0]).shape;
    Shape per_channel{int64_t(a.scale.size())};
    for (int i = 2; i < shape.rank(); ++i) per_channel.push_back(1);
    const std::vector<float> scale(a.scale.begin(), a.scale.end()), shift(a.shift.begin(), a.shift.end());
    const bool shifts = std::any_of(a.shift.begin(), a.shift.end(), [](double b) { return b != 0; });
    const ValueId scaled =
        shifts ? graph_.AddValue(node.name + ".scaled", DType::kF32, shape) : node.outputs[0];
    graph_.AddNode(
        "Mul", node.name + ".mul",
        {node.inputs[0], graph_.AddConstant(node.name + ".scale", Tensor::Floats(per_channel, scale))},
        {scaled});
    if (!shifts) return;
    graph_.AddNode("Add", node.name + ".add",
                   {scaled, graph_.AddConstant(node.name + ".shift", Tensor::Floats(per_channel, shift))},
                   {node.outputs[0]});
  }

  Graph& graph_;
  Uses uses_;
};

}  // namespace

bool FoldBatchNorm(Graph& graph) { return Folder(graph).Run(); }

}  // namespace mete
