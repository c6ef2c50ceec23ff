#include "run/corrected_costs.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

// Two groups on two processors: layers 0 and 1 on both, layer 2 on the second alone, which gets bytes for it.
Plan TwoGroups() {
  Plan plan;
  plan.processors = {"a", "b"};
  plan.groups.push_back(
      {0, 2, {SplitAxis::kRows, {0, 1}, {0.5, 0.5}}, {{0, {}, {}, 0, 0, 50}, {1, {}, {}, 0, 0, 100}}});
  plan.groups.push_back({2, 3, WholeOn(1), {{1, {}, {}, 1000, 22, 30}}});
  return plan;
}

PoolCosts ThreeLayers() {
  PoolCosts costs;
  for (const char* name : {"a", "b"})
    costs.processors.push_back({name, {0.5, 1, 400, 800}, {{100, 10, 20}, {10, 0}, {30, 3}}});
  return costs;
}

using Layers = std::vector<LayerCost>;

TEST(CorrectedCosts, LayersOfAGroupTakeAsManyTimesTheirTimeAsItsShareTookItsPrediction) {
  const PoolCosts costs = Corrected(ThreeLayers(), TwoGroups(), {{{0, 50}, {0, 0}}, {{0, 120}, {0, 15}}});
  EXPECT_EQ(costs.processors[0].layers, ThreeLayers().processors[0].layers);
  EXPECT_EQ(costs.processors[1].layers, (Layers{{120, 12, 24}, {12, 0}, {15, 1.5}}));
}

TEST(CorrectedCosts, WhatIsNotKnownStaysAndWhatIsFarOffCountsAsAFactorOfThree) {
  EXPECT_EQ(Corrected(ThreeLayers(), TwoGroups(), {{}, {{0, 0}}}).processors[1].layers,
            ThreeLayers().processors[1].layers);
  const PoolCosts costs = Corrected(ThreeLayers(), TwoGroups(), {{{0, 5000}}, {{0, 1}, {0, 60}}});
  EXPECT_EQ(costs.processors[0].layers[1].us, 30);
  EXPECT_DOUBLE_EQ(costs.processors[1].layers[0].us, 100.0 / 3);
  EXPECT_EQ(costs.processors[1].layers[2].us, 60);
}

// Of the 22 us that are predicted 2 are those of a message without bytes.
TEST(CorrectedCosts, BytesTakeAsManyTimesTheirTimeAsTheOneWhoWaitedLeastFound) {
  const auto rate = [](double wait_us) {
    return Corrected(ThreeLayers(), TwoGroups(), {{}, {{0, 0}, {wait_us, 0}}})
        .processors[1]
        .link.down_mbit_per_s;
  };
  EXPECT_DOUBLE_EQ(rate(22), 800);
  EXPECT_DOUBLE_EQ(rate(42), 400);
  EXPECT_DOUBLE_EQ(rate(12), 1600);
  EXPECT_DOUBLE_EQ(rate(1e6), 80);
  EXPECT_DOUBLE_EQ(rate(0), 800);  // not known
}

TEST(CorrectedCosts, WhoeverWaitedForAnothersShareTellsNothingOfTheLink) {
  Plan plan = TwoGroups();
  plan.groups[1].shares.push_back({0, {}, {}, 1000, 22, 30});
  const GroupTimes took{{{0, 0}, {500, 0}}, {{0, 0}, {42, 0}}};
  EXPECT_DOUBLE_EQ(Corrected(ThreeLayers(), plan, took).processors[0].link.up_mbit_per_s, 200);
}

}  // namespace
}  // namespace mete
