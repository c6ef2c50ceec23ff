#include "base/boxes.h"

#include <cmath>
#include <limits>

namespace mete {

void SortByScore(const float* scores, int64_t* candidates, int64_t count) {
  const auto score = [&](int64_t i) {
    return std::isnan(scores[i]) ? -std::numeric_limits<float>::infinity() : scores[i];
  };
  std::sort(candidates, candidates + count,
            [&](int64_t a, int64_t b) { return score(a) != score(b) ? score(a) > score(b) : a < b; });
}

int64_t KeepApart(const CornerBox* boxes, const int64_t* candidates, int64_t count, int64_t most,
                  float threshold, int64_t* kept) {
  int64_t n = 0;
  for (int64_t i = 0; i < count && n < most; ++i) {
    bool good = true;
    for (int64_t k = 0; k < n && good; ++k) good = !Overlap(boxes[candidates[i]], boxes[kept[k]], threshold);
    if (good) kept[n++] = candidates[i];
  }
  return n;
}

}  // namespace mete
