// The placements that a planner for several processors considers.
#pragma once

#include <cstddef>
#include <vector>

#include "costs/pool.h"
#include "plan/placement.h"

namespace mete {

// Returns whether two processors have the same times of layers, and of links to every other processor.
bool SameTimes(const ProcessorCosts& a, const ProcessorCosts& b);
// Returns whether all figures of two processors are the same: a plan may swap them. Processors of two workers
// with several processors are never the same, because each is near to others, and neither are those that
// share hardware (ProcessorCosts::unit).
bool Alike(const ProcessorCosts& a, const ProcessorCosts& b);

// Returns by how much the others of `processors` slow one of them (CoRun): its factor, or 1.
double SlowedBy(const PoolCosts& pool, const std::vector<int>& processors, int processor);

// Returns shares for `processors` in proportion to their speeds over those of the layers [first, last) that
// all of them can compute.
std::vector<double> SharesOf(const PoolCosts& pool, const std::vector<int>& processors, size_t first,
                             size_t last);

// Returns the processors that compute together at most, ascending: of those that are the same hardware
// (ProcessorCosts::unit) the home, else the one that is the fastest over all layers.
std::vector<int> OneOfEachUnit(const PoolCosts& pool);

// Returns the sets with one processor of each hardware, each ascending: one set with all processors, where
// none of them share hardware. Where there would be too many sets, OneOfEachUnit() is the only one.
std::vector<std::vector<int>> FullSets(const PoolCosts& pool);

// Returns the sets of processors that may share a group, each ascending. With up to six processors these are
// all subsets without two processors of the same hardware, where of equal processors only the first ones are
// taken; with more processors they are the fastest n processors of FullSets() for several n.
std::vector<std::vector<int>> ProcessorSets(const PoolCosts& pool);

// Returns the placements that a group may have: whole on each processor (of equal processors on the first),
// and rows and channels over the sets of processors, in proportion to their speeds over all layers, over the
// first half and over the second half. The first placement is WholeOn(0).
std::vector<Placement> PlacementsOf(const PoolCosts& pool);

// Adds a placement unless the list has one whose shares differ by less than a hundredth. Returns whether it
// was added.
bool AddPlacement(const Placement& placement, std::vector<Placement>& placements);

}  // namespace mete
