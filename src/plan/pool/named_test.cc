#include "plan/pool/named.h"

#include <random>

#include "base/errors_testing.h"
#include "partition/random_graphs_testing.h"
#include "plan/pool/forks_testing.h"

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

// A join is no layer for plans that gather after each layer.
TEST(PlanPoolBy, OthersHaveAJoinInTheGroupOfTheLayerBefore) {
  const ModuleChain chain(2);
  const PoolCosts pool = ThreeAlike(chain.graph, 10000);
  const std::vector<Layer> layers = LayersOf(chain.graph);
  for (const std::string& name : PoolPlanners()) {
    if (name == "dynamic") continue;
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

TEST(PlanPoolBy, RefusesAnUnknownName) {
  EXPECT_TELLS(PlanPoolBy("magic", Chain(), ThreeAlike(Chain(), 1), Predicted),
               "unknown; got 'magic', expected one of: alone");
}

}  // namespace
}  // namespace mete
