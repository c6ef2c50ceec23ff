#include "plan/pool/dynamic.h"

#include <algorithm>

#include "base/errors_testing.h"
#include "plan/pool/exhaustive_testing.h"
#include "plan/pool/forks_testing.h"
#include "passes/chains_testing.h"

namespace mete {
namespace {

TEST(PlanPool, IsAsGoodAsTheBestOfAllPlans) {
  int divided = 0, in_memory = 0, lacks = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, int(seed % 8) + 1);
    if (LayersOf(random.graph).size() > 5) continue;
    const int processors = int(random.Pick(1, 3));
    const PoolCosts pool =
        WithLacks(RandomPool(random, random.graph, processors, OfAWorker(seed, 150, processors)), seed);
    std::vector<Placement> placements = PlacementsOf(pool);
    std::shuffle(placements.begin() + 1, placements.end(), std::mt19937(seed));
    if (placements.size() > 5) placements.resize(5);
    const Plan plan = PlanPool(random.graph, pool, placements);
    EXPECT_NEAR(plan.predicted_us, Exhaustive(random.graph, pool, placements).Us(), 1e-6 * plan.predicted_us)
        << ToText(random.graph);
    for (const PlannedGroup& group : plan.groups) divided += group.shares.size() > 1;
    in_memory += CountInMemory(random.graph, plan, pool);
    for (const ProcessorCosts& p : pool.processors) lacks += !CanCompute(p, 0, p.layers.size());
    ExpectNoLackedLayers(plan, pool);
  }
  EXPECT_GT(lacks, 20);
  EXPECT_GT(divided, 10);
  EXPECT_GT(in_memory, 10);
}

TEST(PlanPool, WithADeviceIsAsGoodAsTheBestOfAllPlansInWhichItHasAPart) {
  int left_out = 0, never = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, int(seed % 8) + 1);
    if (LayersOf(random.graph).size() > 5) continue;
    const PoolCosts pool = WithLacks(RandomPool(random, random.graph, 3, OfAWorker(seed, 150, 3)), seed);
    std::vector<Placement> placements = PlacementsOf(pool);
    std::shuffle(placements.begin() + 1, placements.end(), std::mt19937(seed));
    if (placements.size() > 5) placements.resize(5);
    const std::vector<double> us = UsWithProcessors(random.graph, pool, placements, {0, 1, 2});
    Exhaustive all(random.graph, pool, placements);
    const double least_us = all.Us();
    for (int processor = 0; processor < 3; ++processor) {
      const double expected = all.UsWith(processor);
      if (std::isinf(expected)) EXPECT_EQ(us[size_t(processor)], expected) << processor;
      else EXPECT_NEAR(us[size_t(processor)], expected, 1e-6 * expected) << processor;
      left_out += expected > least_us * 1.000001;
      never += std::isinf(expected);
    }
  }
  EXPECT_GT(left_out, 100);
  EXPECT_GT(never, 0);
}

// Graphs with forks, whose branches are all that there is beside three placements.
TEST(PlanPool, WithBranchesIsAsGoodAsTheBestOfAllPlans) {
  int graphs = 0, branches = 0, left_out = 0, in_memory = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomFork fork(seed);
    if (LayersOf(fork.graph).size() > 5) continue;
    RandomGraph random(seed, 1);
    const int processors = 2 + int(seed % 2);
    const PoolCosts pool = RandomPool(random, fork.graph, processors, OfAWorker(seed, 150, processors));
    std::vector<Placement> placements = PlacementsOf(pool);
    std::shuffle(placements.begin() + 1, placements.end(), std::mt19937(seed));
    if (placements.size() > 3) placements.resize(3);
    const Plan plan = PlanPool(fork.graph, pool, placements);
    Exhaustive all(fork.graph, pool, placements);
    const double least_us = all.Us();
    EXPECT_NEAR(plan.predicted_us, least_us, 1e-6 * least_us) << ToText(fork.graph);
    EXPECT_NEAR(PlanPool(fork.graph, pool, placements, {.branches = Branches::kNone}).predicted_us,
                Exhaustive(fork.graph, pool, placements, {.branches = false}).Us(), 1e-6 * plan.predicted_us);
    const std::vector<double> us = UsWithProcessors(fork.graph, pool, placements, {0, 1});
    for (int processor = 0; processor < 2; ++processor) {
      const double expected = all.UsWith(processor);
      if (std::isinf(expected)) EXPECT_EQ(us[size_t(processor)], expected) << processor;
      else EXPECT_NEAR(us[size_t(processor)], expected, 1e-6 * expected) << processor;
      left_out += expected > least_us * 1.000001;
    }
    for (const PlannedGroup& group : plan.groups) branches += group.placement.split == SplitAxis::kBranches;
    in_memory += CountInMemory(fork.graph, plan, pool);
    ++graphs;
  }
  EXPECT_GT(graphs, 50);
  EXPECT_GT(branches, 10);
  EXPECT_GT(in_memory, 0);
  EXPECT_GT(left_out, 10);
}

