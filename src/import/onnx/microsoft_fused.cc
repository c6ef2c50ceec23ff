#include "import/onnx/microsoft_fused.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "import/onnx/microsoft_build.h"

namespace mete::onnx_import {
namespace {

// An activation as the optimizer writes it. Parameters that are not given are those of the operator of ONNX.
struct Activation {
  std::string name;  // "": none
  std::optional<float> alpha, beta;
};

void EraseActivation(Attributes& attributes) {
  for (const char* name :
       {"activation", "activation_params", "activation_alpha", "activation_beta", "activation_gamma"})
    attributes.Erase(name);
}

// Makes the node the activation of `x`.
void Activate(Upgrade& u, const Activation& activation, ValueId x) {
  if (activation.name == "Relu" || activation.name == "Sigmoid" || activation.name == "Tanh")
    return Become(u, activation.name, {x});
  if (activation.name == "Clip") {
    const auto bound = [&](const char* name, const std::optional<float>& value) {
      return value ? u.Scalar(name, *value, x) : kNoValue;
    };
    const ValueId least = bound("least", activation.alpha), most = bound("most", activation.beta);
    return Become(u, "Clip", {x, least, most});
  }
  const bool has_beta = activation.name == "HardSigmoid";
  if (!has_beta && activation.name != "LeakyRelu")
    return u.Unsupported(fmt::format("its activation '{}' is unknown", Printable(activation.name)));
  Attributes attributes;
  if (activation.alpha) attributes.Set("alpha", *activation.alpha);
  if (has_beta && activation.beta) attributes.Set("beta", *activation.beta);
  Become(u, activation.name, {x}, std::move(attributes));
}

// Exchanges the last two dimensions, of which a matrix has two at least.
ValueId Transposed(Upgrade& u, const char* suffix, ValueId id) {
  if (id == kNoValue) return id;
  const Value& value = u.graph.value(id);
  const Shape& shape = value.is_constant() ? value.constant.shape() : value.shape;
  // The rank of what nodes compute is not known before shapes are inferred.
  if (!shape.known() || shape.rank() < 2)
    return u.Emit("Einsum", suffix, {id}, With("equation", std::string("...ij->...ji")));
  mete::Ints order(size_t(shape.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return u.Emit("Transpose", suffix, {id}, With("perm", std::move(order)));
}

}  // namespace

void ExpandBiasGelu(Upgrade& u) {
  const ValueId sum = u.Emit("Add", "biased", {u.input(0), u.input(1)});
  Become(u, "Gelu", {sum});
}

void ExpandFastGelu(Upgrade& u) {
  const ValueId x = u.input(1) == kNoValue ? u.input(0) : u.Emit("Add", "biased", {u.input(0), u.input(1)});
  Become(u, "Gelu", {x}, With("approximate", std::string("tanh")));
}

void ExpandQuickGelu(Upgrade& u) {
  Become(u, "Swish", {u.input(0)}, With("alpha", u.node.attributes.Float("alpha", 1.702f)));
}

// X, W, an optional bias, and an optional tensor that is added before the activation.
void ExpandFusedConv(Upgrade& u) {
  Attributes conv = u.node.attributes;
  Activation activation{std::string(conv.String("activation", "")), {}, {}};
  const Floats& given = conv.FloatList("activation_params");
  if (!given.empty()) activation.alpha = given[0];
  if (given.size() > 1) activation.beta = given[1];
  EraseActivation(conv);
  const ValueId added = u.input(3);
  std::vector<ValueId> inputs{u.input(0), u.input(1)};
  if (u.input(2) != kNoValue) inputs.push_back(u.input(2));
  if (added == kNoValue && activation.name.empty())
    return Become(u, "Conv", std::move(inputs), std::move(conv));
  ValueId y = u.Emit("Conv", "conv", std::move(inputs), std::move(conv));
  if (added != kNoValue && activation.name.empty()) return Become(u, "Add", {y, added});
  if (added != kNoValue) y = u.Emit("Add", "added", {y, added});
  Activate(u, activation, y);
}

// The axis is that of a softmax before opset 13, which counts all dimensions from it on as one. The bias is
// broadcast as that of an Add is, whichever dimensions is_inner_broadcast names.
void ExpandBiasSoftmax(Upgrade& u) {
  const int64_t axis = u.node.attributes.Int("axis", 1);
  if (!HasOnly(u, {"axis", "is_inner_broadcast"})) return;
  const ValueId sum = u.Emit("Add", "biased", {u.input(0), u.input(1)});
  const int rank = RankOf(u, u.input(0));
  const Attributes last = With("axis", int64_t{-1});
  if (axis == -1 || (rank > 0 && axis == rank - 1)) return Become(u, "Softmax", {sum}, last);
  const ValueId rows = Op(u, "Flatten", {sum}, "axis", axis);
  Become(u, "Reshape", {Into(u, kNoValue, "Softmax", {rows}, last), Op(u, "Shape", {sum})});
}

void ExpandFusedGemm(Upgrade& u) {
  Attributes gemm = u.node.attributes;
  Activation activation{std::string(gemm.String("activation", "")), {}, {}};
  if (gemm.Has("activation_alpha")) activation.alpha = gemm.Float("activation_alpha", 0);
  if (gemm.Has("activation_beta")) activation.beta = gemm.Float("activation_beta", 0);
  EraseActivation(gemm);
  if (activation.name.empty()) return Become(u, "Gemm", u.node.inputs, std::move(gemm));
  Activate(u, activation, u.Emit("Gemm", "gemm", u.node.inputs, std::move(gemm)));
}

namespace {

// Returns an operand of a FusedMatMul. With transBatchA or transBatchB the first dimension is moved between
// the batch and the last dimension; transA and transB then exchange the last two.
ValueId OperandOf(Upgrade& u, size_t input, const std::string& which) {
  const Attributes& given = u.node.attributes;
  const bool transposed = given.Int("trans" + which, 0) != 0;
  const ValueId id = u.input(input);
  const char* suffix = input == 0 ? "a" : "b";
  if (given.Int("transBatch" + which, 0) == 0) return transposed ? Transposed(u, suffix, id) : id;
  const int rank = RankOf(u, id);
  if (rank < 3) {
    u.Unsupported(rank < 0 ? fmt::format("transBatch{} of an operand of unknown rank", which)
                           : fmt::format("transBatch{} of an operand of {} dimensions", which, rank));
    return id;
  }
  mete::Ints order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (transposed) std::swap(order[order.size() - 1], order[order.size() - 2]);
  return u.Emit("Transpose", suffix, {id}, With("perm", std::move(order)));
}

}  // namespace

void ExpandFusedMatMul(Upgrade& u) {
  const Attributes given = u.node.attributes;
  const ValueId a = OperandOf(u, 0, "A"), b = OperandOf(u, 1, "B");
  const float alpha = given.Float("alpha", 1);
  if (alpha == 1) return Become(u, "MatMul", {a, b});
  const ValueId product = u.Emit("MatMul", "product", {a, b});
  Become(u, "Mul", {product, u.Scalar("alpha", alpha, product)});
}

// The input, what is added to it, gamma, beta (not of the simplified form), and an optional bias that is
// added as well. The fourth output is the sum.
void ExpandSkipNormalization(Upgrade& u) {
  const bool simplified = u.node.op == "SkipSimplifiedLayerNormalization";
  const size_t bias_at = simplified ? 3 : 4;
  for (const size_t i : {1, 2})
    if (u.node.output(i) != kNoValue) return u.Unsupported("its outputs for training are not supported");
  const ValueId bias = u.input(bias_at);
  ValueId sum = u.input(0);
  if (bias != kNoValue) sum = u.Emit("Add", "biased", {sum, bias});
  if (const ValueId told = u.node.output(3); told != kNoValue) {
    u.graph.AddNode("Add", u.names.Unique(u.node.name + "/sum"), {sum, u.input(1)}, {told});
    sum = told;
  } else {
    sum = u.Emit("Add", "sum", {sum, u.input(1)});
  }
  std::vector<ValueId> inputs{sum, u.input(2)};
  if (!simplified && u.input(3) != kNoValue) inputs.push_back(u.input(3));
  Attributes attributes;
  attributes.Set("axis", int64_t{-1});
  attributes.Set("epsilon", u.node.attributes.Float("epsilon", 1e-12f));
  u.node.outputs.resize(1);
  Become(u, simplified ? "RMSNormalization" : "LayerNormalization", std::move(inputs), std::move(attributes));
}

}  // namespace mete::onnx_import
