// Plans for pools in which two processors are the same hardware, such as a GPU in f32 and in f16.
#include <cmath>

#include "base/errors_testing.h"
#include "partition/random_graphs_testing.h"
#include "passes/chains_testing.h"
#include "plan/pool/exhaustive.h"
#include "plan/pool/exhaustive_testing.h"
#include "plan/pool/forks_testing.h"
#include "plan/pool/instead.h"
#include "plan/pool/least_energy.h"
#include "plan/pool/named.h"
#include "plan/pool/pipeline.h"
#include "plan/pool/placements.h"
#include "plan/pool/segments.h"

namespace mete {
namespace {

using Sets = std::vector<std::vector<int>>;

Graph ChainOf(int convolutions) { return ChainOfConvolutions({1, 8, 32, 32}, convolutions); }

// A CPU, and a GPU that is slow in f32 in the first layers and in f16 in the others.
PoolCosts CpuAndGpu(size_t layers, double slow_us, double message_us) {
  PoolCosts pool;
  const LinkCosts link{0, message_us, 1e5, 1e5};
  pool.processors = {{"cpu", {0, 0, 1e5, 1e5}, std::vector<LayerCost>(layers, {1000, 900})},
                     {"gpu", link, std::vector<LayerCost>(layers, {100, 90})},
                     {"gpu:f16", link, std::vector<LayerCost>(layers, {100, 90})}};
  for (size_t l = 0; l < layers; ++l)
    pool.processors[l < layers / 2 ? 1 : 2].layers[l] = {slow_us, 0.9 * slow_us};
  pool.processors[1].unit = pool.processors[2].unit = "here/gpu:0";
  return pool;
}

TEST(Units, SetsHaveOneProcessorOfEachHardware) {
  const PoolCosts pool = CpuAndGpu(4, 500, 0);
  EXPECT_EQ(ProcessorSets(pool), (Sets{{0}, {1}, {0, 1}, {2}, {0, 2}}));
  EXPECT_EQ(FullSets(pool), (Sets{{0, 1}, {0, 2}}));
  EXPECT_EQ(OneOfEachUnit(pool), (std::vector<int>{0, 1}));
  EXPECT_FALSE(Alike(pool.processors[1], pool.processors[2]));
  PoolCosts home = pool;  // the home and another one: the home is the one that computes with others
  home.processors[0].unit = home.processors[2].unit = "here/cpu";
  home.processors[1].unit = "";
  EXPECT_EQ(OneOfEachUnit(home), (std::vector<int>{0, 1}));
  EXPECT_EQ(FullSets(home), (Sets{{0, 1}, {1, 2}}));
  for (ProcessorCosts& processor : home.processors) processor.unit = "one";
  EXPECT_EQ(ProcessorSets(home), (Sets{{0}, {1}, {2}}));
}

TEST(Units, ManyProcessorsAreTakenByTheirSpeedsAndOneOfEachHardware) {
  PoolCosts pool = CpuAndGpu(4, 500, 0);
  for (int d = 0; d < 6; ++d)
    pool.processors.push_back({"d" + std::to_string(d), {0, 0, 1, 1}, std::vector<LayerCost>(4, {800, 0})});
  const Sets sets = ProcessorSets(pool);
  int with_f16 = 0;
  for (const std::vector<int>& set : sets) {
    EXPECT_TRUE(CanShareGroup(pool, set));
    with_f16 += std::count(set.begin(), set.end(), 2) > 0;
  }
  EXPECT_EQ(FullSets(pool).size(), 2u);
  EXPECT_GT(with_f16, 2);
  EXPECT_LT(with_f16, int(sets.size()));
}

TEST(Units, APlanTakesEachTypeWhereItIsSooner) {
  const Graph graph = ChainOf(6);
  const PoolCosts pool = CpuAndGpu(LayersOf(graph).size(), 500, 1);
  const Plan plan = PlanPool(graph, pool);
  Verify(plan, graph);
  ExpectOneOfAUnit(plan, pool);
  ASSERT_EQ(plan.groups.size(), 2u);
  ASSERT_EQ(plan.groups[0].shares.size(), 1u);
  ASSERT_EQ(plan.groups[1].shares.size(), 1u);
  EXPECT_EQ(plan.groups[0].shares[0].processor, 2);
  EXPECT_EQ(plan.groups[0].last, 3);
  EXPECT_EQ(plan.groups[1].shares[0].processor, 1);
  CheckUnits(plan, {"", "here/gpu:0", "here/gpu:0"});
}

TEST(Units, APlanStaysWithATypeWhereTheHandOverIsDearer) {
  const Graph graph = ChainOf(6);
  const size_t layers = LayersOf(graph).size();
  const Plan plan = PlanPool(graph, CpuAndGpu(layers, 150, 400));
  EXPECT_EQ(UsedProcessors(plan).size(), 1u);
  EXPECT_EQ(plan.groups.size(), 1u);
}

TEST(Units, PlansAreAsGoodAsTheBestOfAllPlansWithOneProcessorOfEachHardware) {
  int both = 0, branches = 0, kept_apart = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomFork fork(seed);
    RandomGraph random(seed, int(seed % 8) + 1);
    const Graph& graph = seed % 2 ? fork.graph : random.graph;
    if (LayersOf(graph).size() > 4) continue;
    const PoolCosts apart = WithLacks(RandomPool(random, graph, 3), seed), pool = WithOneUnit(apart);
    std::vector<Placement> placements = PlacementsOf(pool);
    std::shuffle(placements.begin() + 1, placements.end(), std::mt19937(seed));
    if (placements.size() > 5) placements.resize(5);
    const Plan plan = PlanPool(graph, pool, placements);
    EXPECT_NEAR(plan.predicted_us, Exhaustive(graph, pool, placements).Us(), 1e-6 * plan.predicted_us)
        << ToText(graph);
    const Plan least = PlanLeastEnergy(graph, pool, placements);
    const double joules = JoulesOf(graph, least, pool, least.predicted_us);
    EXPECT_NEAR(joules, Exhaustive(graph, pool, placements).Joules(), 1e-6 * joules) << ToText(graph);
    for (const Plan* p : {&plan, &least}) {
      ExpectOneOfAUnit(*p, pool);
      ExpectNoLackedLayers(*p, pool);
      const std::set<int> used = UsedProcessors(*p);
      both += used.contains(1) && used.contains(2);
      for (const PlannedGroup& group : p->groups) branches += group.placement.split == SplitAxis::kBranches;
    }
    for (const PlannedGroup& group : PlanPool(graph, apart).groups)
      kept_apart += !CanShareGroup(pool, group.placement.processors);
  }
  EXPECT_GT(both, 10);
  EXPECT_GT(branches, 5);
  EXPECT_GT(kept_apart, 10) << "the rule forbids nothing";
}

TEST(Units, NoPlannerComputesAGroupOnTheSameHardwareTwice) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, 8);
    const RandomFork fork(seed);
    const Graph& graph = seed % 2 ? fork.graph : random.graph;
    PoolCosts pool = WithOneUnit(RandomPool(random, graph, 3));
    if (seed % 5 == 0) {  // the home's hardware
      pool.processors[0].unit = pool.processors[2].unit;
      pool.processors[1].unit = "";
    }
    const double dynamic_us = PlanPool(graph, pool).predicted_us;
    for (const std::string& name : PoolPlanners()) {
      const Plan plan = PlanPoolBy(name, graph, pool, [](const Plan& p) { return p.predicted_us; });
      Verify(plan, graph);
      ExpectOneOfAUnit(plan, pool);
      if (name == "codl") {
        EXPECT_LE(dynamic_us, plan.predicted_us * (1 + 1e-5));
      }
    }
    for (const auto objective : {PoolObjective::kThroughput, PoolObjective::kEnergy})
      ExpectOneOfAUnit(PlanPoolBy("dynamic", graph, pool, {}, nullptr, objective), pool);
    const InTurn turns = PlanInTurn(graph, pool);
    std::vector<int> processors;
    for (const Plan& plan : turns.plans) processors.push_back(plan.groups[0].placement.processors[0]);
    EXPECT_TRUE(CanShareGroup(pool, processors));
    PoolModel model(graph, pool);
    for (const std::vector<Instead>& of_group : InsteadOf(model, PlanPool(graph, pool)))
      for (const Instead& other : of_group) EXPECT_TRUE(CanShareGroup(pool, other.placement.processors));
  }
}

