// Which part of a value a device holds: all of it, or some rows of one axis. "Rows" are the indices of any
// axis: of an image's height, of channels, of tokens, of heads.
#pragma once

#include <string>

#include "base/window.h"
#include "mete/tensor.h"

namespace mete {

struct Part {
  static constexpr int kAllAxes = -1;
  int axis = kAllAxes;
  IndexRange rows;  // not empty; {0, 0} where `axis` is kAllAxes

  static Part All() { return {}; }
  static Part Of(int axis, IndexRange rows) { return {axis, rows}; }
  bool all() const { return axis == kAllAxes; }
  bool operator==(const Part& other) const {
    return axis == other.axis && rows.begin == other.rows.begin && rows.end == other.rows.end;
  }
};

// "all", "axis 2, rows 3 to 7" (the last one is not in it).
std::string ToString(const Part& part);

// The same part, as All() where it has every row of a value with this shape.
Part Normalized(const Part& part, const Shape& shape);
// The smallest part that has both: All() where they lie along different axes.
Part Hull(const Part& a, const Part& b);
// True where `a` has all of `b`. Both of one value and normalized.
bool Contains(const Part& a, const Part& b);
// The shape of a part of a value with this shape.
Shape ShapeOf(const Part& part, const Shape& whole);

// True where the bytes of the part of a value with this shape follow each other without a gap: all rows, or
// rows of an axis before which every dimension is 1.
bool IsContiguous(const Part& part, const Shape& whole);

// Returns a part of `whole`, of any element type. A contiguous part shares the bytes of `whole`; any other
// part is a copy.
Tensor Cut(const Tensor& whole, const Part& part);
// Copies what `piece`, which is the part `part` of a value, has of the part `wanted` of the same value into
// `into`, which is that part. All three of one element type, the parts along one axis or all. Error where
// shapes do not fit the parts.
void Place(const ConstView& piece, const Part& part, const View& into, const Part& wanted);

}  // namespace mete
