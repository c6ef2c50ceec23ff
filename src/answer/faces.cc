// Detectors of faces whose boxes are offsets from prior boxes of fixed sizes in the cells of several grids.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "answer/candidates.h"
#include "answer/heads.h"
#include "base/error.h"

namespace mete {
namespace {

// Shares of the input's width and height.
struct PriorBox {
  float x, y, width, height;
};

// The cells of a grid are `step` pixels apart; each has a square prior box of each size, in pixels.
struct PriorGrid {
  int step;
  std::vector<float> sizes;
};

std::vector<PriorBox> PriorsOf(std::span<const PriorGrid> grids, int width, int height) {
  std::vector<PriorBox> priors;
  for (const PriorGrid& grid : grids) {
    const int columns = (width + grid.step - 1) / grid.step, rows = (height + grid.step - 1) / grid.step;
    const auto center = [&](int cell, int side) {
      return std::min(1.0f, (float(cell) + 0.5f) * float(grid.step) / float(side));
    };
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column)
        for (const float size : grid.sizes)
          priors.push_back({center(column, width), center(row, height), std::min(1.0f, size / float(width)),
                            std::min(1.0f, size / float(height))});
  }
  return priors;
}

// Both families are trained with offsets that are divided by these variances.
constexpr float kCenterVariance = 0.1f, kSizeVariance = 0.2f;

// A face's eyes, nose and corners of the mouth, where the network gives them.
constexpr int64_t kFacePoints = 5;

std::vector<PicturePoint> PointsOf(const float* offsets, const PriorBox& prior) {
  std::vector<PicturePoint> points;
  for (int k = 0; k < kFacePoints; ++k)
    points.push_back({prior.x + offsets[2 * k] * kCenterVariance * prior.width,
                      prior.y + offsets[2 * k + 1] * kCenterVariance * prior.height, 0, k});
  return points;
}

Boxes PriorBoxes(const HeadOutputs& outputs, const HeadInput& input, std::span<const PriorGrid> grids) {
  const HeadValues scores = outputs.Find("scores", {1, HeadOutputs::kAny, 2}, {"score", "conf"});
  const HeadValues offsets = outputs.Find("boxes", {1, HeadOutputs::kAny, 4}, {"box", "loc"});
  const std::vector<PriorBox> priors = PriorsOf(grids, input.place.input_width, input.place.input_height);
  const int64_t count = int64_t(priors.size());
  if (scores.dim(1) != count || offsets.dim(1) != count)
    outputs.Fail("the boxes are not those of the input's size",
                 fmt::format("{} for {}x{}", count, input.place.input_width, input.place.input_height));
  const std::optional<HeadValues> points = outputs.FindIfAny({1, count, 2 * kFacePoints}, {"land", "point"});
  BoxCandidates candidates(input.settings.head, input.place);
  for (int64_t i = 0; i < count; ++i) {
    const PriorBox& prior = priors[size_t(i)];
    const float* v = offsets.row(i, 4);
    const float x = prior.x + v[0] * kCenterVariance * prior.width,
                y = prior.y + v[1] * kCenterVariance * prior.height,
                right = prior.width * std::exp(v[2] * kSizeVariance) / 2,
                down = prior.height * std::exp(v[3] * kSizeVariance) / 2;
    candidates.AddRelative(
        {x - right, y - down, x + right, y + down}, scores.row(i, 2)[1], 1,
        points ? PointsOf(points->row(i, 2 * kFacePoints), prior) : std::vector<PicturePoint>());
  }
  return candidates.Boxes(BoxCandidates::Overlapping::kLeaveOut);
}

}  // namespace

// Sizes and steps are those that the networks' authors train with.
Boxes UltraFaceBoxes(const HeadOutputs& outputs, const HeadInput& input) {
  static const std::vector<PriorGrid> grids{
      {8, {10, 16, 24}}, {16, {32, 48}}, {32, {64, 96}}, {64, {128, 192, 256}}};
  return PriorBoxes(outputs, input, grids);
}

Boxes RetinaFaceBoxes(const HeadOutputs& outputs, const HeadInput& input) {
  static const std::vector<PriorGrid> grids{{8, {16, 32}}, {16, {64, 128}}, {32, {256, 512}}};
  return PriorBoxes(outputs, input, grids);
}

}  // namespace mete
