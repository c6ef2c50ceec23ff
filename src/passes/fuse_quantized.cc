// Replaces DequantizeLinear -> Conv, MatMul or Gemm -> [Clip or Relu] -> QuantizeLinear by the integer
// product that it represents: exact sums of integers and one rounding.
//
// ONNX Runtime sums some of these convolutions in floats: on x86 it shifts an int8 activation with one reader
// to uint8 and keeps an int8 activation with several readers, and fuses a convolution only where the types in
// which it keeps input and output are equal. A network was calibrated, and its accuracy measured, with such
// sums: sums that differ in their last bit move some values to the other side of a rounding boundary, and
// pictures near a tie change their class. FuseQuantizedAsOnnxRuntime() follows this arithmetic exactly; the
// other convolutions get a sum of floats, K in pieces, the bias last (graph/fused.h, "sum_piece").
#include <algorithm>
#include <cmath>
#include <memory>

#include "graph/fused.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// Returns the length of the pieces of K that ONNX Runtime's f32 product sums before it adds them to the
// result, for a result of n columns. The length is 128 with panels of 128 columns; if K is short, the piece
// is shorter, and if n is short, the panels are narrower and the piece longer. The rule was determined by
// comparing bits over K = 24 .. 960.
int64_t SumPiece(int64_t k, int64_t n) {
  int64_t piece = 128, columns = 128;
  if (n >= k) {
    while (piece / 2 >= k) piece /= 2;
  } else {
    for (; columns > 16 && columns / 2 >= n; columns /= 2) piece *= 2;
  }
  return piece;
}

class Fuser {
 public:
  Fuser(Graph& graph, bool as_onnxruntime) : graph_(graph), uses_(graph), as_onnxruntime_(as_onnxruntime) {}

  void Run() {
    for (size_t n = 0, count = graph_.nodes.size(); n < count; ++n) {
      const std::string& op = graph_.nodes[n].op;
      if (op == "Conv") VisitConv(n);
      else if (op == "MatMul" && !as_onnxruntime_) VisitMatMul(n);
      else if (op == "Gemm" && !as_onnxruntime_) VisitGemm(n);
    }
    std::erase_if(graph_.nodes, [](const Node& n) { return n.op.empty(); });
  }

 private:
  // The nodes between two quantized activations.
  struct Group {
    const Node *input = nullptr, *weights = nullptr, *bias = nullptr;  // DequantizeLinear; no bias: null
    int clip = -1;  // a Clip or Relu that is redundant because `quantize` saturates; -1: none
    int quantize = -1;
  };

  const Node* Dequantized(ValueId id) const {
    const int p = id == kNoValue ? -1 : uses_.producer[size_t(id)];
    return p >= 0 && graph_.nodes[size_t(p)].op == "DequantizeLinear" ? &graph_.nodes[size_t(p)] : nullptr;
  }

  bool IsScalar(ValueId id) const { return IsConstant(graph_, id) && graph_.value(id).shape.Elements() == 1; }
  bool IsByte(ValueId id) const {
    return graph_.value(id).type == DType::kI8 || graph_.value(id).type == DType::kU8;
  }

  int OnlyReader(ValueId id, std::string_view op) const {
    if (!uses_.OnlyReader(id)) return -1;
    const int reader = uses_.readers[size_t(id)][0];
    return graph_.nodes[size_t(reader)].op == op ? reader : -1;
  }

  // Returns true for constant 8-bit weights with one scale, or one scale per output channel, which are along
  // `axis`.
  bool AreWeights(const Node& node, int64_t channels, int64_t axis) const {
    if (!IsConstant(graph_, node.inputs[0]) || !IsByte(node.inputs[0]) || !IsConstant(graph_, node.inputs[1]))
      return false;
    const int64_t scales = graph_.value(node.inputs[1]).shape.Elements();
    int64_t of_scales = node.attributes.Int("axis", 1);
    if (of_scales < 0) of_scales += graph_.value(node.inputs[0]).shape.rank();
    return (scales == 1 || (scales == channels && of_scales == axis)) &&
           node.attributes.Int("block_size", 0) == 0;
  }

  // Returns true for a bias of integers in units of the product of both scales, as QLinearConv requires.
  bool IsBias(const Node& bias, const Node& x, const Node& w) const {
    if (!IsConstant(graph_, bias.inputs[0]) || graph_.value(bias.inputs[0]).type != DType::kI32) return false;
    if (bias.input(2) != kNoValue && !IsZeros(bias.inputs[2])) return false;
    const Tensor &scale = graph_.value(bias.inputs[1]).constant,
                 &per_weight = graph_.value(w.inputs[1]).constant;
    if (!scale.has_value() || scale.type() != DType::kF32 || per_weight.type() != DType::kF32) return false;
    if (scale.elements() != per_weight.elements()) return false;
    const float per_input = float(*ScalarOf(graph_, x.inputs[1]));
    for (int64_t i = 0; i < scale.elements(); ++i) {
      const float product = per_input * per_weight.as<float>()[i];
      // The tolerance allows for some roundings by the writer of the file.
      if (std::abs(scale.as<float>()[i] - product) > 1e-5f * product) return false;
    }
    return true;
  }

