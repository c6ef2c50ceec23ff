#include "plan/pool/refine.h"

#include "plan/pool/exhaustive_testing.h"
#include "passes/chains_testing.h"

namespace mete {
namespace {

TEST(RefineShares, IsNeverDearer) {
  int cheaper = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, 10);
    const PoolCosts pool = RandomPool(random, random.graph, int(random.Pick(1, 4)));
    const Plan plan = PlanPool(random.graph, pool, PlacementsOf(pool));
    const double us = RefineShares(random.graph, pool, plan).predicted_us;
    EXPECT_LE(us, plan.predicted_us * 1.000001);
    cheaper += us < plan.predicted_us * 0.999;
  }
  EXPECT_GT(cheaper, 3);
}

// One processor is four times as fast in the layers at both ends, the other in the layers between them. Over
// all layers, and over each half of them, both are nearly equally fast.
TEST(RefineShares, AGroupHasTheSharesOfItsOwnLayers) {
  const Graph graph = ChainOfConvolutions({1, 8, 80, 32}, 8);
  const LinkCosts link{1, 1, 1e5, 1e5};
  const LayerCost fast{1000, 0}, slow{4000, 0};
  const PoolCosts pool{{{"a", link, {fast, fast, slow, slow, slow, slow, fast, fast}},
                        {"b", link, {slow, slow, fast, fast, fast, fast, slow, slow}}}};
  const Plan by_all = PlanPool(graph, pool, PlacementsOf(pool)), by_own = PlanPool(graph, pool);
  EXPECT_LT(by_own.predicted_us, 0.9 * by_all.predicted_us);
  EXPECT_NEAR(by_own.predicted_us, 8 * 800, 0.1 * 8 * 800);  // a fast and a slow processor together
}

}  // namespace
}  // namespace mete
