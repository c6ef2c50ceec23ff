#include "plan/devices/placements.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mete {
namespace {

// The most devices of which all subsets (63) are tried. This value is a guess: a larger pool has few kinds of
// devices, or its plan is not urgent.
constexpr size_t kAllSubsets = 6;
// Every number of the fastest devices is tried up to this one, above it steps of a quarter. This value is a
// guess, as in plan/cores.
constexpr size_t kEachNumber = 8;
constexpr double kSameShare = 0.01;  // smaller differences of shares are ignored; a guess: a row of a hundred

// Returns the time of layers [first, last) in microseconds.
double LayersUs(const DeviceCosts& device, size_t first, size_t last) {
  double us = 0;
  for (size_t i = first; i < last; ++i) us += device.layers[i].us;
  return us;
}

// Returns the layer at which the first device has done half of its work.
size_t HalfWay(const PoolCosts& pool) {
  const size_t layers = pool.devices[0].layers.size();
  const double all = LayersUs(pool.devices[0], 0, layers);
  size_t half = 0;
  for (double us = 0; half < layers && us < all / 2; ++half) us += pool.devices[0].layers[half].us;
  return half;
}

// Returns whether the set has only the first ones of equal devices. Other ones would give the same costs,
// except that the caller's own device needs no message.
bool TakesFirstOnes(const PoolCosts& pool, const std::vector<int>& devices) {
  for (int d : devices)
    for (int before = 0; before < d; ++before)
      if (Alike(pool.devices[size_t(before)], pool.devices[size_t(d)]) &&
          !std::count(devices.begin(), devices.end(), before))
        return false;
  return true;
}

std::vector<std::vector<int>> AllSubsets(const PoolCosts& pool) {
  std::vector<std::vector<int>> subsets;
  for (uint32_t mask = 1; mask < 1u << pool.devices.size(); ++mask) {
    std::vector<int> devices;
    for (size_t d = 0; d < pool.devices.size(); ++d)
      if (mask >> d & 1) devices.push_back(int(d));
    if (TakesFirstOnes(pool, devices)) subsets.push_back(std::move(devices));
  }
  return subsets;
}

std::vector<std::vector<int>> FastestSubsets(const PoolCosts& pool) {
  std::vector<int> order(pool.devices.size());
  std::iota(order.begin(), order.end(), 0);
  const size_t layers = pool.devices[0].layers.size();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return LayersUs(pool.devices[size_t(a)], 0, layers) < LayersUs(pool.devices[size_t(b)], 0, layers);
  });
  std::vector<std::vector<int>> subsets;
  for (size_t count = 1; count <= order.size(); count += count < kEachNumber ? 1 : count / 4) {
    if (count > kEachNumber && count + count / 4 > order.size()) count = order.size();
    std::vector<int> devices(order.begin(), order.begin() + int(count));
    std::sort(devices.begin(), devices.end());
    subsets.push_back(std::move(devices));
  }
  return subsets;
}

bool Same(const Placement& a, const Placement& b) {
  const auto same_share = [](double x, double y) { return std::abs(x - y) < kSameShare; };
  return a.split == b.split && a.devices == b.devices && a.owners == b.owners &&
         std::equal(a.shares.begin(), a.shares.end(), b.shares.begin(), same_share);
}

}  // namespace

bool Alike(const DeviceCosts& a, const DeviceCosts& b) {
  return a.layers == b.layers && a.link == b.link && a.power == b.power;
}

std::vector<double> SharesOf(const PoolCosts& pool, const std::vector<int>& devices, size_t first,
                             size_t last) {
  std::vector<double> shares;
  for (int d : devices) shares.push_back(1 / std::max(1e-3, LayersUs(pool.devices[size_t(d)], first, last)));
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& s : shares) s /= all;
  return shares;
}

std::vector<double> SharesBySpeed(const PoolCosts& pool) {
  std::vector<int> devices(pool.devices.size());
  std::iota(devices.begin(), devices.end(), 0);
  return SharesOf(pool, devices, 0, pool.devices[0].layers.size());
}

std::vector<std::vector<int>> DeviceSets(const PoolCosts& pool) {
  return pool.devices.size() <= kAllSubsets ? AllSubsets(pool) : FastestSubsets(pool);
}

bool AddPlacement(const Placement& placement, std::vector<Placement>& placements) {
  const bool known = std::any_of(placements.begin(), placements.end(),
                                 [&](const Placement& p) { return Same(p, placement); });
  if (!known) placements.push_back(placement);
  return !known;
}

std::vector<Placement> PlacementsOf(const PoolCosts& pool) {
  std::vector<Placement> placements{WholeOn(0)};
  const size_t layers = pool.devices[0].layers.size(), half = HalfWay(pool);
  for (int d = 1; d < int(pool.devices.size()); ++d)
    if (TakesFirstOnes(pool, {d})) AddPlacement(WholeOn(d), placements);
  for (const std::vector<int>& devices : DeviceSets(pool)) {
    if (devices.size() < 2) continue;
    for (const SplitAxis split : {SplitAxis::kRows, SplitAxis::kChannels})
      for (const auto& [first, last] : {std::pair<size_t, size_t>{0, layers}, {0, half}, {half, layers}})
        if (first < last) AddPlacement({split, devices, SharesOf(pool, devices, first, last)}, placements);
  }
  return placements;
}

}  // namespace mete
