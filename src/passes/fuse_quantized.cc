// Replaces DequantizeLinear -> Conv, ConvTranspose, MatMul, Gemm, Add, Mul or a pool -> [Clip or Relu] ->
// QuantizeLinear by the operator on bytes that it represents. Products have exact sums of integers and one
// rounding. A product of bytes whose result stays in floats gets the same sums, times the scales.
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

#include "base/tensor_source.h"
#include "graph/fused.h"
#include "graph/traits.h"
#include "passes/pass.h"
#include "passes/quantization.h"
#include "passes/rewrite.h"
#include "passes/transposed_convolution.h"

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

enum class Sums { kIntegers, kAsOnnxRuntime };

// The longest sum that no 32 bits can overflow, with room for its zero points: kernels of longer ones are
// slow.
constexpr int64_t kLongestSum = 1 << 15;

class QuantizedFuser {
 public:
  QuantizedFuser(Graph& graph, Sums sums)
      : graph_(graph), uses_(graph), as_onnxruntime_(sums == Sums::kAsOnnxRuntime) {}

  void Run() {
    for (size_t n = 0, count = graph_.nodes.size(); n < count; ++n) {
      const std::string& op = graph_.nodes[n].op;
      if (op == "Conv") VisitConv(n);
      else if (as_onnxruntime_) continue;
      else if (op == "MatMul") VisitMatMul(n);
      else if (op == "Gemm") VisitGemm(n);
      else if (op == "ConvTranspose") VisitTransposed(n);
      else if (op == "Add") VisitOperands(n, "mete.QLinearAdd");
      else if (op == "Mul") VisitOperands(n, "mete.QLinearMul");
      else if (op == "AveragePool" || op == "GlobalAveragePool") VisitPool(n);
    }
    std::erase_if(graph_.nodes, [](const Node& n) { return n.op.empty(); });
  }

 private:
  // The nodes between a result in floats and its bytes.
  struct Rounding {
    int clip = -1;  // a Clip or Relu; -1: none
    int quantize = -1;
    Quantization of;
    Ints levels;  // what the clip leaves of the levels; empty: all of them, so that it changes nothing
  };
  // The operands of a product of bytes, and what rounds its result. The result of a product without a
  // rounding is in floats, and so is its bias.
  struct Group {
    const Node *input = nullptr, *weights = nullptr, *bias = nullptr;  // DequantizeLinear; no bias: null
    Quantization input_of;
    std::optional<Rounding> to;
  };

  const Node* Dequantized(ValueId id) const {
    const int p = id == kNoValue ? -1 : uses_.producer[size_t(id)];
    return p >= 0 && graph_.nodes[size_t(p)].op == "DequantizeLinear" ? &graph_.nodes[size_t(p)] : nullptr;
  }

  bool IsByte(ValueId id) const {
    return graph_.value(id).type == DType::kI8 || graph_.value(id).type == DType::kU8;
  }

  int OnlyReader(ValueId id, std::string_view op) const {
    if (!uses_.OnlyReader(id)) return -1;
    const int reader = uses_.readers[size_t(id)][0];
    return graph_.nodes[size_t(reader)].op == op ? reader : -1;
  }