  bool IsZeros(ValueId zero) const {
    const Value& v = graph_.value(zero);
    if (!v.is_constant() || v.open != kNoValue || v.type != DType::kI32) return false;
    const int32_t* values = v.constant.as<int32_t>();
    return std::all_of(values, values + v.constant.elements(), [](int32_t z) { return z == 0; });
  }

  // Returns true if the clip changes only values that saturate anyway.
  bool IsRedundant(const Node& clip, const Node& quantize) const {
    const auto scale = ScalarOf(graph_, quantize.inputs[1]);
    const bool is_signed = graph_.value(quantize.outputs[0]).type == DType::kI8;
    const double least = is_signed ? -128 : 0, most = is_signed ? 127 : 255,
                 zero = ZeroPoint(quantize.inputs[2]);
    auto level = [&](double x) { return std::nearbyint(float(x) / float(*scale)) + zero; };
    if (clip.op == "Relu") return level(0) <= least;
    const auto low = ScalarOf(graph_, clip.input(1)), high = ScalarOf(graph_, clip.input(2));
    if ((clip.input(1) != kNoValue && !low) || (clip.input(2) != kNoValue && !high)) return false;
    return (!low || level(*low) <= least) && (!high || level(*high) >= most);
  }

  double ZeroPoint(ValueId id) const {
    const Tensor& zero = graph_.value(id).constant;
    return zero.type() == DType::kI8 ? double(*zero.as<int8_t>()) : double(*zero.as<uint8_t>());
  }

  // Returns true if the node has one scale and one zero point for the whole tensor.
  bool IsPerTensor(const Node& node) const {
    return IsScalar(node.inputs[1]) && graph_.value(node.inputs[1]).type == DType::kF32 &&
           node.input(2) != kNoValue && IsScalar(node.inputs[2]);
  }

  // `axis`: the output channels of the weights.
  std::optional<Group> GroupOf(const Node& conv, int axis) const {
    if (!graph_.value(conv.outputs[0]).shape.known() || graph_.value(conv.outputs[0]).type != DType::kF32)
      return std::nullopt;
    Group g;
    g.input = Dequantized(conv.inputs[0]);
    g.weights = Dequantized(conv.inputs[1]);
    if (!g.input || !g.weights || !IsByte(g.input->inputs[0]) || !IsPerTensor(*g.input)) return std::nullopt;
    if (!AreWeights(*g.weights, graph_.value(conv.inputs[1]).shape[axis], axis)) return std::nullopt;
    if (conv.input(2) != kNoValue) {
      g.bias = Dequantized(conv.inputs[2]);
      if (!g.bias || !IsBias(*g.bias, *g.input, *g.weights)) return std::nullopt;
    }
    ValueId result = conv.outputs[0];
    g.clip = std::max(OnlyReader(result, "Clip"), OnlyReader(result, "Relu"));
    if (g.clip >= 0) result = graph_.nodes[size_t(g.clip)].outputs[0];
    g.quantize = OnlyReader(result, "QuantizeLinear");
    if (g.quantize < 0) return std::nullopt;
    const Node& quantize = graph_.nodes[size_t(g.quantize)];
    if (!IsPerTensor(quantize) || !IsByte(quantize.outputs[0])) return std::nullopt;
    if (g.clip >= 0 && !IsRedundant(graph_.nodes[size_t(g.clip)], quantize)) return std::nullopt;
    return g;
  }

  // Returns the type in which ONNX Runtime keeps a quantized activation.
  DType KeptType(ValueId quantized) const {
    size_t reads = uses_.is_output[size_t(quantized)] ? 2 : 0;
    for (int reader : uses_.readers[size_t(quantized)]) {
      const Node& node = graph_.nodes[size_t(reader)];
      reads += node.op == "DequantizeLinear" ? uses_.readers[size_t(node.outputs[0])].size() : 1;
    }
    const DType type = graph_.value(quantized).type;
    return type == DType::kI8 && reads <= 1 ? DType::kU8 : type;
  }

  void VisitConv(size_t n) {
    const auto group = GroupOf(graph_.nodes[n], 0);
    if (!group) return;
    const ValueId from = group->input->inputs[0], to = graph_.nodes[size_t(group->quantize)].outputs[0];
    if (as_onnxruntime_ && KeptType(from) != KeptType(to)) return SumPieces(n, *group);
    SumIntegers(n, *group, "QLinearConv");
  }

