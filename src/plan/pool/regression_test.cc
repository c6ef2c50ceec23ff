#include "plan/pool/regression.h"

#include "plan/pool/exhaustive_testing.h"
#include "plan/pool/named.h"

namespace mete {
namespace {

// Five convolutions, each with more channels than the one before.
Graph Widening() {
  Builder b;
  ValueId x = b.Input({1, 4, 16, 16});
  for (int i = 1; i <= 5; ++i) x = b.Conv(x, 4 * i, 4 * (i + 1), 3, {1, 1, 1, 1});
  b.Output(x);
  InferShapes(b.graph);
  return b.graph;
}

PoolCosts TwoProcessors(std::vector<LayerCost> layers) {
  PoolCosts pool{{{"a", {1, 1, 1000, 1000}, layers}, {"b", {1, 1, 1000, 1000}, {}}}};
  for (const LayerCost& layer : layers) pool.processors[1].layers.push_back({layer.us / 10, 0});
  return pool;
}

TEST(RegressedCosts, FollowWhatGrowsWithOperations) {
  std::vector<LayerCost> layers;
  for (int i = 1; i <= 5; ++i) layers.push_back({10 + 100.0 * i * (i + 1), 0});
  const PoolCosts pool = TwoProcessors(layers), estimates = RegressedCosts(Widening(), pool);
  for (size_t l = 0; l < layers.size(); ++l)
    for (size_t d = 0; d < 2; ++d)
      EXPECT_NEAR(estimates.processors[d].layers[l].us, pool.processors[d].layers[l].us,
                  0.02 * pool.processors[d].layers[l].us);
}

TEST(RegressedCosts, NeurosurgeonPredictsByThem) {
  std::vector<LayerCost> layers(5, {1000, 0});
  layers[2].us = 9000;  // far from a line through the other times
  layers[4].us = 0;
  const PoolCosts pool = TwoProcessors(layers), estimates = RegressedCosts(Widening(), pool);
  EXPECT_EQ(estimates.processors[0].layers[4].us, 0);
  EXPECT_LT(estimates.processors[0].layers[2].us, 8000);
  const Plan plan = PlanPoolBy("neurosurgeon", Widening(), pool, {});
  double us = plan.gather_us;
  for (const PlannedGroup& group : plan.groups) us += group.us;
  EXPECT_LT(plan.predicted_us, 0.9 * us);
}

}  // namespace
}  // namespace mete
