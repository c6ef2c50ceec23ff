// The cells of grids that lie over a network's input.
#pragma once

#include <span>
#include <vector>

#include "mete/image.h"

namespace mete {

// A cell by its column and row; `step` is the distance to the next one in pixels.
struct GridCell {
  float x, y, step;
};

// Returns the cells of a grid for each step, row by row. The last ones of a row may reach beyond the input.
std::vector<GridCell> CellsOf(std::span<const int> steps, const InputPlace& place);

}  // namespace mete
