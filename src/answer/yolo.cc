// The families of YOLO. Boxes are centre, width and height in pixels of the input.
#include <algorithm>
#include <cmath>

#include "answer/candidates.h"
#include "answer/heads.h"
#include "answer/numbers.h"
#include "base/error.h"

namespace mete {
namespace {

constexpr int64_t kAny = HeadOutputs::kAny;

// The number of values of a box before its classes: centre, size, and whether there is an object.
constexpr int64_t kBoxValues = 5;

}  // namespace

// Rows of 1xNx(5+C): the box, whether there is an object, and the classes.
Boxes YoloV5Boxes(const HeadOutputs& outputs, const HeadInput& input) {
  const HeadValues rows = outputs.Find("rows of boxes", {1, kAny, kAny});
  const int64_t width = rows.dim(2);
  if (width <= kBoxValues) outputs.Fail("the rows are too short", "6 values or more");
  BoxCandidates candidates(input.settings.head, input.place);
  for (int64_t i = 0; i < rows.dim(1); ++i) {
    const float* v = rows.row(i, width);
    const BestClass best = BestOf(v + kBoxValues, width - kBoxValues);
    candidates.AddCentered(v[0], v[1], v[2], v[3], v[4] * best.score, best.label);
  }
  return candidates.Boxes(BoxCandidates::Overlapping::kLeaveOut);
}

// Columns of 1x(4+C)xN: the box and the classes.
Boxes YoloV8Boxes(const HeadOutputs& outputs, const HeadInput& input) {
  const HeadValues columns = outputs.Find("columns of boxes", {1, kAny, kAny});
  const int64_t classes = columns.dim(1) - 4, count = columns.dim(2);
  if (classes < 1) outputs.Fail("the columns are too short", "5 values or more");
  BoxCandidates candidates(input.settings.head, input.place);
  for (int64_t i = 0; i < count; ++i) {
    const float* v = columns.values.data() + i;
    const BestClass best = BestOf(v + 4 * count, classes, count);
    candidates.AddCentered(v[0], v[count], v[2 * count], v[3 * count], best.score, best.label);
  }
  return candidates.Boxes(BoxCandidates::Overlapping::kLeaveOut);
}

// Rows of 1xNx(5+C) as those of YOLOv5, but centres are offsets from cells and sizes are logarithms, in cells
// of three grids.
Boxes YoloXBoxes(const HeadOutputs& outputs, const HeadInput& input) {
  const HeadValues rows = outputs.Find("rows of boxes", {1, kAny, kAny});
  const int64_t width = rows.dim(2);
  if (width <= kBoxValues) outputs.Fail("the rows are too short", "6 values or more");
  constexpr int kSteps[] = {8, 16, 32};  // pixels; the author's
  int64_t cells = 0;
  for (const int step : kSteps)
    cells += int64_t(input.place.input_width / step) * (input.place.input_height / step);
  if (rows.dim(1) != cells)
    outputs.Fail("the boxes are not those of the input's size",
                 fmt::format("{} for {}x{}", cells, input.place.input_width, input.place.input_height));
  BoxCandidates candidates(input.settings.head, input.place);
  const float* v = rows.values.data();
  for (const int step : kSteps)
    for (int y = 0; y < input.place.input_height / step; ++y)
      for (int x = 0; x < input.place.input_width / step; ++x, v += width) {
        const BestClass best = BestOf(v + kBoxValues, width - kBoxValues);
        const float unit = float(step);
        candidates.AddCentered((v[0] + float(x)) * unit, (v[1] + float(y)) * unit, std::exp(v[2]) * unit,
                               std::exp(v[3]) * unit, v[4] * best.score, best.label);
      }
  return candidates.Boxes(BoxCandidates::Overlapping::kLeaveOut);
}

// Raw grids 1x(A*(5+C))xHxW of YOLOv5, which has A anchors for each cell of each grid.
Boxes YoloGridBoxes(const HeadOutputs& outputs, const HeadInput& input) {
  std::vector<HeadValues> grids = outputs.OfRank("grids of boxes", 4);
  std::sort(grids.begin(), grids.end(), [](const auto& a, const auto& b) { return a.dim(2) > b.dim(2); });
  const std::vector<float>& anchors = input.settings.head.anchors;
  const int64_t of_grid = int64_t(anchors.size()) / 2 / int64_t(grids.size());
  if (of_grid == 0 || anchors.size() % (2 * grids.size()) != 0)
    Invalid("anchors",
            "no anchors for {} grids; got {} numbers, expected a width and a height for each anchor of each "
            "grid; "
            "try --anchors 10,13,16,30,... as the network's configuration has them",
            grids.size(), anchors.size());
  BoxCandidates candidates(input.settings.head, input.place);
  const float* anchor = anchors.data();
  for (const HeadValues& grid : grids) {
    const int64_t channels = grid.dim(1) / of_grid, height = grid.dim(2), width = grid.dim(3),
                  cells = height * width;
    if (channels <= kBoxValues || channels * of_grid != grid.dim(1))
      outputs.Fail(fmt::format("'{}' is no grid of {} anchors", grid.name, of_grid),
                   "6 channels or more for each");
    const float step_x = float(input.place.input_width) / float(width),
                step_y = float(input.place.input_height) / float(height);
    for (int64_t a = 0; a < of_grid; ++a, anchor += 2)
      for (int64_t cell = 0; cell < cells; ++cell) {
        const float* v = grid.values.data() + a * channels * cells + cell;
        const auto sigmoid = [&](int64_t channel) { return SigmoidOf(v[channel * cells]); };
        const BestClass best = BestOf(v + kBoxValues * cells, channels - kBoxValues, cells);
        const float right = 2 * sigmoid(2), down = 2 * sigmoid(3);
        candidates.AddCentered((2 * sigmoid(0) - 0.5f + float(cell % width)) * step_x,
                               (2 * sigmoid(1) - 0.5f + float(cell / width)) * step_y,
                               right * right * anchor[0], down * down * anchor[1],
                               sigmoid(4) * SigmoidOf(best.score), best.label);
      }
  }
  return candidates.Boxes(BoxCandidates::Overlapping::kLeaveOut);
}

}  // namespace mete
