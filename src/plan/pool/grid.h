// A grid of ratios between two processors, as CoDL's planner has it (chip.md).
#pragma once

#include <vector>

#include "plan/placement.h"

namespace mete {

// Returns the placements along an axis in which the first of two processors has a tenth, two tenths and so
// on.
inline std::vector<Placement> GridOf(SplitAxis axis, const std::vector<int>& two) {
  std::vector<Placement> grid;
  for (int tenths = 1; tenths < 10; ++tenths)
    grid.push_back({axis, two, {double(tenths) / 10, double(10 - tenths) / 10}});
  return grid;
}

}  // namespace mete