  // Returns true for constant 8-bit weights with one scale, or one scale per output channel, which are along
  // `axis`. Operators on bytes take scales and zero points as a number or a list.
  bool AreWeights(const Node& node, int64_t channels, int64_t axis) const {
    if (!IsConstant(graph_, node.inputs[0]) || !IsByte(node.inputs[0]) || !IsConstant(graph_, node.inputs[1]))
      return false;
    for (const ValueId id : {node.inputs[1], node.input(2)})
      if (id != kNoValue && graph_.value(id).shape.rank() > 1) return false;
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

  // Returns the levels that the clip leaves: its bounds, rounded. Returns nothing if it is no Clip or Relu
  // with bounds that are known.
  std::optional<Ints> LevelsOf(const Node& clip, const Quantization& of) const {
    const int64_t least = of.type == DType::kI8 ? -128 : 0, most = least + 255;
    const auto level = [&](double bound) {
      const double steps = std::nearbyint(double(float(bound) / of.scale)) + of.zero;
      return int64_t(std::clamp(steps, double(least), double(most)));
    };
    if (clip.op == "Relu") return Ints{level(0), most};
    const auto low = ScalarOf(graph_, clip.input(1)), high = ScalarOf(graph_, clip.input(2));
    if ((clip.input(1) != kNoValue && !low) || (clip.input(2) != kNoValue && !high)) return std::nullopt;
    if ((low && std::isnan(*low)) || (high && std::isnan(*high))) return std::nullopt;
    const Ints levels{low ? level(*low) : least, high ? level(*high) : most};
    return levels[0] <= levels[1] ? std::optional(levels) : std::nullopt;
  }

  // Finds what rounds a result to bytes, if nothing else reads it.
  std::optional<Rounding> RoundingOf(ValueId result) const {
    Rounding r;
    r.clip = std::max(OnlyReader(result, "Clip"), OnlyReader(result, "Relu"));
    if (r.clip >= 0) result = graph_.nodes[size_t(r.clip)].outputs[0];
    r.quantize = OnlyReader(result, "QuantizeLinear");
    if (r.quantize < 0) return std::nullopt;
    const auto of = QuantizationOf(graph_, graph_.nodes[size_t(r.quantize)]);
    if (!of) return std::nullopt;
    r.of = *of;
    if (r.clip < 0) return r;
    const auto levels = LevelsOf(graph_.nodes[size_t(r.clip)], *of);
    if (!levels) return std::nullopt;
    if ((*levels)[1] - (*levels)[0] < 255) r.levels = *levels;
    return r;
  }

  // `axis`: the output channels of the weights.
  std::optional<Group> GroupOf(const Node& conv, int axis) const {
    if (!graph_.value(conv.outputs[0]).shape.known() || graph_.value(conv.outputs[0]).type != DType::kF32)
      return std::nullopt;
    // Those of volumes with groups have fast kernels of floats alone (slice_convolution.cc).
    if (!as_onnxruntime_ && graph_.value(conv.inputs[0]).shape.rank() == 5 &&
        conv.attributes.Int("group", 1) > 1)
      return std::nullopt;
    Group g;
    g.input = Dequantized(conv.inputs[0]);
    g.weights = Dequantized(conv.inputs[1]);
    const auto from = g.input ? QuantizationOf(graph_, *g.input) : std::nullopt;
    if (!from || !g.weights) return std::nullopt;
    g.input_of = *from;
    const int64_t channels = graph_.value(conv.inputs[1]).shape[axis];
    if (!AreWeights(*g.weights, channels, axis)) return std::nullopt;
    g.to = RoundingOf(conv.outputs[0]);
    if (!g.to) return GivesFloats(conv, *g.weights, channels) ? std::optional(g) : std::nullopt;
    if (conv.input(2) != kNoValue) {
      g.bias = Dequantized(conv.inputs[2]);
      if (!g.bias || !IsBias(*g.bias, *g.input, *g.weights)) return std::nullopt;
    }
    if (as_onnxruntime_ && !g.to->levels.empty()) return std::nullopt;
    return g;
  }

  // Returns whether the operators on bytes that give floats compute a product without a rounding.
  // Convolutions of groups are bound by the memory that floats take, so that bytes would gain nothing.
  bool GivesFloats(const Node& product, const Node& weights, int64_t channels) const {
    const Shape& w = graph_.value(weights.inputs[0]).shape;
    const ValueId bias = product.input(2);
    return !as_onnxruntime_ && product.attributes.Int("group", 1) == 1 &&
           w.Elements() <= kLongestSum * channels && graph_.value(weights.inputs[1]).type == DType::kF32 &&
           (bias == kNoValue || graph_.value(bias).shape == Shape{channels});
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
    if (as_onnxruntime_ && KeptType(group->input->inputs[0]) != KeptType(OutputOf(n, *group)))
      return SumPieces(n, *group);
    SumIntegers(n, *group);
  }

  void VisitMatMul(size_t n) {
    const Shape &a = graph_.value(graph_.nodes[n].inputs[0]).shape,
                &b = graph_.value(graph_.nodes[n].inputs[1]).shape;
    if (!a.known() || !b.known() || a.rank() < 2) return;
    if (const Node* computed = Dequantized(graph_.nodes[n].inputs[1]);
        computed && !graph_.value(computed->inputs[0]).is_constant()) {
      // Other products of two computed operands have no kernel for bytes.
      const size_t batch = size_t(b.rank()) - std::min<size_t>(size_t(b.rank()), 2);
      const bool pairs =
          a.rank() == b.rank() && std::ranges::equal(a.dims().first(batch), b.dims().first(batch));
      if (b.rank() == 2 || pairs) VisitOperands(n, "QLinearMatMul");
      return;
    }
    // QLinearMatMul takes a scale for each column only where both operands are matrices.
    if (b.rank() != 2) return;
    if (const auto group = GroupOf(graph_.nodes[n], 1)) SumIntegers(n, *group);
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
    const Shape images_of_weights{channels, k, 1, 1};
    const Tensor image = transposed ? Tensor(weights.type(), images_of_weights, weights.data(),
                                             std::make_shared<Tensor>(weights))
                                    : TransposedMatrix(weights, images_of_weights);
    const ValueId x = group->input->inputs[0], y = OutputOf(n, *group);
    const int64_t rows = a[0];
    SumIntegers(n, *group);
    Node& conv = graph_.nodes[n];
    conv.attributes = {};
    if (group->to && !group->to->levels.empty()) conv.attributes.Set(kLevels, group->to->levels);
    conv.inputs[size_t(TraitsOf(conv.op).weights)] = graph_.AddConstant(name + ".weights", image);
    conv.inputs[0] = graph_.AddValue(name + ".images", graph_.value(x).type, Shape{rows, k, 1, 1});
    conv.outputs = {graph_.AddValue(name + ".pixels", graph_.value(y).type, Shape{rows, channels, 1, 1})};
    // A size of 0 is that of the input, whose rows may change from run to run.
    const ValueId images = conv.inputs[0], pixels = conv.outputs[0];
    graph_.AddNode("Reshape", name + ".to_images", {x, AddInts(graph_, name + ".image", {0, k, 1, 1})},
                   {images});
    graph_.AddNode("Reshape", name + ".to_rows", {pixels, AddInts(graph_, name + ".row", {0, channels})},
                   {y});
  }

  // Whether at most half of the products of the convolution are with taps that the kernel does not have. The
  // kernels of floats multiply none of those (kernels/fast/conv/phases.h). This bound is a guess: bytes are
  // multiplied two to four times as fast as floats, by the processor's instructions.
  static bool HasFewZeros(const TransposedGeometry& g) {
    return g.stride * g.stride * g.taps[0] * g.taps[1] <= 2 * g.kernel[0] * g.kernel[1];
  }

  // A ConvTranspose becomes a convolution of bytes, which are then moved to their places.
  void VisitTransposed(size_t n) {
    const auto g = TransposedGeometryOf(graph_, graph_.nodes[n]);
    const auto group = g && HasFewZeros(*g) ? GroupOf(graph_.nodes[n], 1) : std::nullopt;
    if (!group) return;
    // Taps that the kernel does not have are zero points of the weights.
    const ValueId zero = group->weights->input(2);
    if (zero != kNoValue && !IsConstant(graph_, zero)) return;
    const ValueId y = OutputOf(n, *group);
    SumIntegers(n, *group);
    Node conv = std::move(graph_.nodes[n]);
    conv.attributes = ConvAttributesOf(*g);
    if (group->to && !group->to->levels.empty()) conv.attributes.Set(kLevels, group->to->levels);
    // The inputs of both operators on bytes.
    const bool floats = !group->to;
    const size_t weights = floats ? 1 : 3, zeros = floats ? 3 : 5, scales = 4, bias = floats ? 5 : 8;
    const auto replace = [&](size_t input, const char* what, const Tensor& by) {
      conv.inputs[input] = graph_.AddConstant(conv.name + what, by);
    };
    const auto constant = [&](size_t input) { return graph_.value(conv.inputs[input]).constant; };
    replace(weights, ".weights", ConvWeightsOf(*g, constant(weights), constant(zeros)));
    for (const size_t input : {scales, zeros})
      if (constant(input).elements() > 1)
        replace(input, input == scales ? ".scales" : ".zeros", ForEachRest(*g, constant(input)));
    const bool alone = IsConvAlone(*g);
    if (bias < conv.inputs.size() && !alone) {
      if (IsConstant(graph_, conv.inputs[bias])) replace(bias, ".bias", ForEachRest(*g, constant(bias)));
      else conv.inputs[bias] = BiasForEachRest(*g, conv.name, conv.inputs[bias]);
    }
    if (!alone)
      conv.outputs = {graph_.AddValue(conv.name + ".products", graph_.value(y).type, g->products())};
    const std::string name = conv.name;
    const ValueId products = conv.outputs[0];
    graph_.nodes[n] = std::move(conv);
    if (!alone) AddPlacement(graph_, name, *g, products, y);
  }

  // Returns a bias for each rest, of one that is dequantized, so that it is folded next, or computed.
  ValueId BiasForEachRest(const TransposedGeometry& g, const std::string& name, ValueId bias) {
    Attributes axis;
    axis.Set("axis", int64_t{0});
    const std::vector<ValueId> rests(size_t(g.stride * g.stride), bias);
    const ValueId all =
        graph_.AddValue(name + ".bias", graph_.value(bias).type, {g.stride * g.stride * g.channels});
    graph_.AddNode("Concat", name + ".bias", rests, {all}, std::move(axis));
    return all;
  }

  // Returns what a product gives, bytes or floats.
  ValueId OutputOf(size_t n, const Group& g) const {
    return graph_.nodes[g.to ? size_t(g.to->quantize) : n].outputs[0];
  }

  // Makes node n a product of bytes. That of a Gemm is a convolution.
  void SumIntegers(size_t n, const Group& g) {
    const bool matrix = graph_.nodes[n].op == "MatMul";
    const Node& w = *g.weights;
    if (!g.to) return ScaleSums(n, g, matrix ? "mete.ScaledMatMulInteger" : "mete.ScaledConvInteger");
    std::vector<ValueId> inputs = BytesOf(*g.input, g.input_of);
    inputs.insert(inputs.end(), {w.inputs[0], w.inputs[1], WeightZero(w)});
    Replace(n, matrix ? "QLinearMatMul" : "QLinearConv", std::move(inputs), *g.to);
    if (g.bias) graph_.nodes[n].inputs.push_back(g.bias->inputs[0]);
  }

  // Makes node n a product of bytes that gives floats.
  void ScaleSums(size_t n, const Group& g, const char* op) {
    const Tensor& of_weights = graph_.value(g.weights->inputs[1]).constant;
    Tensor scales(DType::kF32, of_weights.shape());
    for (int64_t i = 0; i < scales.elements(); ++i)
      scales.mutable_view().as<float>()[i] = g.input_of.scale * of_weights.as<float>()[i];
    const ValueId bytes = g.input->inputs[0], zero = ZeroPointOf(graph_, g.input_of, g.input->name),
                  weights = g.weights->inputs[0], weight_zero = WeightZero(*g.weights),
                  scale = graph_.AddConstant(graph_.nodes[n].name + ".scale", scales);
    Node& node = graph_.nodes[n];
    const ValueId bias = node.input(2);
    node.op = op;
    node.inputs = {bytes, weights, zero, weight_zero, scale};
    if (bias != kNoValue) node.inputs.push_back(bias);
  }

  // Returns the bytes, the scale and the zero point of a dequantized operand.
  std::vector<ValueId> BytesOf(const Node& dequantize, const Quantization& of) {
    const ValueId bytes = dequantize.inputs[0];
    return {bytes, of.scale_id, ZeroPointOf(graph_, of, dequantize.name)};
  }

  // Makes node n compute bytes with `op`, whose last inputs are the scale and the zero point of its output.
  void Replace(size_t n, const char* op, std::vector<ValueId> inputs, const Rounding& to) {
    const ValueId zero = ZeroPointOf(graph_, to.of, graph_.nodes[size_t(to.quantize)].name);
    inputs.insert(inputs.end(), {to.of.scale_id, zero});
    Node& node = graph_.nodes[n];
    Node& quantize = graph_.nodes[size_t(to.quantize)];
    node.op = op;
    node.inputs = std::move(inputs);
    node.outputs = quantize.outputs;
    if (!to.levels.empty()) node.attributes.Set(kLevels, to.levels);
    quantize.op.clear();
    if (to.clip >= 0) graph_.nodes[size_t(to.clip)].op.clear();
  }

  // An operator of two tensors of bytes that are computed.
  void VisitOperands(size_t n, const char* op) {
    const Node& node = graph_.nodes[n];
    const Node *a = Dequantized(node.inputs[0]), *b = Dequantized(node.inputs[1]);
    const auto a_of = a ? QuantizationOf(graph_, *a) : std::nullopt,
               b_of = b ? QuantizationOf(graph_, *b) : std::nullopt;
    const auto to = RoundingOf(node.outputs[0]);
    if (!a_of || !b_of || !to || !graph_.value(node.outputs[0]).shape.known()) return;
    std::vector<ValueId> inputs = BytesOf(*a, *a_of);
    const std::vector<ValueId> of_b = BytesOf(*b, *b_of);
    inputs.insert(inputs.end(), of_b.begin(), of_b.end());
    Replace(n, op, std::move(inputs), *to);
  }

  void VisitPool(size_t n) {
    const Node& node = graph_.nodes[n];
    const Node* x = Dequantized(node.inputs[0]);
    const auto x_of = x ? QuantizationOf(graph_, *x) : std::nullopt;
    const auto to = RoundingOf(node.outputs[0]);
    // Pools of volumes have fast kernels of floats alone (volume_convolutions.cc).
    if (!x_of || !to || to->clip >= 0 || node.attributes.Has("mete_caffe") ||
        graph_.value(node.inputs[0]).shape.rank() == 5)
      return;
    const char* op = node.op == "AveragePool" ? "mete.QLinearAveragePool" : "mete.QLinearGlobalAveragePool";
    Replace(n, op, BytesOf(*x, *x_of), *to);
  }

  ValueId WeightZero(const Node& weights) {
    if (weights.input(2) != kNoValue) return weights.inputs[2];
    return graph_.AddConstant(weights.name + ".zero", Tensor(graph_.value(weights.inputs[0]).type, Shape{}));
  }

  void SumPieces(size_t n, const Group& g) {
    Node& conv = graph_.nodes[n];
    const Shape &y = graph_.value(conv.outputs[0]).shape, &w = graph_.value(conv.inputs[1]).shape;
    if (!TakesSumPiece(conv.attributes, w)) return;
    if (g.to->clip >= 0) {  // the saturation has the same effect as the clip
      ReplaceUses(graph_, graph_.nodes[size_t(g.to->clip)].outputs[0], conv.outputs[0]);
      graph_.nodes[size_t(g.to->clip)].op.clear();
    }
    conv.attributes.Set(kSumPiece, SumPiece(w[1], y[2] * y[3]));
  }

  Graph& graph_;
  Uses uses_;
  const bool as_onnxruntime_;
};

bool Fuse(Graph& graph, Sums sums) {
  const bool any = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                               [](const Node& n) { return n.op == "DequantizeLinear"; });
  if (!any) return false;
  QuantizedFuser(graph, sums).Run();
  SortTopologically(graph);  // a Gemm gets nodes before and behind it, a ConvTranspose behind it
  return true;
}

}  // namespace

bool FuseByteOperators(Graph& graph) { return Fuse(graph, Sums::kIntegers); }
bool FuseQuantizedAsOnnxRuntime(Graph& graph) { return Fuse(graph, Sums::kAsOnnxRuntime); }

}  // namespace mete
