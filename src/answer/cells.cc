#include "answer/cells.h"

namespace mete {

std::vector<GridCell> CellsOf(std::span<const int> steps, const InputPlace& place) {
  std::vector<GridCell> cells;
  for (const int step : steps)
    for (int y = 0; y * step < place.input_height; ++y)
      for (int x = 0; x * step < place.input_width; ++x) cells.push_back({float(x), float(y), float(step)});
  return cells;
}

}  // namespace mete
