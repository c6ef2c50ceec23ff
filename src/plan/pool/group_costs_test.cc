#include "plan/pool/group_costs.h"

#include <gtest/gtest.h>

#include <limits>

#include "plan/pool/exhaustive_testing.h"
#include "plan/pool/forks_testing.h"
#include "plan/pool/placements.h"

namespace mete {
namespace {

// Of all placements that a boundary has, those of branches included.
std::vector<Placement> AllAt(PoolModel& model, int boundary) {
  std::vector<Placement> all = PlacementsOf(model.pool());
  for (Placement& placement : BranchPlacements(model, boundary)) all.push_back(std::move(placement));
  return all;
}

struct Bounds {
  int all = 0, reached = 0, of_branches = 0;
};

// Of the groups from `begin` to `end`.
void CheckBounds(PoolModel& model, int begin, int end, Bounds& bounds) {
  LeastReady ready(model.graph(), model.pool(), model.Live(begin));
  std::vector<Holdings> ways;
  const std::vector<Placement> before = AllAt(model, begin);
  for (const Placement& placement : before) {
    ways.push_back(HoldingsOf(model, begin, placement));
    ready.Add(ByProcessor(model, begin, ways.back()));
  }
  for (const Placement& placement : AllAt(model, end)) {
    GroupCosts group(model, end, placement);
    while (group.begin() > begin) group.Prepend();
    group.Bound(ready);
    for (size_t way = 0; way < ways.size(); ++way) {
      const double us = group.Us(ways[way]),
                   least_us = group.LeastUs(ready, way, std::numeric_limits<double>::infinity());
      EXPECT_LE(group.least_us(), least_us);
      EXPECT_LE(least_us, us * (1 + 1e-9));
      ++bounds.all;
      bounds.reached += least_us > us * (1 - 1e-9);
      bounds.of_branches +=
          placement.split == SplitAxis::kBranches || before[way].split == SplitAxis::kBranches;
    }
  }
}

TEST(GroupCosts, BoundsAreNoMoreThanWhatAGroupTakes) {
  Bounds bounds, of_worker;  // bounds of a worker's processors are lower: any link may bring any byte
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, 8);
    const PoolCosts pool = RandomPool(random, random.graph, 3, OfAWorker(seed, 30, 3));
    PoolModel model(random.graph, pool);
    for (int begin = 0; begin < model.boundaries(); ++begin)
      CheckBounds(model, begin, model.boundaries(), seed > 30 ? of_worker : bounds);
  }
  EXPECT_GT(bounds.reached, bounds.all / 10);
  EXPECT_GT(of_worker.reached, of_worker.all / 100);
}

TEST(GroupCosts, BoundsHoldForBranches) {
  Bounds bounds, of_worker;  // bounds of a worker's processors are lower: any link may bring any byte
  for (uint32_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomFork fork(seed);
    RandomGraph random(seed, 1);
    const int processors = 2 + int(seed % 2);
    const PoolCosts pool = RandomPool(random, fork.graph, processors, OfAWorker(seed, 60, processors));
    PoolModel model(fork.graph, pool);
    for (int end = 1; end <= model.boundaries(); ++end)
      for (int begin = 0; begin < end; ++begin)
        CheckBounds(model, begin, end, seed > 60 ? of_worker : bounds);
  }
  EXPECT_GT(bounds.reached, bounds.all / 10);
  EXPECT_GT(of_worker.reached, of_worker.all / 100);
  EXPECT_GT(bounds.of_branches, 100);
}

TEST(GroupCosts, AShareByChannelsTakesTheTimeOfChannels) {
  Builder b;
  const ValueId y = b.Conv(b.Input({1, 4, 16, 16}), 4, 4, 1);
  b.Output(y);
  InferShapes(b.graph);
  PoolCosts pool;
  for (const char* name : {"a", "b"}) pool.processors.push_back({name, {0, 0, 1e9, 1e9}, {{100, 40, 20}}});
  const auto us_by = [&](SplitAxis split) {
    PoolModel model(b.graph, pool);
    const Placement halves{split, {0, 1}, {0.5, 0.5}};
    GroupCosts group(model, 1, halves);
    group.Prepend();
    return group.compute_us();
  };
  EXPECT_EQ(us_by(SplitAxis::kRows), 70);
  EXPECT_EQ(us_by(SplitAxis::kChannels), 60);
  for (ProcessorCosts& processor : pool.processors) processor.layers[0].least_by_channels_us.reset();
  EXPECT_EQ(us_by(SplitAxis::kChannels), 70);
}

TEST(ShareNeeds, WhatTwoNeedIsKeptOnceWhereverTheirGroupsEnd) {
  Builder b;
  const ValueId x = b.Input({1, 4, 16, 16}), y = b.Conv(x, 4, 4, 3, {1, 1, 1, 1}),
                z = b.Conv(y, 4, 4, 3, {1, 1, 1, 1});
  b.Output(z);
  InferShapes(b.graph);
  const std::vector<Layer> layers = LayersOf(b.graph);
  const std::vector<std::vector<ValueId>> live = LiveValues(b.graph, layers);
  ShareNeeds needs(b.graph, layers, live);
  const LiveParts& of_z = needs.Of(2, std::vector{ValuePart{z, Part::Of(2, {4, 8})}});
  ASSERT_EQ(of_z.before, &needs.Of(1, std::vector{ValuePart{y, Part::Of(2, {3, 9})}}));
  EXPECT_EQ(of_z.fraction, 4.0 / 16);
  EXPECT_EQ(of_z.before->fraction, 6.0 / 16);
  EXPECT_EQ(of_z.before->before, &needs.Of(0, std::vector{ValuePart{x, Part::Of(2, {2, 10})}}));
  EXPECT_EQ(of_z.before->before->before, nullptr);
  EXPECT_EQ(of_z.bytes, 4 * 4 * 16 * 4);
  EXPECT_TRUE(needs.Of(1, {}).parts.empty());
  EXPECT_EQ(needs.Of(1, {}).fraction, std::nullopt);
}

}  // namespace
}  // namespace mete
