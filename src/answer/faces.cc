// Detectors of faces whose boxes are offsets from prior boxes of fixed sizes in the cells of several grids.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "answer/candidates.h"
#include "answer/cells.h"
#include "answer/heads.h"

namespace mete {
namespace {

// Shares of the input's width and height.
struct PriorBox {
  float x, y, width, height;
};

// The cells of a grid are `step` pixels apart; each has a square prior box of each size, in pixels. 0: none.
struct PriorGrid {
  int step;
  float sizes[3];
};

std::vector<PriorBox> PriorsOf(std::span<const PriorGrid> grids, const InputPlace& place) {
  std::vector<PriorBox> priors;
  const float width = float(place.input_width), height = float(place.input_height);
  for (const PriorGrid& grid : grids)
    for (const GridCell& cell : CellsOf({&grid.step, 1}, place))
      for (const float size : grid.sizes)
        if (size > 0)
          priors.push_back({std::min(1.0f, (cell.x + 0.5f) * cell.step / width),
                            std::min(1.0f, (cell.y + 0.5f) * cell.step / height),
                            std::min(1.0f, size / width), std::min(1.0f, size / height)});
  return priors;
}

// Both families are trained with offsets that are divided by these variances.
constexpr float kCenterVariance = 0.1f, kSizeVariance = 0.2f;

// A face's eyes, nose and corners of the mouth, where the network gives them. They count as much as the face.
constexpr int kFacePoints = 5;
using FacePoints = std::array<PicturePoint, kFacePoints>;

FacePoints PointsOf(const float* offsets, const PriorBox& prior, float score) {
  FacePoints points;
  for (int k = 0; k < kFacePoints; ++k)
    points[size_t(k)] = {prior.x + offsets[2 * k] * kCenterVariance * prior.width,
                         prior.y + offsets[2 * k + 1] * kCenterVariance * prior.height, score, k};
  return points;
}

void PriorBoxes(const HeadOutputs& outputs, const HeadInput& input, std::span<const PriorGrid> grids,
                BoxCandidates& found) {
  const HeadValues scores = outputs.Find("scores", {1, HeadOutputs::kAny, 2}, "score conf");
  const HeadValues offsets = outputs.Find("boxes", {1, HeadOutputs::kAny, 4}, "box loc");
  const std::vector<PriorBox> priors = PriorsOf(grids, input.place);
  outputs.CheckCount(scores.dim(1), priors.size(), input.place);
  outputs.CheckCount(offsets.dim(1), priors.size(), input.place);
  const int64_t count = int64_t(priors.size());
  const HeadOutput* any_points = outputs.FindIfAny({1, count, 2 * kFacePoints}, "land point");
  const HeadValues points = any_points ? outputs.ValuesOf(*any_points) : HeadValues();
  outputs.RefuseIntegers(points);
  for (int64_t i = 0; i < count; ++i) {
    const PriorBox& prior = priors[size_t(i)];
    const float* v = offsets.row(i, 4);
    const float score = scores.row(i, 2)[1];
    const CornerBox box = Centered(
        prior.x + v[0] * kCenterVariance * prior.width, prior.y + v[1] * kCenterVariance * prior.height,
        prior.width * std::exp(v[2] * kSizeVariance), prior.height * std::exp(v[3] * kSizeVariance));
    if (any_points) found.AddRelative(box, score, 1, PointsOf(points.row(i, 2 * kFacePoints), prior, score));
    else found.AddRelative(box, score, 1);
  }
}

}  // namespace

// Sizes and steps are those that the networks' authors train with.
void UltraFaceBoxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  constexpr PriorGrid kGrids[] = {{8, {10, 16, 24}}, {16, {32, 48}}, {32, {64, 96}}, {64, {128, 192, 256}}};
  PriorBoxes(outputs, input, kGrids, found);
}

void RetinaFaceBoxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  constexpr PriorGrid kGrids[] = {{8, {16, 32}}, {16, {64, 128}}, {32, {256, 512}}};
  PriorBoxes(outputs, input, kGrids, found);
}

}  // namespace mete
