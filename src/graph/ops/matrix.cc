// Matrix products and sums over products.
#include "base/einsum.h"
#include "graph/fused.h"
#include "graph/ops/check.h"
#include "graph/ops/matmul_shape.h"
#include "graph/operators.h"

namespace mete {
namespace {

// Checks a fused bias, residual and activation, which only float types may have.
void CheckFloatEpilogue(const InferContext& c, const Shape& out) {
  CheckEpilogue(c, c.type(0), out);
  if (c.attributes.Has("activation") || c.attributes.Int("residual", 0) != 0) NeedType(c, 0, kFloatTypes);
}

void InferMatMul(InferContext& c) {
  NeedType(c, 0, kNumericTypes);
  NeedSameTypes(c, 0, 1);
  const Shape out = MatMulShape(c, 0, 1);
  if (c.has(2)) {
    c.NeedRank(1, 2);
    NeedType(c, 2, kFloatTypes);
    NeedShape(c, 2, Shape{c.shape(1).back()});
  }
  CheckFloatEpilogue(c, out);
  CheckOperands(c);
  c.Output(0, c.type(0), out);
}

void InferGemm(InferContext& c) {
  NeedType(c, 0, kNumericTypes);
  NeedSameTypes(c, 0, 1);
  c.NeedRank(0, 2, 2);
  c.NeedRank(1, 2, 2);
  const int ta = c.attributes.Int("transA", 0) != 0, tb = c.attributes.Int("transB", 0) != 0;
  const Shape &a = c.shape(0), &b = c.shape(1);
  if (a[1 - ta] != b[tb])
    c.Bad("inner dimensions differ; got {} (transA {}) and {} (transB {}), expected {} to be {}", ToString(a),
          ta, ToString(b), tb, b[tb], a[1 - ta]);
  const Shape out{a[ta], b[1 - tb]};
  if (c.has(2) && BroadcastShapes(c, out, c.shape(2)) != out)
    c.Bad("C cannot be broadcast to the product; got {}, expected to fit {}", ToString(c.shape(2)),
          ToString(out));
  CheckFloatEpilogue(c, out);
  CheckOperands(c);
  c.Output(0, c.type(0), out);
}

void InferDet(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  c.NeedRank(0, 2);
  const auto dims = c.shape(0).dims();
  if (dims[dims.size() - 1] != dims[dims.size() - 2])
    c.Bad("a determinant is of square matrices; got {}", ToString(c.shape(0)));
  c.Output(0, c.type(0), Shape(dims.first(dims.size() - 2)));
}

// The most products of an Einsum, so that a small file cannot request days of work.
constexpr int64_t kMaxProducts = int64_t(1) << 40;

void InferEinsum(InferContext& c) {
  NeedType(c, 0, kNumericTypes);
  NeedSameTypes(c, 0, 1);
  std::vector<Shape> shapes;
  for (int i = 0; i < c.inputs(); ++i) {
    if (!c.has(i)) c.Bad("operand {} is left out", i);
    shapes.push_back(c.shape(i));
  }
  const Einsum einsum(c.node(), c.attributes.String("equation", ""), shapes);
  int64_t products = 1;
  for (int64_t extent : einsum.extents)
    if (extent > 0 && (__builtin_mul_overflow(products, extent, &products) || products > kMaxProducts))
      c.Bad("the equation asks for too many products; expected at most {}", kMaxProducts);
  c.Output(0, c.type(0), einsum.OutputShape());
}

constexpr OpSchema kMatrixOperators[] = {
    {"Det", 1, 1, 1, InferDet, {.arithmetic = Arithmetic::kPairs}},
    {"Einsum", 1, -1, 1, InferEinsum, {.arithmetic = Arithmetic::kEinsum}},
    {"Gemm",
     2,
     4,
     1,
     InferGemm,
     {.divide_by = DivideBy::kGemm, .arithmetic = Arithmetic::kMatrix, .epilogue = true}},
    {"MatMul",
     2,
     4,
     1,
     InferMatMul,
     {.divide_by = DivideBy::kMatMul, .arithmetic = Arithmetic::kMatrix, .epilogue = true}},
};

}  // namespace

std::span<const OpSchema> MatrixOperators() { return kMatrixOperators; }

}  // namespace mete
