#include "plan/pool/named.h"

#include <cmath>
#include <random>

#include "base/errors_testing.h"
#include "partition/random_graphs_testing.h"
#include "plan/pool/exhaustive_testing.h"
#include "plan/pool/forks_testing.h"
#include "plan/pool/segments.h"

namespace mete {
namespace {

PoolCosts ThreeAlike(const Graph& graph, double mbit_per_s) {
  PoolCosts pool;
  for (const char* name : {"a", "b", "c"})
    pool.processors.push_back(
        {name, {1, 1, mbit_per_s, mbit_per_s}, std::vector<LayerCost>(LayersOf(graph).size(), {1000, 0})});
  return pool;
}

// Four 3x3 convolutions over 32 rows, and a dense layer.
Graph Chain() {
  Builder b;
  ValueId x = b.Input({1, 4, 32, 8});
  for (int i = 0; i < 4; ++i) x = b.Conv(x, 4, 4, 3, {1, 1, 1, 1});
  b.Output(b.Op("MatMul", {b.Op("Flatten", {x}), b.Weight({1024, 4})}));
  InferShapes(b.graph);
  return b.graph;
}

double Predicted(const Plan& plan) { return plan.predicted_us; }

TEST(PlanPoolBy, EveryPlannerCoversTheLayersOnceInOrder) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomGraph random(seed, 10);
    const PoolCosts pool = ThreeAlike(random.graph, 1000);
    for (const std::string& name : PoolPlanners()) {
      const Plan plan = PlanPoolBy(name, random.graph, pool, Predicted);
      EXPECT_EQ(plan.planner, name);
      int next = 0;
      for (const PlannedGroup& group : plan.groups) {
        EXPECT_EQ(group.first, next) << name;
        next = group.last;
      }
      EXPECT_EQ(next, int(LayersOf(random.graph).size())) << name;
    }
  }
}

// Every planner of others, too: the home computes what a processor lacks.
TEST(PlanPoolBy, NoProcessorComputesWhatItLacks) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomGraph random(seed, 10);
    PoolCosts pool = WithLacks(ThreeAlike(random.graph, 1000), 4 * seed);
    for (ProcessorCosts& processor : pool.processors) processor.power = PowerCosts{0, 0.5, 0, 0};
    for (const std::string& name : PoolPlanners())
      ExpectNoLackedLayers(PlanPoolBy(name, random.graph, pool, Predicted), pool);
    for (const PoolObjective objective : {PoolObjective::kThroughput, PoolObjective::kEnergy})
      ExpectNoLackedLayers(PlanPoolBy("dynamic", random.graph, pool, Predicted, nullptr, objective), pool);
    for (const Plan& plan : PlanInTurn(random.graph, pool).plans) ExpectNoLackedLayers(plan, pool);
    EXPECT_TRUE(std::isfinite(PlanInTurn(random.graph, pool).period_us));
  }
}

// A join is no layer for plans that gather after each layer.
TEST(PlanPoolBy, OthersHaveAJoinInTheGroupOfTheLayerBefore) {
  const ModuleChain chain(2);
  const PoolCosts pool = ThreeAlike(chain.graph, 10000);
  const std::vector<Layer> layers = LayersOf(chain.graph);
  for (const std::string& name : PoolPlanners()) {
    if (name == "dynamic" || name == "exhaustive" || name == "mulayer") continue;  // branches side by side
    for (const PlannedGroup& group : PlanPoolBy(name, chain.graph, pool, Predicted).groups)
      EXPECT_FALSE(group.first < int(layers.size()) && layers[size_t(group.first)].joins) << name;
  }
}

TEST(PlanPoolBy, OthersUseAllProcessorsWhateverItCosts) {
  const Graph graph = Chain();
  const PoolCosts slow = ThreeAlike(graph, 1);
  EXPECT_DOUBLE_EQ(PlanPoolBy("dynamic", graph, slow, Predicted).predicted_us, 5000);
  EXPECT_DOUBLE_EQ(PlanPoolBy("alone", graph, slow, Predicted).predicted_us, 5000);
  EXPECT_GT(PlanPoolBy("layerwise", graph, slow, Predicted).predicted_us, 5000);
}

TEST(PlanPoolBy, FusedGroupsArePredictedFasterThanSingleLayers) {
  const Graph graph = Chain();
  const PoolCosts pool = ThreeAlike(graph, 1000);
  const double layerwise = PlanPoolBy("layerwise", graph, pool, Predicted).predicted_us;
  const double legion = PlanPoolBy("legion", graph, pool, Predicted).predicted_us;
  EXPECT_LT(legion, layerwise);
  EXPECT_LE(PlanPoolBy("fss", graph, pool, Predicted).predicted_us, legion * 1.000001);
  EXPECT_LE(PlanPoolBy("dynamic", graph, pool, Predicted).predicted_us, legion);
}

TEST(PlanPoolBy, FullSearchMeasuresEveryGroup) {
  const Graph graph = Chain();
  int measured = 0;
  PlanPoolBy("fss", graph, ThreeAlike(graph, 1000), Predicted, &measured);
  EXPECT_EQ(measured, 5 * 6 / 2);
  PlanPoolBy("dynamic", graph, ThreeAlike(graph, 1000), Predicted, &measured);
  EXPECT_EQ(measured, 0);
}

std::vector<int> Ends(const Plan& plan) {
  std::vector<int> ends;
  for (const PlannedGroup& group : plan.groups) ends.push_back(group.last);
  return ends;
}

