#include "plan/pool/branches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "graph/flops.h"
#include "plan/pool/dynamic.h"
#include "plan/pool/forks_testing.h"
#include "plan/pool/plan_exchanges.h"

namespace mete {
namespace {

// Processors alike; a layer takes as long as it has arithmetic, 250 operations a microsecond, and a pool 10
// us.
PoolCosts Alike(const Graph& graph, int processors, const LinkCosts& link) {
  PoolCosts pool;
  for (int d = 0; d < processors; ++d) {
    pool.processors.push_back({std::string(1, char('a' + d)), link, {}});
    for (const Layer& layer : LayersOf(graph)) {
      const double us = double(Flops(graph, graph.nodes[size_t(layer.anchor)])) * 4e-3;
      pool.processors.back().layers.push_back({std::max(us, 10.0), 0});
    }
  }
  return pool;
}

const LinkCosts kDear{0, 300, 10000, 10000}, kCheap{0, 1, 10000, 10000};

int BranchGroups(const Plan& plan) {
  return int(std::count_if(plan.groups.begin(), plan.groups.end(), [](const PlannedGroup& group) {
    return group.placement.split == SplitAxis::kBranches;
  }));
}

// The name of a value's maker says what it is.
std::set<std::string> MadeBy(const PoolModel& model, int boundary, const Placement& placement,
                             int processor) {
  const Uses uses(model.graph());
  std::set<std::string> names;
  for (size_t v = 0; v < placement.owners.size(); ++v)
    if (placement.owners[v] == processor)
      names.insert(model.graph().nodes[size_t(uses.producer[size_t(model.Live(boundary)[v])])].name);
  return names;
}

TEST(BranchPlacements, AreWhereBranchesEndAndBalanced) {
  const ModuleChain chain(2);
  const PoolCosts pool = Alike(chain.graph, 2, kDear);
  PoolModel model(chain.graph, pool);
  ASSERT_EQ(model.boundaries(), 16);
  // A module has eight layers: 1x1; 1x1 and 3x3; 1x1 and 5x5; the pool and 1x1; the join. Behind 3x3
  // and 5x5 other branches begin, and behind the pool comes the last layer before the join.
  const std::set<int> ends{3, 5, 6, 7, 11, 13, 14, 15};
  for (int b = 0; b <= model.boundaries(); ++b)
    EXPECT_EQ(!BranchPlacements(model, b).empty(), ends.count(b) > 0) << b;
  // 1x1: 401 us, 3x3: 401 and 1355, 5x5: 201 and 1254, the pool: 10 and 201
  const std::vector<Placement> placements = BranchPlacements(model, 7);
  const Placement& best = placements[0];
  EXPECT_EQ(best.processors, (std::vector<int>{0, 1}));
  const std::set<std::string> of_the_three = MadeBy(model, 7, best, best.owners[1]);
  EXPECT_TRUE(of_the_three.count("Conv2"));
  EXPECT_TRUE(of_the_three.count("Conv6"));
  EXPECT_FALSE(of_the_three.count("Conv4"));
  EXPECT_FALSE(of_the_three.count("Conv0"));
}

TEST(BranchPlacements, AreNotOfWhatFollowsEachOther) {
  Builder b;
  const ValueId x = b.Conv(b.Input({1, 4, 8, 8}), 4, 4, 3, {1, 1, 1, 1}),
                y = b.Conv(b.Conv(x, 4, 4, 3, {1, 1, 1, 1}), 4, 4, 3, {1, 1, 1, 1});
  b.Output(b.Op("Add", {b.Conv(y, 4, 4, 3, {1, 1, 1, 1}), x}));
  InferShapes(b.graph);
  const PoolCosts pool = Alike(b.graph, 3, kDear);
  PoolModel model(b.graph, pool);
  for (int boundary = 0; boundary <= model.boundaries(); ++boundary)
    EXPECT_TRUE(BranchPlacements(model, boundary).empty()) << boundary;
}

TEST(BranchPlacements, OfADeviceAloneThereAreNone) {
  const ModuleChain chain(1);
  const PoolCosts pool = Alike(chain.graph, 1, kDear);
  PoolModel model(chain.graph, pool);
  for (int b = 0; b <= model.boundaries(); ++b) EXPECT_TRUE(BranchPlacements(model, b).empty());
}

// Twelve branches on three processors are more than are tried one by one: 3^12. Each takes 100 us times its
// number, 7800 us in all.
TEST(BranchPlacements, ManyBranchesAreDealtOutTheLongestFirst) {
  Builder b;
  const ValueId x = b.Input({1, 4, 8, 8});
  for (int i = 0; i < 12; ++i) b.Output(b.Conv(x, 4, 4, 3, {1, 1, 1, 1}));
  InferShapes(b.graph);
  PoolCosts pool = Alike(b.graph, 3, kDear);
  for (ProcessorCosts& processor : pool.processors)
    for (size_t l = 0; l < 12; ++l) processor.layers[l] = {100 * double(l + 1), 0};
  PoolModel model(b.graph, pool);
  const std::vector<Placement> placements = BranchPlacements(model, 12);
  const auto best = std::find_if(placements.begin(), placements.end(),
                                 [](const Placement& p) { return p.processors.size() == 3; });
  ASSERT_NE(best, placements.end());
  std::vector<double> us(3, 0);
  for (size_t v = 0; v < 12; ++v) us[size_t(best->owners[v])] += 100 * double(v + 1);
  EXPECT_EQ(*std::max_element(us.begin(), us.end()), 2600);
}

// A hand-over takes 300 us, a module 3.8 ms on one processor; of its seven rows a processor would compute
// five or six of the layers before windows of 5x5.
TEST(Branches, SideBySideAreFasterWhereHandOversAreDear) {
  const ModuleChain chain(3);
  const PoolCosts pool = Alike(chain.graph, 2, kDear);
  const Plan with = PlanPool(chain.graph, pool),
             without = PlanPool(chain.graph, pool, DynamicOptions{.branches = Branches::kNone});
  EXPECT_GT(BranchGroups(with), 0);
  EXPECT_EQ(BranchGroups(without), 0);
  EXPECT_LT(with.predicted_us, without.predicted_us * 0.97);
}

TEST(Branches, AreSentAsTheirGroupsSay) {
  const ModuleChain chain(3);
  const PoolCosts pool = Alike(chain.graph, 2, kDear);
  const Plan plan = PlanPool(chain.graph, pool);
  PlanExchanges exchanges(chain.graph, plan, pool);
  int64_t bytes = 0;
  for (size_t at = 0; at < plan.groups.size(); ++at)
    for (const Share& share : plan.groups[at].shares) {
      EXPECT_EQ(exchanges.At(at).BytesTo(share.processor), share.bytes);
      EXPECT_EQ(exchanges.At(at).ReadyUs(share.processor), share.ready_us);
      bytes += share.bytes;
    }
  EXPECT_GT(bytes, 0);
}

TEST(Branches, AreNeverWorse) {
  const ModuleChain chain(3);
  for (int processors = 1; processors <= 3; ++processors)
    for (const LinkCosts& link : {kDear, kCheap}) {
      const PoolCosts pool = Alike(chain.graph, processors, link);
      EXPECT_LE(
          PlanPool(chain.graph, pool).predicted_us,
          PlanPool(chain.graph, pool, DynamicOptions{.branches = Branches::kNone}).predicted_us * (1 + 1e-9));
    }
}

}  // namespace
}  // namespace mete
