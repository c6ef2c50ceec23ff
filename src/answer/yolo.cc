// The families of YOLO. Boxes are centre, width and height in pixels of the input.
#include <cmath>

#include "answer/candidates.h"
#include "answer/cells.h"
#include "answer/heads.h"
#include "base/error.h"

namespace mete {
namespace {

constexpr int64_t kAny = HeadOutputs::kAny;

// The number of values of a box before its classes: centre, size, and whether there is an object.
constexpr int64_t kBoxValues = 5;

// The number of values of a box behind a network's own suppression: corners, score and class.
constexpr int64_t kEndValues = 6;

HeadValues RowsOf(const HeadOutputs& outputs, const HeadInput& input) {
  HeadValues rows = outputs.Find("rows of boxes", {1, kAny, kAny});
  if (rows.dim(2) <= kBoxValues) outputs.Fail("the rows are too short", "6 values or more");
  outputs.CheckClasses(rows.dim(2) - kBoxValues, input.settings.head);
  return rows;
}

}  // namespace

// Rows of 1xNx(5+C): the box, whether there is an object, and the classes.
void YoloV5Boxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  const HeadValues rows = RowsOf(outputs, input);
  const int64_t width = rows.dim(2);
  for (int64_t i = 0; i < rows.dim(1); ++i) {
    const float* v = rows.row(i, width);
    const BestClass best = BestOf(v + kBoxValues, width - kBoxValues);
    found.Add(Centered(v[0], v[1], v[2], v[3]), v[4] * best.score, best.label);
  }
}

// Columns of 1x(4+C)xN: the box and the classes.
void YoloV8Boxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  const HeadValues columns = outputs.Find("columns of boxes", {1, kAny, kAny});
  const int64_t classes = columns.dim(1) - 4, count = columns.dim(2);
  if (classes < 1) outputs.Fail("the columns are too short", "5 values or more");
  if (count == kEndValues && columns.dim(1) > kEndValues)
    outputs.Fail("the rows are those of the head yolo-end-to-end", "1x(4+C)xN");
  outputs.CheckClasses(classes, input.settings.head);
  for (int64_t i = 0; i < count; ++i) {
    const float* v = columns.values.data() + i;
    const BestClass best = BestOf(v + 4 * count, classes, count);
    found.Add(Centered(v[0], v[count], v[2 * count], v[3 * count]), best.score, best.label);
  }
}

// Rows of 1xNx6: corners, score and class. The network has left out those that overlap.
void YoloEndBoxes(const HeadOutputs& outputs, const HeadInput&, BoxCandidates& found) {
  const HeadValues rows = outputs.Find("rows of boxes", {1, kAny, kEndValues});
  for (int64_t i = 0; i < rows.dim(1); ++i) {
    const float* v = rows.row(i, kEndValues);
    found.Add({v[0], v[1], v[2], v[3]}, v[4], LabelOf(v[5]));
  }
}

// Rows of 1xNx(5+C) as those of YOLOv5, but centres are offsets from cells and sizes are logarithms, in cells
// of three grids.
void YoloXBoxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  const HeadValues rows = RowsOf(outputs, input);
  constexpr int kSteps[] = {8, 16, 32};  // pixels; the author's
  const std::vector<GridCell> cells = CellsOf(kSteps, input.place);
  outputs.CheckCount(rows.dim(1), cells.size(), input.place);
  const int64_t width = rows.dim(2);
  const float* v = rows.values.data();
  for (const GridCell& cell : cells) {
    const BestClass best = BestOf(v + kBoxValues, width - kBoxValues);
    const float step = cell.step;
    found.Add(Centered((v[0] + cell.x) * step, (v[1] + cell.y) * step, std::exp(v[2]) * step,
                       std::exp(v[3]) * step),
              v[4] * best.score, best.label);
    v += width;
  }
}

}  // namespace mete
