#include "base/matmul_view.h"

#include <fmt/format.h>

#include <numeric>

namespace mete {
namespace {

// Returns the permutation in attribute `name`, or the identity if the attribute is absent. Returns an empty
// list if the attribute is no permutation of `rank` dimensions.
Ints PermOf(const Attributes& attributes, const char* name, int rank) {
  Ints perm = attributes.IntList(name);
  if (perm.empty()) {
    perm.resize(size_t(rank));
    std::iota(perm.begin(), perm.end(), 0);
  }
  std::vector<bool> seen(size_t(rank), false);
  if (perm.size() != seen.size()) return {};
  for (int64_t p : perm) {
    if (p < 0 || p >= rank || seen[size_t(p)]) return {};
    seen[size_t(p)] = true;
  }
  return perm;
}

Ints StepsOf(const Shape& shape) {
  Ints steps(size_t(shape.rank()), 1);
  for (int i = shape.rank() - 1; i > 0; --i) steps[size_t(i - 1)] = steps[size_t(i)] * shape[i];
  return steps;
}

// Shape and strides of a tensor seen through a permutation: dimension i is stored dimension perm[i].
struct Seen {
  Seen(const Shape& stored, const Ints& perm) {
    const Ints own = StepsOf(stored);
    for (int64_t p : perm) {
      shape.push_back(stored[int(p)]);
      steps.push_back(own[size_t(p)]);
    }
  }
  Shape shape;
  Ints steps;
};

}  // namespace

std::string ParseMatMulView(const Attributes& attributes, const Shape& a, const Shape& b, MatMulView& view) {
  const int rank = a.rank();
  if (rank < 2 || b.rank() != rank)
    return fmt::format("needs two operands of equal rank from 2 on; got {} and {}", ToString(a), ToString(b));
  const Ints perm_a = PermOf(attributes, kPermA, rank), perm_b = PermOf(attributes, kPermB, rank),
             perm_y = PermOf(attributes, kPermY, rank);
  if (perm_a.empty() || perm_b.empty() || perm_y.empty())
    return fmt::format("a permutation is none of {} dimensions", rank);
  const Seen left(a, perm_a), right(b, perm_b);
  Shape product = left.shape;
  product[rank - 1] = right.shape[rank - 1];
  for (int i = 0; i + 2 < rank; ++i)
    if (left.shape[i] != right.shape[i])
      return fmt::format("batches differ; got {} and {}", ToString(left.shape), ToString(right.shape));
  if (left.shape[rank - 1] != right.shape[rank - 2])
    return fmt::format("inner dimensions differ; got {} and {}", ToString(left.shape), ToString(right.shape));
  view.y = {};
  for (int64_t p : perm_y) view.y.push_back(product[int(p)]);
  Ints back(size_t(rank), 0);  // dimension i of the product is dimension back[i] of the stored output
  for (int i = 0; i < rank; ++i) back[size_t(perm_y[size_t(i)])] = i;
  const Seen out(view.y, back);
  const size_t row = size_t(rank) - 2, column = row + 1;
  view.m = product[rank - 2];
  view.n = product[rank - 1];
  view.k = left.shape[rank - 1];
  view.a_row = left.steps[row];
  view.a_column = left.steps[column];
  view.b_row = right.steps[row];
  view.b_column = right.steps[column];
  view.y_row = out.steps[row];
  view.y_column = out.steps[column];
  view.scale = attributes.Float(kScale, 1);
  view.axes.clear();
  for (size_t i = 0; i < row; ++i)
    view.axes.push_back({product[int(i)], {left.steps[i], right.steps[i], out.steps[i]}});
  view.batch = product.Elements(0, rank - 2);
  return "";
}

MatMulView::Product MatMulView::At(int64_t i) const {
  Product at;
  for (size_t axis = axes.size(); axis-- > 0; i /= axes[axis].extent) {
    const int64_t steps = i % axes[axis].extent;
    at.a += steps * axes[axis].step.a;
    at.b += steps * axes[axis].step.b;
    at.y += steps * axes[axis].step.y;
  }
  return at;
}

}  // namespace mete
