// The families of YOLO. Boxes are centre, width and height in pixels of the input.
#include <cmath>

#include "answer/candidates.h"
#include "answer/heads.h"
#include "base/error.h"

namespace mete {
namespace {

constexpr int64_t kAny = HeadOutputs::kAny;

// The number of values of a box before its classes: centre, size, and whether there is an object.
constexpr int64_t kBoxValues = 5;

// The number of values of a box behind a network's own suppression: corners, score and class.
constexpr int64_t kEndValues = 6;

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
  if (count == kEndValues && columns.dim(1) > kEndValues)
    outputs.Fail("the rows are those of the head yolo-end-to-end", "1x(4+C)xN");
  BoxCandidates candidates(input.settings.head, input.place);
  for (int64_t i = 0; i < count; ++i) {
    const float* v = columns.values.data() + i;
    const BestClass best = BestOf(v + 4 * count, classes, count);
    candidates.AddCentered(v[0], v[count], v[2 * count], v[3 * count], best.score, best.label);
  }
  return candidates.Boxes(BoxCandidates::Overlapping::kLeaveOut);
}

// Rows of 1xNx6: corners, score and class. The network has left out those that overlap.
Boxes YoloEndBoxes(const HeadOutputs& outputs, const HeadInput& input) {
  const HeadValues rows = outputs.Find("rows of boxes", {1, kAny, kEndValues});
  BoxCandidates candidates(input.settings.head, input.place);
  for (int64_t i = 0; i < rows.dim(1); ++i) {
    const float* v = rows.row(i, kEndValues);
    candidates.Add({v[0], v[1], v[2], v[3]}, v[4], LabelOf(v[5]));
  }
  return candidates.Boxes(BoxCandidates::Overlapping::kKeep);
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

}  // namespace mete
