// The families of YOLO without their decoding: raw grids 1x(A*(5+C))xHxW, with A anchors for each cell.
#include <algorithm>
#include <cmath>
#include <span>

#include "answer/candidates.h"
#include "answer/heads.h"
#include "answer/numbers.h"
#include "base/error.h"

namespace mete {
namespace {

// The number of channels of a box before its classes: centre, size, and whether there is an object.
constexpr int64_t kBoxValues = 5;

// A box relative to its cell's upper left corner, in cells, and to its anchor.
struct CellBox {
  float x = 0, y = 0, width = 0, height = 0;
};

// `stretch`: how far a centre may lie outside of its cell; 1: not at all.
using CellRule = CellBox (*)(float x, float y, float width, float height, float stretch);

float StretchedSigmoid(float v, float stretch) { return stretch * SigmoidOf(v) - (stretch - 1) / 2; }

CellBox SquaredSizes(float x, float y, float width, float height, float stretch) {
  const float right = 2 * SigmoidOf(width), down = 2 * SigmoidOf(height);
  return {StretchedSigmoid(x, stretch), StretchedSigmoid(y, stretch), right * right, down * down};
}

CellBox ExponentialSizes(float x, float y, float width, float height, float stretch) {
  return {StretchedSigmoid(x, stretch), StretchedSigmoid(y, stretch), std::exp(width), std::exp(height)};
}

// A family: its rule, and the stretch of each grid, the finest first; the last one also of those behind it.
struct GridFamily {
  CellRule rule;
  std::span<const float> stretches;
};

class GridDecoder {
 public:
  GridDecoder(const HeadOutputs& outputs, const HeadInput& input)
      : outputs_(outputs), input_(input), grids_(outputs.OfRank("grids of boxes", 4)) {
    std::sort(grids_.begin(), grids_.end(), [](const auto& a, const auto& b) { return a.dim(2) > b.dim(2); });
  }

  size_t grids() const { return grids_.size(); }

  void Decode(const GridFamily& family, BoxCandidates& found) const {
    const std::vector<float>& anchors = input_.settings.head.anchors;
    const size_t of_grid = anchors.size() / 2 / grids_.size();
    if (of_grid == 0 || anchors.size() % (2 * grids_.size()) != 0)
      Invalid(
          "anchors",
          "no anchors for {} grids; got {} numbers, expected a width and a height for each anchor of each "
          "grid; try --anchors 10,13,16,30,... as the network's configuration has them",
          grids_.size(), anchors.size());
    for (size_t g = 0; g < grids_.size(); ++g) {
      const float stretch = family.stretches[std::min(g, family.stretches.size() - 1)];
      AddGrid(grids_[g], std::span(anchors).subspan(g * of_grid * 2, of_grid * 2), family.rule, stretch,
              found);
    }
  }

 private:
  void AddGrid(const HeadValues& grid, std::span<const float> anchors, CellRule rule, float stretch,
               BoxCandidates& found) const {
    const int64_t count = int64_t(anchors.size()) / 2, channels = grid.dim(1) / count, width = grid.dim(3),
                  cells = grid.dim(2) * width;
    if (grid.dim(0) != 1 || channels <= kBoxValues || channels * count != grid.dim(1))
      outputs_.Fail(fmt::format("'{}' is no grid of {} anchors", grid.name, count),
                    "1x(A*(5+C))xHxW with a class or more");
    outputs_.CheckClasses(channels - kBoxValues, input_.settings.head);
    const float step_x = float(input_.place.input_width) / float(width),
                step_y = float(input_.place.input_height) / float(grid.dim(2));
    for (int64_t a = 0; a < count; ++a)
      for (int64_t cell = 0; cell < cells; ++cell) {
        const float* v = grid.values.data() + a * channels * cells + cell;
        const CellBox box = rule(v[0], v[cells], v[2 * cells], v[3 * cells], stretch);
        const BestClass best = BestOf(v + kBoxValues * cells, channels - kBoxValues, cells);
        found.Add(Centered((box.x + float(cell % width)) * step_x, (box.y + float(cell / width)) * step_y,
                           box.width * anchors[size_t(2 * a)], box.height * anchors[size_t(2 * a + 1)]),
                  SigmoidOf(v[4 * cells]) * SigmoidOf(best.score), best.label);
      }
  }

  const HeadOutputs& outputs_;
  const HeadInput& input_;
  std::vector<HeadValues> grids_;
};

}  // namespace

void YoloGridBoxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  constexpr float kStretches[] = {2};
  GridDecoder(outputs, input).Decode({SquaredSizes, kStretches}, found);
}

void YoloV3Boxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  constexpr float kStretches[] = {1};
  GridDecoder(outputs, input).Decode({ExponentialSizes, kStretches}, found);
}

// The stretches are those of the authors' configurations (scale_x_y); the tiny form has two grids.
void YoloV4Boxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  constexpr float kStretches[] = {1.2f, 1.1f, 1.05f};
  const GridDecoder decoder(outputs, input);
  decoder.Decode({ExponentialSizes, std::span(kStretches).subspan(decoder.grids() > 2 ? 0 : 2)}, found);
}

}  // namespace mete
