#include "dispatch/products.h"

#include <algorithm>

#include "base/few_bit_matrix.h"
#include "base/tensor_source.h"
#include "dispatch/activations.h"
#include "dispatch/conv_algorithms.h"
#include "dispatch/reason.h"
#include "graph/fused.h"
#include "kernels/fast/half/half_conv.h"

namespace mete {
namespace {

bool IsRowVector(const Shape& s, int64_t n) { return s.Elements() == n && (s.rank() == 0 || s.back() == n); }

std::optional<Product> OfGemm(const Graph& graph, const Node& node, std::string* why) {
  const Attributes& a = node.attributes;
  if (a.Int("transA", 0)) return No("A is transposed", why);
  const Shape &x = graph.value(node.inputs[0]).shape, &b = graph.value(node.inputs[1]).shape;
  Product p;
  p.transposed = a.Int("transB", 0) != 0;
  p.m = x[0];
  p.k = x[1];
  p.n = p.transposed ? b[0] : b[1];
  p.b_stride = b[1];
  p.alpha = a.Float("alpha", 1);
  if (node.attributes.Has("residual")) p.residual = 3;
  const ValueId c = node.input(2);
  if (c == kNoValue || a.Float("beta", 1) == 0) return p;
  if (a.Float("beta", 1) != 1) return No("beta is not 1", why);
  if (IsConstant(graph, c) && IsRowVector(graph.value(c).shape, p.n)) p.bias = c;
  else if (p.residual < 0 && graph.value(c).shape == graph.value(node.outputs[0]).shape) p.residual = 2;
  else return No("C is neither a constant row nor of the output's shape", why);
  return p;
}

std::optional<Product> OfMatMul(const Graph& graph, const Node& node, std::string* why) {
  const Shape &x = graph.value(node.inputs[0]).shape, &b = graph.value(node.inputs[1]).shape;
  if (x.rank() < 2 || b.rank() < 2) return No("an operand has one dimension", why);
  Product p;
  p.k = x.back();
  p.n = b.back();
  p.b_stride = p.n;
  p.m = x[x.rank() - 2];
  if (b.rank() == 2 || b.Elements(0, b.rank() - 2) == 1) {
    p.m = x.Elements(0, x.rank() - 1);
    if (x.rank() < b.rank()) return No("B has more dimensions than A", why);
  } else {
    const bool same = x.rank() == b.rank() && std::equal(x.begin(), x.end() - 2, b.begin());
    if (!same) return No("batches are broadcast", why);
    p.batch = x.Elements(0, x.rank() - 2);
    p.b_step = p.k * p.n;
  }
  if (node.attributes.Has("residual")) p.residual = 3;
  const ValueId bias = node.input(2);
  if (bias != kNoValue && !(IsConstant(graph, bias) && IsRowVector(graph.value(bias).shape, p.n)))
    return No("the bias is not a constant row", why);
  p.bias = bias;
  return p;
}

std::optional<Product> OfView(const Graph& graph, const Node& node, std::string* why) {
  MatMulView view;
  ParseMatMulView(node.attributes, graph.value(node.inputs[0]).shape, graph.value(node.inputs[1]).shape,
                  view);
  if (view.a_column != 1 || view.y_column != 1 || (view.b_column != 1 && view.b_row != 1))
    return No("elements of a row lie apart", why);
  Product p;
  p.m = view.m;
  p.n = view.n;
  p.k = view.k;
  p.batch = view.batch;
  p.view = view;
  p.a_stride = view.a_row;
  p.c_stride = view.y_row;
  p.transposed = view.b_column != 1;
  p.b_stride = p.transposed ? view.b_column : view.b_row;
  p.b_step = p.k * p.n;
  p.alpha = view.scale;
  return p;
}

}  // namespace

std::vector<std::string> Product::kernels() const {
  if (few_bits != 0) return {kernel()};
  switch (operands) {
    case Precision::kF32: return {kernel()};
    case Precision::kBf16: return {kernel(), KernelName({}, ConvAlgorithm::kBf16)};
    case Precision::kF16: return {kernel(), KernelName({}, ConvAlgorithm::kF16)};
    case Precision::kW8: return {kernel(), "matvec_w8_f32"};
    case Precision::kW4: return {kernel(), "matvec_w4_f32"};
    case Precision::kI32: break;  // of bytes alone
  }
  return {};
}

ConvShape AsConvolution(const Product& p) {
  ConvShape s;
  s.in_width = s.out_width = p.m;
  s.in_channels = p.k;
  s.out_channels = p.n;
  s.in_pixel_stride = p.a_stride;
  s.out_pixel_stride = p.c_stride;
  return s;
}

namespace {

bool IsSoonerInHalves(const Product& p) {
  // An operand is rounded in the time of some ten multiply-adds, and half of the multiply-adds are saved: of
  // each input as many as there are columns, of each weight that is not constant as many as there are rows.
  // This value is a guess.
  constexpr int64_t kLeast = 32;
  if (p.k == 0) return false;
  // Without an instruction for halves, rounded weights save only memory, for which a product of one row
  // waits.
  if (p.is_vector()) return p.constant;
  return p.n >= kLeast && (PacksOnce(p) || p.m >= kLeast) &&
         IsFast(PlanHalfConv(AsConvolution(p), p.operands));
}

// Weights of one row that a second-level cache keeps are read sooner than integers are made floats. This
// value is a guess: most such caches have 1 MiB or less.
constexpr int64_t kLargeBytes = 1 << 20;

bool IsSoonerInFewBits(const Product& p) { return p.is_vector() && IsLarge(p); }

// Returns the bits of B's integers if a kernel reads them. Several rows of A are computed in the same way,
// because B in floats would take eight times the memory of its integers.
int FewBitsOf(const Product& p, const Tensor& b) {
  const FewBitMatrix* m = b.source() ? b.source()->few_bits() : nullptr;
  const bool fits = m && IsLarge(p) && p.transposed && p.batch == 1 && p.alpha == 1 && !p.view &&
                    m->rows == p.n && m->columns == p.k && m->block % 16 == 0;
  return !fits ? 0 : m->bits == 8 ? 8 : 4;
}

}  // namespace

bool IsLarge(const Product& p) { return p.constant && p.n * p.k * int64_t{sizeof(float)} >= kLargeBytes; }

Precision PrecisionOf(const Product& p) {
  if (p.operands == Precision::kF32 || p.few_bits != 0) return Precision::kF32;
  const bool sooner = IsHalf(p.operands) ? IsSoonerInHalves(p) : IsSoonerInFewBits(p);
  return sooner ? p.operands : Precision::kF32;
}

std::optional<Product> ProductOf(const Graph& graph, const Node& node, std::string* why) {
  if (!IsF32(graph, node.inputs[0]) || !IsF32(graph, node.inputs[1])) return No("not f32", why);
  if (!graph.value(node.outputs[0]).shape.known()) return No("the output's shape depends on data", why);
  if (graph.value(node.outputs[0]).shape.Elements() == 0) return No("nothing to compute", why);
  if (!FastActivation(node)) return No("the activation has no fast form", why);
  std::optional<Product> product = node.op == "Gemm"     ? OfGemm(graph, node, why)
                                   : node.op == "MatMul" ? OfMatMul(graph, node, why)
                                                         : OfView(graph, node, why);
  if (product) product->constant = IsConstant(graph, node.inputs[1]);
  if (product) product->operands = OperandsOf(node);
  if (product && product->constant)
    product->few_bits = FewBitsOf(*product, graph.value(node.inputs[1]).constant);
  return product;
}

}  // namespace mete
