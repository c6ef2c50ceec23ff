#include "run/corrected_costs.h"

#include <gtest/gtest.h>

#include "partition/random_graphs_testing.h"
#include "plan/pool/dynamic.h"
#include "plan/pool/segments.h"

namespace mete {
namespace {

// Three groups on two processors: layers 0 and 1 on both, then layer 2 and layer 3 on the second alone, which
// gets few bytes for the one and many for the other. A message without bytes takes 2 us.
Plan ThreeGroups() {
  Plan plan;
  plan.processors = {"a", "b"};
  plan.groups.push_back(
      {0, 2, {SplitAxis::kRows, {0, 1}, {0.5, 0.5}}, {{0, {}, {}, 0, 0, 50}, {1, {}, {}, 0, 0, 100}}});
  plan.groups.push_back({2, 3, WholeOn(1), {{1, {}, {}, 1000, 2.5, 30}}});
  plan.groups.push_back({3, 4, WholeOn(1), {{1, {}, {}, 40000, 22.5, 30}}});
  return plan;
}

PoolCosts FourLayers() {
  PoolCosts costs;
  for (const char* name : {"a", "b"})
    costs.processors.push_back({name, {0.5, 1, 400, 800}, {{100, 10, 20}, {10, 0}, {30, 3}, {30, 3}}});
  return costs;
}

using Layers = std::vector<LayerCost>;

TEST(CorrectedCosts, LayersOfAGroupTakeAsManyTimesTheirTimeAsItsShareTookItsPrediction) {
  const PoolCosts costs =
      Corrected(FourLayers(), ThreeGroups(), {{{0, 50}, {0, 0}}, {{0, 120}, {0, 15}, {0, 30}}});
  EXPECT_EQ(costs.processors[0].layers, FourLayers().processors[0].layers);
  EXPECT_EQ(costs.processors[1].layers, (Layers{{120, 12, 24}, {12, 0}, {15, 1.5}, {30, 3}}));
}

TEST(CorrectedCosts, WhatIsNotKnownStaysAndWhatIsFarOffCountsAsAFactorOfThree) {
  EXPECT_EQ(Corrected(FourLayers(), ThreeGroups(), {{}, {{0, 0}}}).processors[1].layers,
            FourLayers().processors[1].layers);
  const PoolCosts costs = Corrected(FourLayers(), ThreeGroups(), {{{0, 5000}}, {{0, 1}, {0, 60}}});
  EXPECT_EQ(costs.processors[0].layers[1].us, 30);
  EXPECT_DOUBLE_EQ(costs.processors[1].layers[0].us, 100.0 / 3);
  EXPECT_EQ(costs.processors[1].layers[2].us, 60);
}

// Both halves of the first group take 1.2 times as long: what does not shrink by rows, 10 us of the 100 of
// the first layer, grows by the 11 us that its half takes more, twice.
TEST(CorrectedCosts, WhatAllSharesOfAGroupTakeMoreIsTheirDivisions) {
  Plan plan = ThreeGroups();
  const GroupTimes took{{{0, 60}}, {{0, 120}}};
  const auto layer = [&] { return Corrected(FourLayers(), plan, took).processors[1].layers[0]; };
  EXPECT_DOUBLE_EQ(layer().us, 100);
  EXPECT_DOUBLE_EQ(layer().least_us, 32);
  EXPECT_DOUBLE_EQ(*layer().least_by_channels_us, 20);
  plan.groups[0].placement.split = SplitAxis::kChannels;
  EXPECT_DOUBLE_EQ(layer().us, 100);
  EXPECT_DOUBLE_EQ(layer().least_us, 10);
  EXPECT_DOUBLE_EQ(*layer().least_by_channels_us, 44);
}

TEST(CorrectedCosts, AShareThatTakesMoreThanItsLayerOrLessThanItsPartCorrectsTheLayer) {
  const auto layer = [](double times) {
    return Corrected(FourLayers(), ThreeGroups(), {{{0, 50 * times}}, {{0, 100 * times}}})
        .processors[0]
        .layers[0];
  };
  EXPECT_DOUBLE_EQ(layer(2).us, 110);
  EXPECT_DOUBLE_EQ(layer(2).least_us, 110);
  EXPECT_DOUBLE_EQ(*layer(2).least_by_channels_us, 20);
  EXPECT_DOUBLE_EQ(layer(0.5).us, 55);
  EXPECT_DOUBLE_EQ(layer(0.5).least_us, 0);
  EXPECT_DOUBLE_EQ(*layer(0.5).least_by_channels_us, 20);
}

// 0.5 and 20.5 us are predicted for the bytes.
TEST(CorrectedCosts, BytesTakeAsManyTimesTheirTimeAsTheSlopeOfAllHandOversSays) {
  const auto rate = [](double few_us, double many_us) {
    const GroupTimes took{{}, {{0, 0}, {few_us, 0}, {many_us, 0}}};
    return Corrected(FourLayers(), ThreeGroups(), took).processors[1].link.down_mbit_per_s;
  };
  EXPECT_DOUBLE_EQ(rate(2.5, 22.5), 800);
  EXPECT_DOUBLE_EQ(rate(3.5, 43.5), 400);
  EXPECT_DOUBLE_EQ(rate(9, 29), 800);  // each takes longer: no matter of bytes
  EXPECT_DOUBLE_EQ(rate(2, 1e6), 80);
  EXPECT_DOUBLE_EQ(rate(0, 0), 800);  // not known
}

TEST(CorrectedCosts, AMessageTakesWhatTheLineHasAtNoBytes) {
  const GroupTimes took{{}, {{0, 0}, {20.5, 0}, {40.5, 0}}};
  const LinkCosts link = Corrected(FourLayers(), ThreeGroups(), took).processors[1].link;
  EXPECT_DOUBLE_EQ(link.down_mbit_per_s, 800);
  EXPECT_DOUBLE_EQ(link.message_us, 10);
  EXPECT_DOUBLE_EQ(link.latency_us, 5);
}

TEST(CorrectedCosts, FewBytesTellNothingOfBytes) {
  Plan plan = ThreeGroups();
  plan.groups.pop_back();
  const LinkCosts link = Corrected(FourLayers(), plan, {{}, {{0, 0}, {4.5, 0}}}).processors[1].link;
  EXPECT_EQ(link.down_mbit_per_s, 800);
  EXPECT_DOUBLE_EQ(link.message_us, 2);
}

TEST(CorrectedCosts, WhoeverWaitedForAnothersShareTellsNothingOfTheLink) {
  Plan plan = ThreeGroups();
  plan.groups[2].shares.push_back({0, {}, {}, 40000, 22.5, 30});
  const GroupTimes took{{{0, 0}, {0, 0}, {500, 0}}, {{0, 0}, {3.5, 0}, {43.5, 0}}};
  EXPECT_DOUBLE_EQ(Corrected(FourLayers(), plan, took).processors[0].link.up_mbit_per_s, 200);
}

// A plan over two alike processors.
struct Divided {
  RandomGraph random{3, 8};
  PoolCosts pool;
  Plan plan;

