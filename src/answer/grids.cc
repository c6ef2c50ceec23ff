// Detectors with one box in each cell of a grid, or of several grids.
#include <algorithm>
#include <cmath>
#include <span>

#include "answer/candidates.h"
#include "answer/cells.h"
#include "answer/heads.h"
#include "answer/numbers.h"

namespace mete {
namespace {

constexpr int64_t kAny = HeadOutputs::kAny;

// The value of channel `channel` at a cell, of an output 1xCxHxW.
float At(const HeadValues& values, int64_t channel, int64_t cell) {
  return values.values[size_t(channel * values.dim(2) * values.dim(3) + cell)];
}

bool IsPeak(const HeadValues& heat, int64_t channel, int64_t row, int64_t column) {
  const int64_t width = heat.dim(3);
  const float here = At(heat, channel, row * width + column);
  for (int64_t y = std::max<int64_t>(0, row - 1); y < std::min(heat.dim(2), row + 2); ++y)
    for (int64_t x = std::max<int64_t>(0, column - 1); x < std::min(width, column + 2); ++x)
      if (At(heat, channel, y * width + x) > here) return false;
  return true;
}

// NanoDet's distance from a cell to a side of its box is the mean of 0 to 7 cells, weighted by the softmax of
// as many values: `reg_max` is 7 in its author's configurations.
constexpr int kSideValues = 8;

float MeanDistance(const float* v) {
  const float most = *std::max_element(v, v + kSideValues);
  float sum = 0, weighted = 0;
  for (int i = 0; i < kSideValues; ++i) {
    const float weight = std::exp(v[i] - most);
    sum += weight;
    weighted += weight * float(i);
  }
  return weighted / sum;
}

}  // namespace

// Channels of 1x(5+C)xHxW: whether there is an object, centre (tanh, in cells), width and height (sigmoid, of
// the input), and the classes. The powers of the score are those of the network's author.
void FastestDetBoxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  const HeadValues grid = outputs.Find("grid of boxes", {1, kAny, kAny, kAny});
  const int64_t classes = grid.dim(1) - 5, height = grid.dim(2), width = grid.dim(3), cells = height * width;
  if (classes < 1) outputs.Fail("the grid has too few channels", "6 or more");
  outputs.CheckShown(classes, input.settings.head);
  for (int64_t cell = 0; cell < cells; ++cell) {
    const BestClass best = BestOf(grid.values.data() + 5 * cells + cell, classes, cells);
    const float score = std::pow(At(grid, 0, cell), 0.6f) * std::pow(best.score, 0.4f);
    const float x = (float(cell % width) + std::tanh(At(grid, 1, cell))) / float(width),
                y = (float(cell / width) + std::tanh(At(grid, 2, cell))) / float(height);
    found.AddRelative(Centered(x, y, SigmoidOf(At(grid, 3, cell)), SigmoidOf(At(grid, 4, cell))), score,
                      best.label);
  }
}

// Peaks of heat maps 1xCxHxW with sizes and offsets 1x2xHxW in cells.
void CenterNetBoxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  const HeadValues heat = outputs.Find("heat maps", {1, kAny, kAny, kAny}, "hm heat");
  const int64_t height = heat.dim(2), width = heat.dim(3);
  const HeadValues sizes = outputs.Find("sizes", {1, 2, height, width}, "wh size scale");
  const HeadValues offsets = outputs.Find("offsets", {1, 2, height, width}, "reg off");
  if (sizes.name == offsets.name || heat.name == sizes.name || heat.name == offsets.name)
    outputs.Fail("no three outputs can be heat maps, sizes and offsets",
                 "names with 'hm' or 'heat', 'wh' or 'size', 'reg' or 'off'");
  if (heat.values.empty()) return;  // whose number of maps may be any
  outputs.CheckShown(heat.dim(1), input.settings.head);
  const bool logits = LackSigmoid(heat.values);
  for (int64_t c = 0; c < heat.dim(1); ++c)
    for (int64_t row = 0; row < height; ++row)
      for (int64_t column = 0; column < width; ++column) {
        if (!IsPeak(heat, c, row, column)) continue;
        const int64_t cell = row * width + column;
        const float score = logits ? SigmoidOf(At(heat, c, cell)) : At(heat, c, cell);
        const float x = float(column) + At(offsets, 0, cell), y = float(row) + At(offsets, 1, cell);
        found.AddRelative(Centered(x / float(width), y / float(height), At(sizes, 0, cell) / float(width),
                                   At(sizes, 1, cell) / float(height)),
                          score, int(c));
      }
}

// Rows of 1xNx(C+32): the classes' scores, and values of the distances to the left, top, right and bottom.
// NanoDet-Plus has a fourth grid, and measures from a cell's corner where its predecessor does from the
// centre.
void NanoDetBoxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  const HeadValues rows = outputs.Find("rows of cells", {1, kAny, kAny});
  const int64_t width = rows.dim(2), classes = width - 4 * kSideValues;
  if (classes < 1) outputs.Fail("the rows are too short", "33 values or more");
  outputs.CheckClasses(classes, input.settings.head);
  constexpr int kSteps[] = {8, 16, 32, 64};  // pixels; the author's
  std::vector<GridCell> cells = CellsOf(kSteps, input.place);
  const bool plus = rows.dim(1) == int64_t(cells.size());
  if (!plus) cells = CellsOf(std::span(kSteps).first(3), input.place);
  outputs.CheckCount(rows.dim(1), cells.size(), input.place);
  const float inside = plus ? 0.0f : 0.5f;
  const float* row = rows.values.data();
  for (const GridCell& cell : cells) {
    const float x = cell.x + inside, y = cell.y + inside;
    const BestClass best = BestOf(row, classes);
    const float* sides = row + classes;
    found.Add({(x - MeanDistance(sides)) * cell.step, (y - MeanDistance(sides + kSideValues)) * cell.step,
               (x + MeanDistance(sides + 2 * kSideValues)) * cell.step,
               (y + MeanDistance(sides + 3 * kSideValues)) * cell.step},
              best.score, best.label);
    row += width;
  }
}

}  // namespace mete