  void VisitMatMul(size_t n) {
    const Shape &a = graph_.value(graph_.nodes[n].inputs[0]).shape,
                &b = graph_.value(graph_.nodes[n].inputs[1]).shape;
    // QLinearMatMul takes a scale for each column only where both operands are matrices.
    if (!a.known() || !b.known() || a.rank() < 2 || b.rank() != 2) return;
    if (const auto group = GroupOf(graph_.nodes[n], 1)) SumIntegers(n, *group, "QLinearMatMul");
  }

  // A Gemm becomes a convolution of 1x1 over images of one pixel, which takes a bias.
  void VisitGemm(size_t n) {
    const Node& gemm = graph_.nodes[n];
    const bool transposed = gemm.attributes.Int("transB", 0) != 0;
    const Shape &a = graph_.value(gemm.inputs[0]).shape, &b = graph_.value(gemm.inputs[1]).shape;
    if (gemm.attributes.Int("transA", 0) != 0 || gemm.attributes.Float("alpha", 1) != 1 ||
        gemm.attributes.Float("beta", 1) != 1 || !a.known() || !b.known())
      return;
    const int64_t k = a[1], channels = transposed ? b[0] : b[1];
    if (gemm.input(2) != kNoValue && graph_.value(gemm.inputs[2]).shape != Shape{channels}) return;
    const auto group = GroupOf(gemm, transposed ? 0 : 1);
    if (!group) return;
    const std::string name = gemm.name;
    const Tensor& weights = graph_.value(group->weights->inputs[0]).constant;
    const Tensor by_channel = transposed ? weights : Permuted(weights, {1, 0});
    const Tensor image(by_channel.type(), Shape{channels, k, 1, 1}, by_channel.data(),
                       std::make_shared<Tensor>(by_channel));
    const ValueId x = group->input->inputs[0], y = graph_.nodes[size_t(group->quantize)].outputs[0];
    const int64_t rows = a[0];
    SumIntegers(n, *group, "QLinearConv");
    Node& conv = graph_.nodes[n];
    conv.attributes = {};
    conv.inputs[3] = graph_.AddConstant(name + ".weights", image);
    conv.inputs[0] = graph_.AddValue(name + ".images", graph_.value(x).type, Shape{rows, k, 1, 1});
    conv.outputs = {graph_.AddValue(name + ".pixels", graph_.value(y).type, Shape{rows, channels, 1, 1})};
    // A size of 0 is that of the input, whose rows may change from run to run.
    const ValueId images = conv.inputs[0], pixels = conv.outputs[0];
    graph_.AddNode("Reshape", name + ".to_images", {x, AddInts(graph_, name + ".image", {0, k, 1, 1})},
                   {images});
    graph_.AddNode("Reshape", name + ".to_rows", {pixels, AddInts(graph_, name + ".row", {0, channels})},
                   {y});
  }

  void SumIntegers(size_t n, const Group& g, const char* op) {
    Node& conv = graph_.nodes[n];
    Node& quantize = graph_.nodes[size_t(g.quantize)];
    const Node &x = *g.input, &w = *g.weights;
    conv.op = op;
    conv.inputs = {x.inputs[0], x.inputs[1],   x.inputs[2],        w.inputs[0],
                   w.inputs[1], WeightZero(w), quantize.inputs[1], quantize.inputs[2]};
    if (g.bias) conv.inputs.push_back(g.bias->inputs[0]);
    conv.outputs = quantize.outputs;
    quantize.op.clear();
    if (g.clip >= 0) graph_.nodes[size_t(g.clip)].op.clear();
  }

  ValueId WeightZero(const Node& weights) {
    if (weights.input(2) != kNoValue) return weights.inputs[2];
    return graph_.AddConstant(weights.name + ".zero", Tensor(graph_.value(weights.inputs[0]).type, Shape{}));
  }

  void SumPieces(size_t n, const Group& g) {
    Node& conv = graph_.nodes[n];
    const Shape &y = graph_.value(conv.outputs[0]).shape, &w = graph_.value(conv.inputs[1]).shape;
    if (!TakesSumPiece(conv.attributes, w)) return;
    if (g.clip >= 0) {  // the saturation has the same effect as the clip
      ReplaceUses(graph_, graph_.nodes[size_t(g.clip)].outputs[0], conv.outputs[0]);
      graph_.nodes[size_t(g.clip)].op.clear();
    }
    conv.attributes.Set(kSumPiece, SumPiece(w[1], y[2] * y[3]));
  }

  Graph& graph_;
  Uses uses_;
  const bool as_onnxruntime_;
};

bool Fuse(Graph& graph, bool as_onnxruntime) {
  const bool any = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                               [](const Node& n) { return n.op == "DequantizeLinear"; });
  if (!any) return false;
  Fuser(graph, as_onnxruntime).Run();
  return true;
}

}  // namespace

bool FuseQuantized(Graph& graph) { return Fuse(graph, false); }
bool FuseQuantizedAsOnnxRuntime(Graph& graph) { return Fuse(graph, true); }

}  // namespace mete