  Divided() {
    for (const char* name : {"a", "b"})
      pool.processors.push_back(
          {name, {20, 1, 1e4, 1e4}, std::vector<LayerCost>(LayersOf(random.graph).size(), {1000, 0})});
    plan = PlanPool(random.graph, pool);
  }
  double Predicted(double us) const {
    return PredictedWith(CorrectedInAll(pool, random.graph, plan, us), random.graph, plan).predicted_us;
  }
};

TEST(CorrectedCostsInAll, HandOversTakeWhatTheGroupsLeaveOut) {
  const Divided divided;
  const double us = divided.plan.predicted_us;
  ASSERT_GT(UsedProcessors(divided.plan).size(), 1u);
  for (const double times : {1.05, 1.1, 1.2})
    EXPECT_NEAR(divided.Predicted(times * us), times * us, 0.005 * us);
  const PoolCosts dearer = CorrectedInAll(divided.pool, divided.random.graph, divided.plan, 1.1 * us);
  for (size_t p = 0; p < 2; ++p) {
    EXPECT_GT(dearer.processors[p].link.latency_us, divided.pool.processors[p].link.latency_us);
    EXPECT_EQ(dearer.processors[p].layers, divided.pool.processors[p].layers);
  }
}

TEST(CorrectedCostsInAll, ATimeThatIsFarOffIsBounded) {
  const Divided divided;
  const double us = divided.plan.predicted_us;
  EXPECT_NEAR(divided.Predicted(10 * us), 1.25 * us, 0.005 * us);
}

TEST(CorrectedCostsInAll, APlanThatTakesLessThanPredictedChangesNothing) {
  const Divided divided;
  const double us = divided.plan.predicted_us;
  const PoolCosts costs = CorrectedInAll(divided.pool, divided.random.graph, divided.plan, 0.9 * us);
  for (size_t p = 0; p < 2; ++p) EXPECT_EQ(costs.processors[p].link, divided.pool.processors[p].link);
}

TEST(CorrectedCostsInAll, APlanWithoutHandOversChangesNothing) {
  const Divided divided;
  const Plan alone = PlanAlone(divided.random.graph, divided.pool, 0);
  const PoolCosts costs = CorrectedInAll(divided.pool, divided.random.graph, alone, 2 * alone.predicted_us);
  for (size_t p = 0; p < 2; ++p) EXPECT_EQ(costs.processors[p].link, divided.pool.processors[p].link);
}

}  // namespace
}  // namespace mete
