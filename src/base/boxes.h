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

// Writes the places of scores above `least` to `candidates`, which has room for all places, and returns their
// number.
int64_t PlacesAbove(float least, const float* scores, int64_t count, int64_t* candidates);

// Sorts candidates, which are places in `scores`: the best score first. For equal scores the earlier place
// comes first. NaN counts as the lowest score. Error UNIMPLEMENTED for places from 2^32 on.
void SortByScore(const float* scores, int64_t* candidates, int64_t count);

// Boxes that are kept, in memory of the caller's: coordinate by coordinate, so that a box is compared with
// several of them at a time.
class KeptBoxes {
 public:
  // Returns the number of floats that `most` boxes take.
  static int64_t Floats(int64_t most) { return (most + kTogether - 1) / kTogether * kBlock; }

  explicit KeptBoxes(float* memory) : memory_(memory) {}

  void Keep(const CornerBox& box);
  // Returns whether Overlap(box, kept, threshold) is true of a kept box.
  bool AnyOverlaps(const CornerBox& box, float threshold) const;

 private:
  // This value is a guess: two vectors of SSE or NEON, for which this file is compiled.
  static constexpr int64_t kTogether = 8, kBlock = 5 * kTogether;

  float* const memory_;  // blocks of x0, y0, x1, y1 and areas
  int64_t count_ = 0;
};

// Non-maximum suppression: keeps each candidate, a place in `boxes`, that overlaps no candidate kept before.
// Writes at most `most` places to `kept`, and returns their number. `memory` has KeptBoxes::Floats(most).
int64_t KeepApart(const CornerBox* boxes, const int64_t* candidates, int64_t count, int64_t most,
                  float threshold, float* memory, int64_t* kept);

}  // namespace mete
