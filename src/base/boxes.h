// Boxes of detectors: how the operators NonMaxSuppression and mete.DetectionOutput, and the answers of `mete
// run --show`, sort and compare them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mete {

struct CornerBox {
  float x0, y0, x1, y1;
  float area() const { return (x1 - x0) * (y1 - y0); }
};

// Returns whether the boxes share more than `threshold` of the area that they cover together.
inline bool Overlap(const CornerBox& a, const CornerBox& b, float threshold) {
  const float height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0),
              width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  if (!(height > 0 && width > 0)) return false;
  const float shared = height * width, either = a.area() + b.area() - shared;
  return a.area() > 0 && b.area() > 0 && either > 0 && shared / either > threshold;
}

// Sorts candidates, which are places in `scores`: the best score first. For equal scores the earlier place
// comes first. NaN counts as the lowest score.
void SortByScore(const float* scores, int64_t* candidates, int64_t count);

// Non-maximum suppression: keeps each candidate, a place in `boxes`, that overlaps no candidate kept before.
// Writes at most `most` places to `kept`, and returns their number.
int64_t KeepApart(const CornerBox* boxes, const int64_t* candidates, int64_t count, int64_t most,
                  float threshold, int64_t* kept);

}  // namespace mete
