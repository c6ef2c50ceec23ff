// The placement of values on devices between groups: whole on one device, or divided along an axis over
// several devices. A planner chooses among placements; the parts of each value then follow from its shape.
#pragma once

#include <string>
#include <vector>

#include "mete/tensor.h"
#include "partition/part.h"
#include "plan/plan.h"

namespace mete {

struct Placement {
  SplitAxis split = SplitAxis::kNone;  // kNone: whole on the only device; kRows or kChannels
  std::vector<int> devices;            // indices into the pool, ascending
  std::vector<double> shares;          // one per device: more than 0, with the sum 1

  bool operator==(const Placement&) const = default;
};

// The part of a value that a device has.
struct DevicePart {
  int device = 0;
  Part part;
};

inline Placement WholeOn(int device) { return {SplitAxis::kNone, {device}, {1.0}}; }

// Returns for example "laptop" or "rows: laptop 0.62, pi 0.38".
std::string ToText(const Placement& placement, const std::vector<std::string>& names);

// Returns the axis along which the split divides a value of this shape: height, length or tokens for rows,
// channels or features for channels; -1 if there is none.
int AxisOf(SplitAxis split, const Shape& shape);

// Returns the parts of a value that the placement's devices have, in the order of the devices, which is also
// that of the rows. Devices without rows are left out. The parts cover the value once. A value without the
// axis, or of unknown shape, is whole on the device with the largest share.
std::vector<DevicePart> PartsOn(const Placement& placement, const Shape& shape);

}  // namespace mete
