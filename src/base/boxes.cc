#include "base/boxes.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace mete {
namespace {

constexpr int64_t kMostPacked = int64_t{1} << 32;  // candidates that fit into the lower half of a key

// Returns a number that is smaller for a better score, and equal for equal scores.
uint32_t Rank(float score) {
  if (std::isnan(score)) score = -std::numeric_limits<float>::infinity();
  const uint32_t bits = std::bit_cast<uint32_t>(score + 0.0f);  // -0 becomes 0
  return bits >> 31 ? bits : ~bits & 0x7fffffff;
}

}  // namespace

// Most scores are too low: whole vectors of them are passed over. In the others no branch asks which score is
// high enough, since that is random.
int64_t PlacesAbove(float least, const float* scores, int64_t count, int64_t* candidates) {
  constexpr int64_t kTogether = 16;  // a cache line of scores
  int64_t found = 0, i = 0;
  for (; i + kTogether <= count; i += kTogether) {
    int any = 0;
    for (int64_t j = 0; j < kTogether; ++j) any |= int(scores[i + j] > least);
    if (!any) continue;
    for (int64_t j = i; j < i + kTogether; ++j) {
      candidates[found] = j;
      found += scores[j] > least;
    }
  }
  for (; i < count; ++i)
    if (scores[i] > least) candidates[found++] = i;
  return found;
}

// Integers that have the rank before the place are compared without a branch, where scores need several.
void SortByScore(const float* scores, int64_t* candidates, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (candidates[i] >= kMostPacked)
      Fail(Code::kUnimplemented, "boxes", "too many; got box {}, expected numbers below {}", candidates[i],
           kMostPacked);
  for (int64_t i = 0; i < count; ++i)
    candidates[i] = int64_t(uint64_t{Rank(scores[candidates[i]])} << 32 | uint64_t(candidates[i]));
  std::sort(candidates, candidates + count, [](int64_t a, int64_t b) { return uint64_t(a) < uint64_t(b); });
  for (int64_t i = 0; i < count; ++i) candidates[i] &= kMostPacked - 1;
}

void KeptBoxes::Keep(const CornerBox& box) {
  float* block = memory_ + count_ / kTogether * kBlock;
  const int64_t lane = count_++ % kTogether;
  if (lane == 0) std::fill_n(block, kBlock, 0.0f);  // boxes without an area overlap nothing
  const float values[] = {box.x0, box.y0, box.x1, box.y1, box.area()};
  for (float value : values) {
    block[lane] = value;
    block += kTogether;
  }
}

// The arithmetic is that of Overlap(), without its branches.
bool KeptBoxes::AnyOverlaps(const CornerBox& box, float threshold) const {
  const float area = box.area();
  if (!(area > 0)) return false;
  for (int64_t first = 0; first < count_; first += kTogether) {
    const float *x0 = memory_ + first / kTogether * kBlock, *y0 = x0 + kTogether, *x1 = y0 + kTogether,
                *y1 = x1 + kTogether, *areas = y1 + kTogether;
    int found = 0;
    for (int64_t i = 0; i < kTogether; ++i) {
      const float height = std::min(box.y1, y1[i]) - std::max(box.y0, y0[i]),
                  width = std::min(box.x1, x1[i]) - std::max(box.x0, x0[i]);
      const float shared = height * width, either = area + areas[i] - shared;
      found |= int(height > 0) & int(width > 0) & int(areas[i] > 0) & int(either > 0) &
               int(shared / either > threshold);
    }
    if (found) return true;
  }
  return false;
}

int64_t KeepApart(const CornerBox* boxes, const int64_t* candidates, int64_t count, int64_t most,
                  float threshold, float* memory, int64_t* kept) {
  KeptBoxes apart(memory);
  int64_t n = 0;
  for (int64_t i = 0; i < count && n < most; ++i) {
    const CornerBox& box = boxes[candidates[i]];
    if (apart.AnyOverlaps(box, threshold)) continue;
    apart.Keep(box);
    kept[n++] = candidates[i];
  }
  return n;
}

}  // namespace mete
