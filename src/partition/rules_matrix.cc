// Matrix products are divided into rows of the left operand, columns of the right operand, or products of a
// batch; Attention into images, heads, or rows of queries.
#include <initializer_list>

#include "partition/rules.h"

namespace mete {
namespace {

// Divides the product of the matrices in inputs `left` and `right`. Returns nothing if it cannot be divided
// along the axis.
std::optional<Division> Product(const DivideContext& c, int left, int right) {
  const int rank = c.output().rank();
  if (c.shape(left).rank() < 2 || c.shape(right).rank() < 2) return std::nullopt;
  Division d = c.Whole();
  if (c.axis == rank - 2) c.SameRows(d, left, c.shape(left).rank() - 2);
  else if (c.axis == rank - 1) c.SameRows(d, right, c.shape(right).rank() - 1);
  else if (!c.Broadcast(d, left) || !c.Broadcast(d, right)) return std::nullopt;
  return d;
}

// Divides row-wise scales and zero points, given as a list or as a matrix of one column. A scale or zero
// point of the whole matrix is needed whole. Returns false if an input does not fit.
bool OfRows(const DivideContext& c, Division& d, std::initializer_list<int> inputs) {
  for (int i : inputs) {
    if (!c.has(i)) continue;
    const bool list = c.shape(i).rank() == 1 && c.shape(i)[0] > 1;
    if (list && c.axis == c.output().rank() - 2) c.SameRows(d, i, 0);
    if (!list && !c.Broadcast(d, i)) return false;
  }
  return true;
}

// Divides column-wise scales and zero points, whose last dimension is that of the columns.
bool OfColumns(const DivideContext& c, Division& d, std::initializer_list<int> inputs) {
  for (int i : inputs)
    if (c.has(i) && !c.Broadcast(d, i)) return false;
  return true;
}

}  // namespace

Divided DivideGemm(const DivideContext& c) {
  if (c.inputs() > 3) return std::nullopt;
  Division d = c.Whole();
  const bool rows = c.axis == 0;
  const bool transposed = c.node.attributes.Int(rows ? "transA" : "transB", 0) != 0;
  c.SameRows(d, rows ? 0 : 1, rows == transposed ? 1 : 0);
  if (c.has(2) && !c.Broadcast(d, 2)) return std::nullopt;
  return d;
}

// A bias that a pass has added (graph/fused.h) has one element per column.
Divided DivideMatMul(const DivideContext& c) {
  if (c.inputs() > 3) return std::nullopt;
  auto d = Product(c, 0, 1);
  if (!d || (c.has(2) && !c.Broadcast(*d, 2))) return std::nullopt;
  return d;
}

Divided DivideMatMulInteger(const DivideContext& c) {
  auto d = Product(c, 0, 1);
  if (!d || !OfRows(c, *d, {2}) || !OfColumns(c, *d, {3, 4, 5})) return std::nullopt;
  return d;
}

Divided DivideQLinearMatMul(const DivideContext& c) {
  auto d = Product(c, 0, 3);
  if (!d || !OfRows(c, *d, {1, 2, 6, 7}) || !OfColumns(c, *d, {4, 5})) return std::nullopt;
  return d;
}

// Attention of 4-D Q, K and V can be divided into images, heads (if all three have the same number of heads),
// and queries (if neither a causal mask nor a window hides keys). A mask is broadcast to images, heads and
// queries.
Divided DivideAttention(const DivideContext& c) {
  for (int i = 4; i < c.inputs(); ++i)
    if (c.has(i)) return std::nullopt;
  for (size_t i = 1; i < c.node.outputs.size(); ++i)
    if (c.node.output(i) != kNoValue) return std::nullopt;
  for (int i = 0; i < 3; ++i)
    if (c.shape(i).rank() != 4 || c.shape(i)[1] != c.shape(0)[1]) return std::nullopt;
  const Attributes& a = c.node.attributes;
  const bool hides =
      a.Int("is_causal", 0) != 0 || a.Int("left_window_size", -1) >= 0 || a.Int("right_window_size", -1) >= 0;
  if (c.axis == 3 || (c.axis == 2 && hides)) return std::nullopt;
  Division d = c.Whole();
  for (int i = 0; i < (c.axis == 2 ? 1 : 3); ++i) c.SameRows(d, i, c.axis);
  if (c.has(3) && !c.Broadcast(d, 3)) return std::nullopt;
  return d;
}

}  // namespace mete
