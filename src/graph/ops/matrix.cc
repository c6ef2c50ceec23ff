// Matrix products and sums over products.
#include "base/einsum.h"
#include "graph/ops/check.h"
#include "graph/operators.h"

namespace mete {
namespace {

void InferMatMul(InferContext& c) {
  NeedType(c, 0, kNumericTypes);
  NeedSameTypes(c, 0, 1);
  c.NeedRank(0, 1);
  c.NeedRank(1, 1);
  const Shape &a = c.shape(0), &b = c.shape(1);
  const int64_t depth_b = b.rank() == 1 ? b[0] : b[b.rank() - 2];
  if (a.back() != depth_b)
    c.Bad("inner dimensions differ; got {} and {}, expected {} to be {}", ToString(a), ToString(b), depth_b, a.back());
  const Shape batch_a(a.dims().first(size_t(std::max(0, a.rank() - 2)))), batch_b(b.dims().first(size_t(std::max(0, b.rank() - 2))));
  Shape out = BroadcastShapes(c, batch_a, batch_b);
  if (a.rank() > 1) out.push_back(a[a.rank() - 2]);
  if (b.rank() > 1) out.push_back(b.back());
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
    c.Bad("inner dimensions differ; got {} (transA {}) and {} (transB {}), expected {} to be {}", ToString(a), ta, ToString(b), tb, b[tb], a[1 - ta]);
  const Shape out{a[ta], b[1 - tb]};
  if (c.has(2) && BroadcastShapes(c, out, c.shape(2)) != out)
    c.Bad("C cannot be broadcast to the product; got {}, expected to fit {}", ToString(c.shape(2)), ToString(out));
  c.Output(0, c.type(0), out);
}

// How many products an Einsum may sum up, so that a small file cannot ask for days of work.
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

constexpr OpSchema kOperators[] = {
    {"Einsum", 1, -1, 1, InferEinsum},
    {"Gemm", 2, 3, 1, InferGemm},
    {"MatMul", 2, 2, 1, InferMatMul},
};

}  // namespace

std::span<const OpSchema> MatrixOperators() { return kOperators; }

}  // namespace mete
