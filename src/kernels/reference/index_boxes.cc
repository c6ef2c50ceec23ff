// The kernel of NonMaxSuppression, which selects the boxes with the best scores among overlapping boxes.

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/boxes.h"
#include "kernels/reference/index_kernels.h"
#include "kernels/reference/indexing.h"

namespace mete {

namespace {

CornerBox BoxAt(const float* v, bool center) {
  if (center) return {v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2};
  return {std::min(v[1], v[3]), std::min(v[0], v[2]), std::max(v[1], v[3]), std::max(v[0], v[2])};
}

struct Limits {
  int64_t most = 0;
  float overlap = 0, score = -std::numeric_limits<float>::infinity();
  bool has_score = false;
};

Limits LimitsOf(const RefArgs& args) {
  Limits limits;
  if (args.has(2)) limits.most = std::max<int64_t>(0, IndexReader(args.in[2])[0]);
  if (args.has(3)) limits.overlap = *args.in[3].as<float>();
  limits.has_score = args.has(4);
  if (limits.has_score) limits.score = *args.in[4].as<float>();
  return limits;
}

// Writes the candidates of one class, best score first, and returns their number.
int64_t SortCandidates(const float* scores, int64_t boxes, const Limits& limits, int64_t* candidates) {
  int64_t count = boxes;
  if (limits.has_score) count = PlacesAbove(limits.score, scores, boxes, candidates);
  else std::iota(candidates, candidates + boxes, int64_t{0});
  SortByScore(scores, candidates, count);
  return count;
}

}  // namespace

void RunNonMaxSuppression(RefArgs& args) {
  const ConstView &boxes = args.in[0], &scores = args.in[1];
  const bool center = args.attributes.Int("center_point_box", 0) != 0;
  const Limits limits = LimitsOf(args);
  const int64_t batches = scores.shape[0], classes = scores.shape[1], count = scores.shape[2],
                per_class = std::min(limits.most, count);
  const int64_t groups = per_class == 0 ? 0 : batches * classes;  // a group is one class of one image
  int64_t* kept = args.scratch.Get<int64_t>(size_t(groups * per_class));
  int64_t* kept_counts = args.scratch.Get<int64_t>(size_t(groups));
  int64_t* candidates = args.scratch.Get<int64_t>(size_t(count));
  float* apart = args.scratch.Get<float>(size_t(KeptBoxes::Floats(per_class)));
  CornerBox* corners = args.scratch.Get<CornerBox>(size_t(groups == 0 ? 0 : count));
  int64_t total = 0;
  for (int64_t g = 0; g < groups; ++g) {
    if (g % classes == 0)  // the boxes of an image are those of all of its classes
      for (int64_t i = 0; i < count; ++i)
        corners[i] = BoxAt(boxes.as<float>() + (g / classes * count + i) * 4, center);
    const int64_t found = SortCandidates(scores.as<float>() + g * count, count, limits, candidates);
    kept_counts[g] =
        KeepApart(corners, candidates, found, per_class, limits.overlap, apart, kept + g * per_class);
    total += kept_counts[g];
  }
  args.allocate(0, DType::kI64, {total, 3});
  if (!args.wants(0)) return;
  int64_t* to = args.out[0].as<int64_t>();
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t k = 0; k < kept_counts[g]; ++k, to += 3) {
      to[0] = g / classes;
      to[1] = g % classes;
      to[2] = kept[g * per_class + k];
    }
}

}  // namespace mete
