// Matrix products: rows of the left side, columns of the right one, or products of a batch. Attention: heads, or rows of queries.
#include "partition/rules.h"

namespace mete {
namespace {

std::optional<Division> Gemm(const DivideContext& c) {
  if (c.inputs() > 3) return std::nullopt;
  Division d = c.Whole();
  const bool rows = c.axis == 0;
  const bool transposed = c.node.attributes.Int(rows ? "transA" : "transB", 0) != 0;
  c.SameRows(d, rows ? 0 : 1, rows == transposed ? 1 : 0);
  if (c.has(2) && !c.Broadcast(d, 2)) return std::nullopt;
  return d;
}

std::optional<Division> MatMul(const DivideContext& c) {
  const int rank = c.output().rank();
  if (c.inputs() > 2 || c.shape(0).rank() < 2 || c.shape(1).rank() < 2) return std::nullopt;
  Division d = c.Whole();
  if (c.axis == rank - 2) c.SameRows(d, 0, c.shape(0).rank() - 2);
  else if (c.axis == rank - 1) c.SameRows(d, 1, c.shape(1).rank() - 1);
  else if (!c.Broadcast(d, 0) || !c.Broadcast(d, 1)) return std::nullopt;
  return d;
}

// Of 4-D Q, K and V without a mask: images, heads where there are as many of each, and queries where none is hidden from another.
std::optional<Division> Attention(const DivideContext& c) {
  for (int i = 3; i < c.inputs(); ++i)
    if (c.has(i)) return std::nullopt;
  for (size_t i = 1; i < c.node.outputs.size(); ++i)
    if (c.node.output(i) != kNoValue) return std::nullopt;
  for (int i = 0; i < 3; ++i)
    if (c.shape(i).rank() != 4 || c.shape(i)[1] != c.shape(0)[1]) return std::nullopt;
  const Attributes& a = c.node.attributes;
  const bool hides = a.Int("is_causal", 0) != 0 || a.Int("left_window_size", -1) >= 0 || a.Int("right_window_size", -1) >= 0;
  if (c.axis == 3 || (c.axis == 2 && hides)) return std::nullopt;
  Division d = c.Whole();
  for (int i = 0; i < (c.axis == 2 ? 1 : 3); ++i) c.SameRows(d, i, c.axis);
  return d;
}

constexpr DivideRule kRules[] = {{"Gemm", Gemm}, {"MatMul", MatMul}, {"Attention", Attention}};

}  // namespace

std::span<const DivideRule> MatrixRules() { return kRules; }

}  // namespace mete
