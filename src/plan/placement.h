// The placement of values on processors between groups: whole on one processor, or divided along an axis over
// several processors. A planner chooses among placements; the parts of each value then follow from its shape.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mete/tensor.h"
#include "partition/part.h"

namespace mete {

// How values are divided over processors.
enum class SplitAxis : uint8_t { kNone, kRows, kChannels, kBranches };
const char* Name(SplitAxis axis);
SplitAxis SplitAxisOf(const std::string& name, const std::string& where);  // Error for an unknown name

struct Placement {
  // kNone: whole on the only processor. kRows and kChannels: divided over the processors. kBranches: each
  // value is whole on its owner.
  SplitAxis split = SplitAxis::kNone;
  std::vector<int> processors;   // ascending, of the pool's
  std::vector<double> shares;    // of the processors: more than 0, together 1; none for kBranches
  std::vector<int> owners = {};  // kBranches: of each live value of the boundary, in their order; else none

  bool operator==(const Placement&) const = default;
};

// The part of a value that a processor has.
struct PlacedPart {
  int processor = 0;
  Part part;
};

inline Placement WholeOn(int processor) { return {SplitAxis::kNone, {processor}, {1.0}}; }
// Returns a placement of kind kBranches, whose processors are the owners.
Placement OwnedBy(std::vector<int> owners);

// Returns for example "laptop" or "rows: laptop 0.62, pi 0.38".
std::string ToText(const Placement& placement, const std::vector<std::string>& names);

// Returns the axis along which the split divides a value of this shape: height, length or tokens for rows,
// channels or features for channels; -1 if there is none.
int AxisOf(SplitAxis split, const Shape& shape);

// Returns the parts of a value that the placement's processors have, in the order of their rows and
// processors; processors without a part are left out. The parts cover the value once. Channels are divided in
// blocks of 16, and in smaller ones if a processor would have fewer than two blocks on average; the last part
// has what is left. A value without the axis, or of unknown shape, is whole on the processor with the largest
// share. `live` is the value's index among the live values of the boundary (LiveValues), by which kBranches
// has owners. Error if kBranches has no owner for it.
std::vector<PlacedPart> PartsOn(const Placement& placement, const Shape& shape, size_t live);

}  // namespace mete