// The exhaustive search gives live values to processors by itself here, so that it finds candidates that
// BranchPlacements lacks. The planner leaves some out on purpose (branches.h). Counted: of these graphs, 366
// of 400 have a plan as good as the best one, and plans take 1.04 % longer on average.
TEST(PlanPool, WithBranchesIsMostlyAsGoodAsTheBestOfAllOwners) {
  int graphs = 0, best = 0;
  double sum = 0;
  for (uint32_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomFork fork(seed);
    if (LayersOf(fork.graph).size() > 5) continue;
    RandomGraph random(seed, 1);
    const PoolCosts pool = RandomPool(random, fork.graph, 2);
    const std::vector<Placement> whole{WholeOn(0), WholeOn(1)};
    const double us = PlanPool(fork.graph, pool, whole).predicted_us,
                 least_us = Exhaustive(fork.graph, pool, whole, {.all_owners = true}).Us();
    EXPECT_GE(us, least_us * (1 - 1e-6)) << ToText(fork.graph);
    sum += us / least_us;
    best += us < least_us * (1 + 1e-6);
    ++graphs;
  }
  EXPECT_GT(graphs, 300);
  EXPECT_GE(best, 91 * graphs / 100);
  EXPECT_LE(sum / graphs, 1.011);
}

// As joins do whose convolutions write in place.
TEST(PlanPool, WithJoinsThatTakeNothingIsAsGoodAsTheBestOfAllPlans) {
  int joins = 0;
  for (uint32_t seed = 1; seed <= 250; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomFork fork(seed);
    const std::vector<Layer> layers = LayersOf(fork.graph);
    const auto join = std::find_if(layers.begin(), layers.end(), [](const Layer& l) { return l.joins; });
    if (layers.size() > 5 || join == layers.end()) continue;
    RandomGraph random(seed, 1);
    PoolCosts pool = RandomPool(random, fork.graph, 2);
    for (ProcessorCosts& processor : pool.processors) processor.layers[size_t(join - layers.begin())] = {};
    std::vector<Placement> placements = PlacementsOf(pool);
    std::shuffle(placements.begin() + 1, placements.end(), std::mt19937(seed));
    if (placements.size() > 3) placements.resize(3);
    const Plan plan = PlanPool(fork.graph, pool, placements);
    EXPECT_NEAR(plan.predicted_us, Exhaustive(fork.graph, pool, placements).Us(), 1e-6 * plan.predicted_us)
        << ToText(fork.graph);
    ++joins;
  }
  EXPECT_GT(joins, 20);
}

TEST(PlanPool, OfLayersThatTakeNothingIsAPlan) {
  const ModuleChain chain(1);
  PoolCosts pool;
  for (const char* name : {"a", "b"})
    pool.processors.push_back({name, {1, 1, 100, 100}, std::vector<LayerCost>(LayersOf(chain.graph).size())});
  EXPECT_EQ(PlanPool(chain.graph, pool).predicted_us, 0);
}

