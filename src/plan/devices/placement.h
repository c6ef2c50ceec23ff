// How values lie on devices between groups: all whole on one device, rows of an axis on several devices, or
// each value whole on a device of its own. A planner chooses among placements; where each value lies then
// follows from its shape, or from its owner.
#pragma once

#include <string>
#include <vector>

#include "mete/tensor.h"
#include "partition/part.h"
#include "plan/plan.h"

namespace mete {

struct Placement {
  // kNone: whole on the only device. kRows and kChannels: divided over the devices. kBranches: each value is
  // whole on its owner.
  SplitAxis split = SplitAxis::kNone;
  std::vector<int> devices;      // ascending, of the pool's
  std::vector<double> shares;    // of the devices: more than 0, together 1; none for kBranches
  std::vector<int> owners = {};  // kBranches: of each live value of the boundary, in their order; else none

  bool operator==(const Placement&) const = default;
};

// What a device has of a value.
struct DevicePart {
  int device = 0;
  Part part;
};

inline Placement WholeOn(int device) { return {SplitAxis::kNone, {device}, {1.0}}; }
// kBranches; its devices are the owners.
Placement OwnedBy(std::vector<int> owners);

// "laptop", "rows: laptop 0.62, pi 0.38", "branches: laptop 2 values, pi 1 value"
std::string ToText(const Placement& placement, const std::vector<std::string>& names);

// The axis along which such a split divides a value of this shape: height, length or tokens as rows; channels
// or features. -1 for none.
int AxisOf(SplitAxis split, const Shape& shape);

// The parts of a value that the placement's devices have, in the order of their rows and devices; those
// without any are left out. They cover it once. A value without the axis, or of unknown shape, is whole on
// the device with the largest share. `live` is the value's index among the live values of the boundary
// (LiveValues), by which kBranches has owners. Error where there is none.
std::vector<DevicePart> PartsOn(const Placement& placement, const Shape& shape, size_t live);

}  // namespace mete
