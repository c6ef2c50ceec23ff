#include "plan/pool/segments.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "partition/random_graphs_testing.h"
#include "plan/pool/dynamic.h"
#include "plan/pool/exhaustive_testing.h"
#include "plan/pool/forks_testing.h"

namespace mete {
namespace {

void ExpectTheSame(const Plan& predicted, const Plan& plan) {
  EXPECT_NEAR(predicted.predicted_us, plan.predicted_us, 1e-9 * plan.predicted_us);
  EXPECT_EQ(predicted.gather_us, plan.gather_us);
  ASSERT_EQ(predicted.groups.size(), plan.groups.size());
  for (size_t g = 0; g < plan.groups.size(); ++g) EXPECT_EQ(predicted.groups[g].us, plan.groups[g].us) << g;
}

TEST(PredictedWith, ThePlannersCostsGivesThePlannersPrediction) {
  int divided = 0;
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, 8);
    const PoolCosts pool = RandomPool(random, random.graph, 3);
    const Plan plan = PlanPool(random.graph, pool);
    ExpectTheSame(PredictedWith(pool, random.graph, plan), plan);
    for (const PlannedGroup& group : plan.groups) divided += group.shares.size() > 1;
  }
  EXPECT_GT(divided, 10);
}

TEST(PredictedWith, BranchesOnProcessorsOfTheirOwnAreKept) {
  const ModuleChain chain(3);
  PoolCosts pool;
  for (const char* name : {"a", "b"})
    pool.processors.push_back(
        {name, {150, 0, 1e5, 1e5}, std::vector<LayerCost>(LayersOf(chain.graph).size(), {500, 0})});
  const Plan plan = PlanPool(chain.graph, pool);
  const auto branches = [](const PlannedGroup& group) {
    return group.placement.split == SplitAxis::kBranches;
  };
  ASSERT_TRUE(std::any_of(plan.groups.begin(), plan.groups.end(), branches));
  ExpectTheSame(PredictedWith(pool, chain.graph, plan), plan);
}

TEST(PredictedWith, DearerLayersMakeTheSamePlanLonger) {
  RandomGraph random(1, 8);
  PoolCosts pool = RandomPool(random, random.graph, 2);
  const Plan plan = PlanAlone(random.graph, pool, 0);
  for (LayerCost& layer : pool.processors[0].layers) layer.us *= 2;
  const Plan dearer = PredictedWith(pool, random.graph, plan);
  EXPECT_NEAR(dearer.groups[0].shares[0].compute_us, 2 * plan.groups[0].shares[0].compute_us, 1e-6);
  EXPECT_EQ(dearer.planner, plan.planner);
}

}  // namespace
}  // namespace mete
