#include "plan/pool/exhaustive.h"

#include "base/errors_testing.h"
#include "plan/pool/exhaustive_testing.h"
#include "plan/pool/forks_testing.h"

namespace mete {
namespace {

// A search that looks at each plan by itself finds none that takes less, of all owners of branches, and of
// some placements.
TEST(PlanExhaustively, IsAsGoodAsTheBestOfEachPlanByItself) {
  int graphs = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, int(seed % 5) + 1);
    if (LayersOf(random.graph).size() > 3) continue;
    ++graphs;
    const PoolCosts pool = WithLacks(RandomPool(random, random.graph, 2), seed);
    const std::vector<Placement> some{WholeOn(0),
                                      WholeOn(1),
                                      {SplitAxis::kRows, {0, 1}, {0.3, 0.7}},
                                      {SplitAxis::kChannels, {0, 1}, {0.5, 0.5}}};
    const Plan plan = PlanExhaustively(random.graph, pool);
    EXPECT_LE(plan.predicted_us,
              Exhaustive(random.graph, pool, some, {.all_owners = true}).Us() * (1 + 1e-9));
    ExpectNoLackedLayers(plan, pool);
  }
  EXPECT_GT(graphs, 10);
}

TEST(PlanExhaustively, NeverTakesLongerThanThePlannersOwnPlan) {
  int better = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, 8);
    const PoolCosts pool = RandomPool(random, random.graph, 2 + int(seed % 2));
    const double us = PlanExhaustively(random.graph, pool).predicted_us,
                 dynamic_us = PlanPool(random.graph, pool).predicted_us;
    EXPECT_LE(us, dynamic_us * (1 + 1e-9));
    better += us < dynamic_us * (1 - 1e-6);
  }
  EXPECT_GT(better, 5) << "the search is no wider than the planner's";
}

TEST(PlanExhaustively, RefusesWhatTakesTooLong) {
  RandomGraph random(3, 30);
  const PoolCosts pool = RandomPool(random, random.graph, 6);
  EXPECT_TELLS(PlanExhaustively(random.graph, pool), "is too large for the planner exhaustive; got");
}

}  // namespace
}  // namespace mete