// Two processors that are far from the home and near to each other: the plan divides the layers over both of
// them alone, which it would not do if what they exchange crossed the network.
TEST(PlanPool, TwoProcessorsOfOneWorkerExchangeInItsMemory) {
  const Graph graph = ChainOfConvolutions({1, 1, 64, 64}, 4);  // 16 KB: 164 us over the network
  const LinkCosts home{0, 0, 800, 800}, far{1000, 100, 800, 800}, near{1, 1, 80000, 80000};
  PoolCosts pool{{{"home", home, std::vector<LayerCost>(4, {100'000, 0})},
                  {"pi/cpu:0", far, std::vector<LayerCost>(4, {5000, 2500})},
                  {"pi/cpu:1", far, std::vector<LayerCost>(4, {5000, 2500})}}};
  const Placement both{SplitAxis::kRows, {1, 2}, {0.5, 0.5}};
  const std::vector<Placement> placements{WholeOn(0), WholeOn(1), both};
  EXPECT_EQ(CountInMemory(graph, PlanPool(graph, pool, placements), pool), 0);
  const double apart_us = PlanPool(graph, pool, placements).predicted_us;
  for (size_t p : {1, 2}) pool.processors[p].memory = MemoryLink{"pi", near};
  const Plan plan = PlanPool(graph, pool, placements);
  EXPECT_LT(plan.predicted_us, apart_us);
  // two workers have no memory in common
  pool.processors[2].memory->device = "phone";
  EXPECT_DOUBLE_EQ(PlanPool(graph, pool, placements).predicted_us, apart_us);
}

TEST(PlanPool, ADeviceThatHarmsIsLeftOut) {
  Builder b;
  b.Output(b.Conv(b.Conv(b.Input({1, 8, 32, 32}), 8, 8, 3, {1, 1, 1, 1}), 8, 8, 3, {1, 1, 1, 1}));
  InferShapes(b.graph);
  const LinkCosts slow{500, 100, 10, 10}, fast{1, 1, 10000, 10000};
  PoolCosts pool{{{"caller", slow, {{1000, 0}, {1000, 0}}}, {"other", slow, {{1000, 0}, {1000, 0}}}}};
  const Plan alone = PlanPool(b.graph, pool);
  EXPECT_EQ(alone.groups.size(), 1u);
  EXPECT_DOUBLE_EQ(alone.predicted_us, 2000);
  pool.processors[0].link = pool.processors[1].link = fast;
  EXPECT_LT(PlanPool(b.graph, pool).predicted_us, 1300);
}

// Of seven processors the fastest has a slow link, and one that is nearly as fast has a fast link.
TEST(PlanPool, IsNotSlowerThanAnySingleDeviceOfMany) {
  Builder b;
  b.Output(b.Conv(b.Conv(b.Input({1, 8, 64, 64}), 8, 8, 3, {1, 1, 1, 1}), 8, 8, 3, {1, 1, 1, 1}));
  InferShapes(b.graph);
  PoolCosts pool;
  for (int d = 0; d < 7; ++d) {
    const double us = d == 1 ? 100'000 : d == 2 ? 110'000 : 1e6, mbit_per_s = d == 1 ? 1 : 1000;
    pool.processors.push_back(
        {std::string(1, char('a' + d)), {1, 1, mbit_per_s, mbit_per_s}, {{us, us}, {us, us}}});
  }
  const Plan plan = PlanPool(b.graph, pool);
  for (int d = 0; d < 7; ++d)
    EXPECT_LE(plan.predicted_us, PlanAlone(b.graph, pool, d).predicted_us * 1.000001) << d;
}

TEST(PlanPool, RefusesCostsThatDoNotFit) {
  Builder b;
  b.Output(b.Conv(b.Input({1, 8, 8, 8}), 8, 8, 3));
  InferShapes(b.graph);
  EXPECT_TELLS(PlanPool(b.graph, PoolCosts{}), "there are none");
  EXPECT_TELLS(PlanPool(b.graph, PoolCosts{{{"a", {1, 1, 1, 1}, {}}}}),
               "[a] has other layers; got 0, expected 1");
}

}  // namespace
}  // namespace mete
