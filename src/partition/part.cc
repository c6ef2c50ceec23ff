#include "partition/part.h"

#include <cstring>

#include "base/error.h"

namespace mete {
namespace {

IndexRange RowsOf(const Part& part, const Shape& shape, int axis) {
  return part.all() ? IndexRange{0, shape[axis]} : part.rows;
}

}  // namespace

std::string ToString(const Part& part) {
  return part.all() ? "all"
                    : fmt::format("axis {}, rows {} to {}", part.axis, part.rows.begin, part.rows.end);
}

Part Normalized(const Part& part, const Shape& shape) {
  return !part.all() && part.rows.begin <= 0 && part.rows.end >= shape[part.axis] ? Part::All() : part;
}

Part Hull(const Part& a, const Part& b) {
  if (a.all() || b.all() || a.axis != b.axis) return Part::All();
  return Part::Of(a.axis, {std::min(a.rows.begin, b.rows.begin), std::max(a.rows.end, b.rows.end)});
}

bool Contains(const Part& a, const Part& b) { return a.all() || (!b.all() && Hull(a, b) == a); }

Shape ShapeOf(const Part& part, const Shape& whole) {
  Shape shape = whole;
  if (!part.all()) shape[part.axis] = part.rows.size();
  return shape;
}

bool IsContiguous(const Part& part, const Shape& whole) {
  return part.all() || whole.Elements(0, part.axis) == 1;
}

Tensor Cut(const Tensor& whole, const Part& part) {
  if (part.all()) return whole;
  if (IsContiguous(part, whole.shape())) {
    const int64_t row = whole.shape().Elements(part.axis + 1, whole.shape().rank());
    const auto* bytes = static_cast<const std::byte*>(whole.data());
    return {whole.type(), ShapeOf(part, whole.shape()),
            bytes + size_t(part.rows.begin * row) * SizeOf(whole.type()), whole.owner()};
  }
  Tensor piece(whole.type(), ShapeOf(part, whole.shape()));
  Place(whole.view(), Part::All(), piece.mutable_view(), part);
  return piece;
}

void Place(const ConstView& piece, const Part& part, const View& into, const Part& wanted) {
  const int axis = std::max(part.axis, wanted.axis);
  if (piece.type != into.type || piece.shape.rank() != into.shape.rank() || axis >= into.shape.rank() ||
      (!part.all() && !wanted.all() && part.axis != wanted.axis))
    Invalid("part", "does not fit where it shall go; got {} {} as {}, expected a part of {} {} as {}",
            Name(piece.type), ToString(piece.shape), ToString(part), Name(into.type), ToString(into.shape),
            ToString(wanted));
  if (axis < 0) {
    if (piece.shape != into.shape)
      Invalid("part", "has the wrong shape; got {}, expected {}", ToString(piece.shape),
              ToString(into.shape));
    std::memcpy(into.data, piece.data, piece.bytes());
    return;
  }
  const IndexRange has = RowsOf(part, piece.shape, axis), wants = RowsOf(wanted, into.shape, axis);
  Shape expected = into.shape;
  expected[axis] = has.size();
  if (piece.shape != expected || wants.size() != into.shape[axis])
    Invalid("part", "has the wrong shape; got {} as {} of {} as {}, expected {}", ToString(piece.shape),
            ToString(part), ToString(into.shape), ToString(wanted), ToString(expected));
  const int64_t begin = std::max(has.begin, wants.begin), end = std::min(has.end, wants.end);
  if (begin >= end) return;
  const size_t row = size_t(into.shape.Elements(axis + 1, into.shape.rank())) * SizeOf(into.type);
  const auto* from = static_cast<const std::byte*>(piece.data);
  auto* to = static_cast<std::byte*>(into.data);
  for (int64_t i = 0, n = into.shape.Elements(0, axis); i < n; ++i)
    std::memcpy(to + size_t(i * wants.size() + begin - wants.begin) * row,
                from + size_t(i * has.size() + begin - has.begin) * row, size_t(end - begin) * row);
}

}  // namespace mete
