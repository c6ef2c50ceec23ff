// MediaPipe's detectors of faces, palms and persons: boxes and points by their distances, in pixels, from the
// centres of the cells of several grids. BlazeFace (Bazarevsky et al. 2019) is the first of them.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "answer/candidates.h"
#include "answer/cells.h"
#include "answer/heads.h"
#include "answer/numbers.h"

namespace mete {
namespace {

// One grid: its cells are `step` pixels apart, and each has as many boxes, one after the other.
struct BoxGrid {
  int step, boxes;
};

// The grids of a published network, the finest first. The networks repeat a step for each layer that has two
// boxes in a cell; such layers' boxes alternate, so that they are one grid here.
using BoxGrids = std::array<BoxGrid, 3>;
constexpr BoxGrids kPublished[] = {
    {{{8, 2}, {16, 6}}},           // faces at short range (128x128), palms (192x192)
    {{{16, 2}, {32, 6}}},          // faces by the camera at the back (256x256)
    {{{4, 1}}},                    // faces at full range (192x192)
    {{{8, 2}, {16, 2}, {32, 6}}},  // persons (224x224)
};

// Returns the cell of each box, in the order of the outputs' rows.
std::vector<GridCell> CellsOfBoxes(const BoxGrids& grids, const InputPlace& place) {
  std::vector<GridCell> cells;
  for (const BoxGrid& grid : grids) {
    if (grid.boxes == 0) break;
    for (const GridCell& cell : CellsOf({&grid.step, 1}, place))
      cells.insert(cells.end(), size_t(grid.boxes), cell);
  }
  return cells;
}

// Returns the cells of the published network that has this number of boxes in an input of this size.
std::vector<GridCell> CellsOfRows(int64_t rows, const HeadOutputs& outputs, const InputPlace& place) {
  std::string counts;
  for (const BoxGrids& grids : kPublished) {
    std::vector<GridCell> cells = CellsOfBoxes(grids, place);
    if (int64_t(cells.size()) == rows) return cells;
    counts += (counts.empty() ? "" : ", ") + std::to_string(cells.size());
  }
  outputs.Fail("the boxes are not those of the input's size", "one of " + counts + " for " +
                                                                  std::to_string(place.input_width) + "x" +
                                                                  std::to_string(place.input_height));
}

}  // namespace

void MediaPipeBoxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  constexpr int64_t kAny = HeadOutputs::kAny, kBoxNumbers = 4;
  const HeadValues logits = outputs.Find("scores", {1, kAny, 1}, "class score");
  const HeadValues rows = outputs.Find("boxes", {1, logits.dim(1), kAny}, "regress box", logits.name);
  const int64_t width = rows.dim(2), count = (width - kBoxNumbers) / 2;
  if (width < kBoxNumbers || width % 2 != 0)
    outputs.Fail("the rows have no box", "4 numbers of a box and 2 of each point");
  const std::vector<GridCell> cells = CellsOfRows(rows.dim(1), outputs, input.place);
  std::vector<PicturePoint> points;
  points.resize(size_t(count));
  for (size_t i = 0; i < cells.size(); ++i) {
    const float* row = rows.row(int64_t(i), width);
    const float x = (cells[i].x + 0.5f) * cells[i].step, y = (cells[i].y + 0.5f) * cells[i].step;
    const float score = SigmoidOf(logits.values[i]);
    for (int64_t k = 0; k < count; ++k) {
      const float* from = row + kBoxNumbers + 2 * k;
      points[size_t(k)] = {x + from[0], y + from[1], score, int(k)};
    }
    found.Add(Centered(x + row[0], y + row[1], row[2], row[3]), score, 0, points);
  }
}

}  // namespace mete