TEST(Units, WhatElseAGroupCouldHaveIsTheOtherTypeAsWell) {
  const Graph graph = ChainOf(2);
  const PoolCosts pool = CpuAndGpu(LayersOf(graph).size(), 500, 1);
  PoolModel model(graph, pool);
  const Plan plan = PlanOf(model, {{0, 2, {SplitAxis::kRows, {0, 1}, {0.5, 0.5}}}});
  bool f16_by_rows = false;
  const auto all = InsteadOf(model, plan);
  for (const Instead& other : all[0])
    f16_by_rows |=
        other.placement.split == SplitAxis::kRows && other.placement.processors == std::vector<int>{0, 2};
  EXPECT_TRUE(f16_by_rows);
}

// 300 us of f16, then 300 us of f32, of one GPU.
TEST(Units, LoadsOfTheSameHardwareAddUp) {
  const Graph graph = ChainOf(6);
  PoolCosts pool = CpuAndGpu(LayersOf(graph).size(), 500, 1);
  for (ProcessorCosts& processor : pool.processors) processor.power = PowerCosts{2, 1};
  Plan plan = PlanPool(graph, pool);
  RatePlan(plan, graph, pool);
  EXPECT_DOUBLE_EQ(plan.period_us, 600);
  EXPECT_DOUBLE_EQ(IdleWatts(pool, {0, 1, 2}), 4);
  const Plan pipeline = PlanPipeline(graph, pool, 1e9);
  EXPECT_FALSE(pipeline.groups.empty());
  EXPECT_TRUE(CanShareGroup(pool, ProcessorsOn(pipeline)));
}

TEST(Units, APlanThatComputesAGroupOnTheSameHardwareTwiceIsRefused) {
  const Graph graph = ChainOf(2);
  PoolCosts pool = CpuAndGpu(LayersOf(graph).size(), 500, 1);
  PoolModel model(graph, pool);
  Plan plan = PlanOf(model, {{0, 2, {SplitAxis::kRows, {0, 1, 2}, {0.2, 0.4, 0.4}}}});
  NamePlan(plan, graph, NamesOf(pool), "mine");
  EXPECT_TELLS(CheckUnits(plan, {"", "here/gpu:0", "here/gpu:0"}),
               "[group 1] has parts on gpu and gpu:f16, which are the same hardware (here/gpu:0)");
  CheckUnits(plan, {"", "", ""});
}

}  // namespace
}  // namespace mete
