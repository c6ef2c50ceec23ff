// The part of a value that a device holds: the whole value, or some rows of one axis. "Rows" are the indices
// along any axis, such as an image's height, channels, tokens or heads.
#pragma once

#include <string>

#include "base/window.h"
#include "mete/tensor.h"

namespace mete {

struct Part {
  static constexpr int kAllAxes = -1;
  int axis = kAllAxes;
  IndexRange rows;  // not empty; {0, 0} if `axis` is kAllAxes

  static Part All() { return {}; }
  static Part Of(int axis, IndexRange rows) { return {axis, rows}; }
  bool all() const { return axis == kAllAxes; }
  bool operator==(const Part& other) const {
    return axis == other.axis && rows.begin == other.rows.begin && rows.end == other.rows.end;
  }
};

// Returns "all" or "axis 2, rows 3 to 7" (row 7 is not included).
std::string ToString(const Part& part);

// Returns All() if the part has every row of a value with this shape, and `part` otherwise.
Part Normalized(const Part& part, const Shape& shape);
// Returns the smallest part that contains both: All() if their axes differ.
Part Hull(const Part& a, const Part& b);
// Returns true if `a` contains `b`. Both must be normalized parts of one value.
bool Contains(const Part& a, const Part& b);
// Returns the shape of a part of a value with shape `whole`.
Shape ShapeOf(const Part& part, const Shape& whole);

// True where the bytes of the part of a value with this shape follow each other without a gap: all rows, or
// rows of an axis before which every dimension is 1.
bool IsContiguous(const Part& part, const Shape& whole);

// Returns a part of `whole`, of any element type. A contiguous part shares the bytes of `whole`; any other
// part is a copy.
Tensor Cut(const Tensor& whole, const Part& part);
// Copies the rows that two parts of one value have in common: `piece` holds the part `part`, and `into` holds
// the part `wanted`. Both must have one element type, and the parts must lie along one axis or be All().
// Throws an Error if shapes do not fit the parts.
void Place(const ConstView& piece, const Part& part, const View& into, const Part& wanted);

}  // namespace mete
