// How values lie on devices between groups: whole on one, or rows of an axis on several. A planner chooses
// among placements; where each value lies then follows from its shape.
#pragma once

#include <string>
#include <vector>

#include "mete/tensor.h"
#include "partition/part.h"
#include "plan/plan.h"

namespace mete {

struct Placement {
  SplitAxis split = SplitAxis::kNone;  // kNone: whole on the only device; kRows or kChannels
  std::vector<int> devices;            // ascending, of the pool's
  std::vector<double> shares;          // of the devices: more than 0, together 1

  bool operator==(const Placement&) const = default;
};

// What a device has of a value.
struct DevicePart {
  int device = 0;
  Part part;
};

inline Placement WholeOn(int device) { return {SplitAxis::kNone, {device}, {1.0}}; }

// "laptop", "rows: laptop 0.62, pi 0.38"
std::string ToText(const Placement& placement, const std::vector<std::string>& names);

// The axis along which such a split divides a value of this shape: height, length or tokens as rows; channels
// or features. -1 for none.
int AxisOf(SplitAxis split, const Shape& shape);

// The parts of a value that the placement's devices have, in the order of their rows and devices; those
// without any are left out. They cover it once. A value without the axis, or of unknown shape, is whole on
// the device with the largest share.
std::vector<DevicePart> PartsOn(const Placement& placement, const Shape& shape);

}  // namespace mete
