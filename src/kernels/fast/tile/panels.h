// The division of the columns of a matrix into panels.
#pragma once

#include <cstdint>

#include "kernels/fast/epilogue.h"

namespace mete {

// Divides the columns, counted in vectors of `lanes` elements, into the smallest number of panels with at
// most `most` vectors each. The widths of the panels differ by at most one vector. Example: 9 vectors with
// most = 4 make panels of 3, 3 and 3 vectors. The last column may be within a vector; the packed weights of
// its other lanes are zero. Panel p of packed weights with sums of length K begins at element
// Columns(p).begin * K.
class Panels {
 public:
  Panels() = default;
  Panels(int64_t columns, int64_t lanes, int64_t most)
      : columns_(columns),
        lanes_(lanes),
        vectors_((columns + lanes - 1) / lanes),
        count_((vectors_ + most - 1) / most) {}

  int64_t count() const { return count_; }
  int64_t lanes() const { return lanes_; }
  int64_t padded_columns() const { return vectors_ * lanes_; }
  Range Columns(int64_t p) const {
    const int64_t end = vectors_ * (p + 1) / count_ * lanes_;
    return {vectors_ * p / count_ * lanes_, end < columns_ ? end : columns_};
  }
  // Returns the number of packed columns of panel p, which is a multiple of the lanes.
  int64_t Width(int64_t p) const { return (vectors_ * (p + 1) / count_ - vectors_ * p / count_) * lanes_; }

 private:
  int64_t columns_ = 0, lanes_ = 1, vectors_ = 0, count_ = 0;
};

// The place of a panel of a convolution, whose panels are numbered group by group. `split` divides the
// outputs of one group, and a packed column has `length` elements.
struct PanelPlace {
  PanelPlace(const Panels& split, int64_t length, int64_t panel)
      : group(panel / split.count()),
        columns(split.Columns(panel % split.count())),
        width(split.Width(panel % split.count())),
        packed((group * split.padded_columns() + columns.begin) * length) {}
  int64_t group;
  Range columns;   // range of the group's outputs
  int64_t width;   // packed columns
  int64_t packed;  // index of the first packed element
};

}  // namespace mete