// The plans are the same for any times of the groups that are at least 0.7 of the predicted times.
TEST(PlanPoolBy, PrunedSearchFindsThePlanOfTheFullOneWithFewerRuns) {
  const Graph graph = Chain();
  const PoolCosts pool = ThreeAlike(graph, 1000);
  int fewer = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto measure = [&](const Plan& plan) {
      std::minstd_rand random(seed * 1000 + unsigned(plan.groups.front().first * 100 + plan.groups[0].last));
      random.discard(10);
      return plan.predicted_us * (0.75 + double(random() % 1000) * 5e-4);
    };
    int all = 0, some = 0;
    const Plan full = PlanPoolBy("fss", graph, pool, measure, &all);
    const Plan pruned = PlanPoolBy("fss-pruned", graph, pool, measure, &some);
    EXPECT_EQ(Ends(full), Ends(pruned)) << "seed " << seed;
    EXPECT_LE(some, all);
    fewer += some < all;
  }
  EXPECT_GT(fewer, 25);
}

// Two processors of a chip that slow each other.
PoolCosts Chip(const Graph& graph, double cpu_us, double gpu_us, double share_us, double message_us) {
  const size_t layers = LayersOf(graph).size();
  PoolCosts pool;
  pool.processors.push_back({"cpu", {0, 0, 1e6, 1e6}, std::vector<LayerCost>(layers, {cpu_us, 0})});
  pool.processors.push_back({"gpu", {0, message_us, 1e6, 1e6}, std::vector<LayerCost>(layers, {gpu_us, 0})});
  pool.processors[1].share_us = share_us;
  for (ProcessorCosts& processor : pool.processors) processor.co_run = CoRun{"chip", 1.1};
  return pool;
}

TEST(ChipPlanners, LayerToProcessorHasEachLayerOnTheFasterOne) {
  const Graph graph = Chain();
  PoolCosts pool = Chip(graph, 1000, 800, 0, 0);
  pool.processors[0].layers[2].us = 500;
  const Plan plan = PlanPoolBy("layer-to-processor", graph, pool, Predicted);
  ASSERT_EQ(Ends(plan), (std::vector<int>{2, 3, 5}));
  EXPECT_EQ(plan.groups[0].placement, WholeOn(1));
  EXPECT_EQ(plan.groups[1].placement, WholeOn(0));
  EXPECT_EQ(plan.groups[2].placement, WholeOn(1));
}

// It divides each layer by channels, however much sharing takes, and does not know that.
TEST(ChipPlanners, MulayerDividesWhateverSharingTakes) {
  const Graph graph = Chain();
  const PoolCosts dear = Chip(graph, 1000, 1000, 5000, 5000);
  const Plan plan = PlanPoolBy("mulayer", graph, dear, Predicted);
  ASSERT_EQ(plan.groups.size(), 5u);
  for (const PlannedGroup& group : plan.groups) {
    EXPECT_EQ(group.placement.split, SplitAxis::kChannels);
    EXPECT_DOUBLE_EQ(group.placement.shares[0], 0.5);
  }
  EXPECT_NEAR(plan.predicted_us, 2500, 1);
  EXPECT_GT(PredictedWith(dear, graph, plan).predicted_us, 5 * 5000);
  EXPECT_DOUBLE_EQ(PlanPoolBy("dynamic", graph, dear, Predicted).predicted_us, 5000);
}

TEST(ChipPlanners, MulayerHasBranchesSideBySide) {
  const ModuleChain chain(2);
  const Plan plan = PlanPoolBy("mulayer", chain.graph, Chip(chain.graph, 1000, 1000, 10, 10), Predicted);
  const auto branches = std::count_if(plan.groups.begin(), plan.groups.end(), [](const PlannedGroup& group) {
    return group.placement.split == SplitAxis::kBranches;
  });
  EXPECT_EQ(branches, 2);
}

// Chains save hand-overs; without any to save a layer is divided by itself.
TEST(ChipPlanners, CodlHasChainsWhereSharingIsDear) {
  const Graph graph = Chain();
  const Plan dear = PlanPoolBy("codl", graph, Chip(graph, 1000, 1000, 0, 400), Predicted);
  EXPECT_LT(dear.groups.size(), 5u);
  for (const PlannedGroup& group : dear.groups) {
    if (group.placement.split == SplitAxis::kNone) continue;
    EXPECT_NEAR(group.placement.shares[0] * 10, std::round(group.placement.shares[0] * 10), 1e-9);
  }
  const Plan prohibitive = PlanPoolBy("codl", graph, Chip(graph, 1000, 1500, 0, 50'000), Predicted);
  EXPECT_DOUBLE_EQ(prohibitive.predicted_us, 5000);
}

// Mete's planner has all placements of these two among its candidates, and the best single processor.
TEST(ChipPlanners, OursIsNeverPredictedSlower) {
  int slower = 0;
  for (uint32_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, 1 + int(seed % 8));
    PoolCosts pool = RandomPool(random, random.graph, 2);
    const double ours_us = PlanPoolBy("dynamic", random.graph, pool, Predicted).predicted_us;
    for (const char* name : {"alone", "layer-to-processor", "codl"}) {
      const double us = PlanPoolBy(name, random.graph, pool, Predicted).predicted_us;
      EXPECT_LE(ours_us, us * (1 + 1e-5)) << name;
      slower += us > ours_us * 1.01;
    }
  }
  EXPECT_GT(slower, 50);
}

TEST(PlanPoolBy, RefusesAnUnknownName) {
  EXPECT_TELLS(PlanPoolBy("magic", Chain(), ThreeAlike(Chain(), 1), Predicted),
               "unknown; got 'magic', expected one of: alone");
}

}  // namespace
}  // namespace mete
