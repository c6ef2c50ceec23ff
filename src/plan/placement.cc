#include "plan/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"

namespace mete {
namespace {

constexpr const char* kAxisNames[] = {"none", "rows", "channels", "branches"};

std::string BranchesText(const Placement& placement, const std::vector<std::string>& names) {
  std::string text = Name(placement.split);
  for (const int processor : placement.processors) {
    const auto values = std::count(placement.owners.begin(), placement.owners.end(), processor);
    text += fmt::format("{} {} {} value{}", processor == placement.processors[0] ? ":" : ",",
                        names[size_t(processor)], values, values == 1 ? "" : "s");
  }
  return text;
}

// Kernels compute channels in blocks of vectors, and rows of channels that begin with a cache line are read
// and written the fastest: 16 floats are a cache line, and a vector of the widest instructions.
constexpr int64_t kChannelBlock = 16;
// Where a share would have fewer blocks than these on average, blocks are smaller, so that shares stay in
// proportion to the speeds. This value is a guess.
constexpr int64_t kLeastBlocks = 2;

// Returns the number of rows, or channels, of which shares have multiples.
int64_t BlockOf(const Placement& placement, int64_t rows) {
  if (placement.split != SplitAxis::kChannels) return 1;
  const int64_t blocks = kLeastBlocks * int64_t(placement.processors.size());
  int64_t block = kChannelBlock;
  while (block > 1 && block * blocks > rows) block /= 2;
  return block;
}

int OwnerOf(const Placement& placement, size_t live) {
  if (live >= placement.owners.size())
    Fail(Code::kInternal, "placement", "has no owner of live value {}; got {} owners", live,
         placement.owners.size());
  return placement.owners[live];
}

}  // namespace

const char* Name(SplitAxis axis) { return kAxisNames[size_t(axis)]; }

SplitAxis SplitAxisOf(const std::string& name, const std::string& where) {
  for (size_t i = 0; i < std::size(kAxisNames); ++i)
    if (name == kAxisNames[i]) return SplitAxis(i);
  Invalid(where, "unknown split; got '{}', expected none, rows, channels or branches", Printable(name));
}

Placement OwnedBy(std::vector<int> owners) {
  const std::set<int> processors(owners.begin(), owners.end());
  return {SplitAxis::kBranches, {processors.begin(), processors.end()}, {}, std::move(owners)};
}

std::string ToText(const Placement& placement, const std::vector<std::string>& names) {
  if (placement.split == SplitAxis::kNone) return names[size_t(placement.processors[0])];
  if (placement.split == SplitAxis::kBranches) return BranchesText(placement, names);
  std::string text = Name(placement.split);
  for (size_t k = 0; k < placement.processors.size(); ++k)
    text += fmt::format("{} {} {:.2f}", k == 0 ? ":" : ",", names[size_t(placement.processors[k])],
                        placement.shares[k]);
  return text;
}

int AxisOf(SplitAxis split, const Shape& shape) {
  if (!shape.known() || split == SplitAxis::kNone || split == SplitAxis::kBranches) return -1;
  const bool rows = split == SplitAxis::kRows;
  if (shape.rank() >= 4) return rows ? 2 : 1;
  if (shape.rank() == 3) return rows ? 1 : 2;
  if (shape.rank() == 2) return rows ? 0 : 1;
  return -1;
}

std::vector<PlacedPart> PartsOn(const Placement& placement, const Shape& shape, size_t live) {
  if (placement.split == SplitAxis::kBranches) return {{OwnerOf(placement, live), Part::All()}};
  const int axis = AxisOf(placement.split, shape);
  if (axis < 0 || shape[axis] < 2) {
    const auto largest =
        std::max_element(placement.shares.begin(), placement.shares.end()) - placement.shares.begin();
    return {{placement.processors[size_t(largest)], Part::All()}};
  }
  std::vector<PlacedPart> parts;
  const int64_t block = BlockOf(placement, shape[axis]);
  int64_t begin = 0;
  double before = 0;
  for (size_t k = 0; k < placement.processors.size(); ++k) {
    before += placement.shares[k];
    const int64_t rounded = std::clamp<int64_t>(
        block * std::llround(before * double(shape[axis]) / double(block)), begin, shape[axis]);
    const int64_t end = k + 1 == placement.processors.size() ? shape[axis] : rounded;
    if (end > begin)
      parts.push_back({placement.processors[k], Normalized(Part::Of(axis, {begin, end}), shape)});
    begin = end;
  }
  return parts;
}

}  // namespace mete
