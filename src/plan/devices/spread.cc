#include "plan/devices/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mete {

std::string ToText(const Spread& spread, const std::vector<std::string>& names) {
  if (spread.split == SplitAxis::kNone) return names[size_t(spread.devices[0])];
  std::string text = Name(spread.split);
  for (size_t k = 0; k < spread.devices.size(); ++k)
    text += fmt::format("{} {} {:.2f}", k == 0 ? ":" : ",", names[size_t(spread.devices[k])], spread.shares[k]);
  return text;
}

int AxisOf(SplitAxis split, const Shape& shape) {
  if (!shape.known() || split == SplitAxis::kNone) return -1;
  const bool rows = split == SplitAxis::kRows;
  if (shape.rank() >= 4) return rows ? 2 : 1;
  if (shape.rank() == 3) return rows ? 1 : 2;
  if (shape.rank() == 2) return rows ? 0 : 1;
  return -1;
}

std::vector<std::optional<Part>> PartsOn(const Spread& spread, const Shape& shape) {
  std::vector<std::optional<Part>> parts(spread.devices.size());
  const int axis = AxisOf(spread.split, shape);
  if (axis < 0 || shape[axis] < 2) {
    parts[size_t(std::max_element(spread.shares.begin(), spread.shares.end()) - spread.shares.begin())] = Part::All();
    return parts;
  }
  int64_t begin = 0;
  double before = 0;
  for (size_t k = 0; k < parts.size(); ++k) {
    before += spread.shares[k];
    const int64_t end = k + 1 == parts.size() ? shape[axis] : std::clamp<int64_t>(std::llround(before * double(shape[axis])), begin, shape[axis]);
    if (end > begin) parts[k] = Normalized(Part::Of(axis, {begin, end}), shape);
    begin = end;
  }
  return parts;
}

}  // namespace mete
