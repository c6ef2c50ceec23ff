#include "plan/pool/objective.h"

#include <functional>
#include <limits>
#include <set>

#include "base/errors_testing.h"
#include "plan/pool/exhaustive_testing.h"
#include "plan/pool/least_energy.h"
#include "plan/pool/pipeline.h"
#include "plan/pool/plan_for.h"
#include "plan/pool/segments.h"
#include "passes/chains_testing.h"

namespace mete {
namespace {

double BestAlone(PoolObjective objective, const Graph& graph, const PoolCosts& pool) {
  double least = std::numeric_limits<double>::infinity();
  for (int d = 0; d < int(pool.processors.size()); ++d) {
    Plan plan = PlanAlone(graph, pool, d);
    RatePlan(plan, graph, pool);
    least = std::min(least, FigureOf(plan, objective));
  }
  return least;
}

TEST(PoolObjective, NamesAreRead) {
  for (const std::string& name : PoolObjectives())
    EXPECT_EQ(PoolObjectives()[size_t(ParsePoolObjective(name, "flag"))], name);
  EXPECT_TELLS(ParsePoolObjective("speed", "flag"),
               "[flag] not an objective for several processors or a site; got 'speed'");
}

TEST(PlanPoolFor, NoObjectiveIsWorseThanTheBestDeviceOrAnotherObjectivesPlan) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, 8);
    const PoolCosts pool = RandomPool(random, random.graph, int(random.Pick(1, 4)));
    const Plan plans[] = {PlanPoolFor(PoolObjective::kLatency, random.graph, pool),
                          PlanPoolFor(PoolObjective::kThroughput, random.graph, pool),
                          PlanPoolFor(PoolObjective::kEnergy, random.graph, pool)};
    for (const auto objective :
         {PoolObjective::kLatency, PoolObjective::kThroughput, PoolObjective::kEnergy}) {
      const double figure = FigureOf(plans[size_t(objective)], objective);
      EXPECT_LE(figure, BestAlone(objective, random.graph, pool) * 1.000001);
      EXPECT_LE(figure, FigureOf(plans[size_t(PoolObjective::kLatency)], objective) * 1.000001);
    }
  }
}

// Tries every pipeline, stage by stage, on every set of processors.
class AllPipelines {
 public:
  AllPipelines(const Graph& graph, const PoolCosts& pool) : model_(graph, pool) {}

  double PeriodUs() {
    Rest(0, WholeOn(0), (1u << model_.pool().processors.size()) - 1,
         std::vector<ProcessorLoad>(model_.pool().processors.size()));
    return least_us_;
  }

 private:
  void Rest(int begin, const Placement& from, uint32_t left, const std::vector<ProcessorLoad>& loads) {
    if (begin == model_.boundaries()) return End(from, loads);
    for (int end = begin + 1; end <= model_.boundaries(); ++end)
      for (uint32_t set = 1; set <= left; ++set)
        if ((set & left) == set) Stages(begin, end, from, left, set, loads);
  }

  void Stages(int begin, int end, const Placement& from, uint32_t left, uint32_t set,
              const std::vector<ProcessorLoad>& loads) {
    std::vector<int> processors;
    for (int d = 0; d < int(loads.size()); ++d)
      if (set >> d & 1) processors.push_back(d);
    if (processors.size() == 1) return Step(begin, end, from, left & ~set, WholeOn(processors[0]), loads);
    for (const SplitAxis split : {SplitAxis::kRows, SplitAxis::kChannels})
      Step(begin, end, from, left & ~set,
           {split, processors, SharesOf(model_.pool(), processors, 0, model_.layers().size())}, loads);
  }

  void Step(int begin, int end, const Placement& from, uint32_t left, const Placement& to,
            std::vector<ProcessorLoad> loads) {
    GroupCosts group(model_, end, to);
    while (group.begin() > begin) group.Prepend();
    for (const Transfer& t : group.Sent(HoldingsOf(model_, begin, from)).All())
      AddLoad(t, model_.pool(), loads);
    for (size_t k = 0; k < to.processors.size(); ++k)
      loads[size_t(to.processors[k])].compute_us += group.compute_us(k);
    Rest(end, to, left, loads);
  }

  void End(const Placement& from, std::vector<ProcessorLoad> loads) {
    const Exchange gather = GatherOf(model_, HoldingsOf(model_, model_.boundaries(), from));
    for (const Transfer& t : gather.All()) AddLoad(t, model_.pool(), loads);
    least_us_ = std::min(least_us_, mete::PeriodUs(model_.pool(), loads));
  }

  PoolModel model_;
  double least_us_ = std::numeric_limits<double>::infinity();
};

TEST(PlanPipeline, IsAsGoodAsTheBestOfAllPipelines) {
  int longer = 0, in_memory = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, int(seed % 8) + 1);
    if (LayersOf(random.graph).size() > 5) continue;
    const int processors = int(random.Pick(1, 4));
    PoolCosts pool = RandomPool(random, random.graph, processors, OfAWorker(seed, 200, processors));
    if (seed % 3 == 0 && pool.processors.size() > 2) {  // a kind with two processors
      const std::string name = pool.processors[2].name;
      pool.processors[2] = pool.processors[1];
      pool.processors[2].name = name;
    }
    for (ProcessorCosts& processor : pool.processors)
      processor.co_run.reset();  // the search looks away from it
    const Plan plan = PlanPipeline(random.graph, pool, std::numeric_limits<double>::infinity());
    EXPECT_NEAR(plan.period_us, AllPipelines(random.graph, pool).PeriodUs(), 1e-6 * plan.period_us)
        << ToText(random.graph);
    longer += plan.groups.size() > 1;
    in_memory += CountInMemory(random.graph, plan, pool);
  }
  EXPECT_GT(longer, 10);
  EXPECT_GT(in_memory, 10);
}

TEST(PlanPipeline, ProcessorsAlikeOnAFastNetworkTakeTheLayersInTurns) {
  const Graph graph = ChainOfConvolutions({1, 8, 32, 32}, 8);
  PoolCosts pool;
  const std::vector<LayerCost> layers(8, {1000, 500});  // any number of rows takes at least half of the time
  for (const char* name : {"a", "b", "c", "d"}) pool.processors.push_back({name, {1, 1, 1e5, 1e5}, layers});
  const Plan plan = PlanShortestPeriod(graph, pool);
  EXPECT_DOUBLE_EQ(plan.period_us, 2000);
  EXPECT_EQ(plan.groups.size(), 4u);
  EXPECT_GT(plan.predicted_us, 8000);
}

TEST(PlanPipeline, ManyProcessorsAreTakenByTeams) {
  const Graph graph = ChainOfConvolutions({1, 8, 64, 64}, 3);
  PoolCosts pool;
  for (int d = 0; d < 1000; ++d) {
    const double us = 900 + 10 * double(d / 250);
    pool.processors.push_back(
        {"d" + std::to_string(d), {1, 1, 1e5, 1e5}, std::vector<LayerCost>(3, {us, 0})});
  }
  const Plan plan = PlanPipeline(graph, pool, 3000);
  ASSERT_FALSE(plan.groups.empty());
  EXPECT_LT(plan.period_us, 500);
}

// A share of a tenth of two rows is no row.
TEST(ProcessorsOn, ADeviceThatAPlacementNamesIsOffWithoutAPart) {
  Builder b;
  b.Output(b.Conv(b.Input({1, 8, 2, 2}), 8, 8, 1, {0, 0, 0, 0}));
  InferShapes(b.graph);
  const LinkCosts link{1, 1, 10000, 10000};
  const PoolCosts pool{
      {{"caller", link, {{1000, 0}}, PowerCosts{1, 4}}, {"other", link, {{1000, 0}}, PowerCosts{1, 4}}}};
  PoolModel model(b.graph, pool);
  const auto on = [&](std::vector<double> shares) {
    const Placement placement{SplitAxis::kRows, {0, 1}, shares};
    GroupCosts group(model, 1, placement);
    group.Prepend();
    Plan plan;
    plan.groups.push_back(group.Describe(HoldingsOf(model, 0, WholeOn(0))));
    return ProcessorsOn(plan);
  };
  EXPECT_EQ(on({0.9, 0.1}), std::vector({0}));
  EXPECT_EQ(on({0.1, 0.9}), std::vector({0, 1})) << "the caller's own always is";
  EXPECT_EQ(on({0.5, 0.5}), std::vector({0, 1}));
}

TEST(PlanLeastEnergy, IsAsGoodAsTheBestOfAllPlans) {
  int shared = 0, named_only = 0, in_memory = 0;
  for (uint32_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, int(seed % 8) + 1);
    if (LayersOf(random.graph).size() > 4) continue;
    const int processors = int(random.Pick(1, 3));
    const PoolCosts pool = RandomPool(random, random.graph, processors, OfAWorker(seed, 300, processors));
    std::vector<Placement> placements = PlacementsOf(pool);
    std::shuffle(placements.begin() + 1, placements.end(), std::mt19937(seed));
    if (placements.size() > 6) placements.resize(6);
    const Plan plan = PlanLeastEnergy(random.graph, pool, placements);
    const double joules = JoulesOf(random.graph, plan, pool, plan.predicted_us);
    EXPECT_NEAR(joules, Exhaustive(random.graph, pool, placements).Joules(), 1e-6 * joules)
        << ToText(random.graph);
    shared += ProcessorsOn(plan).size() > 1;
    in_memory += CountInMemory(random.graph, plan, pool);
    std::set<int> named{0};
    for (const PlannedGroup& group : plan.groups)
      named.insert(group.placement.processors.begin(), group.placement.processors.end());
    named_only += named.size() > ProcessorsOn(plan).size();
  }
  EXPECT_GT(shared, 10);
  EXPECT_GT(in_memory, 0);
  EXPECT_GT(named_only, 3) << "placements name processors that are off";
}

TEST(PlanLeastEnergy, ADeviceThatIdlesTooMuchIsLeftOff) {
  Builder b;
  b.Output(b.Conv(b.Conv(b.Input({1, 8, 32, 32}), 8, 8, 3, {1, 1, 1, 1}), 8, 8, 3, {1, 1, 1, 1}));
  InferShapes(b.graph);
  const LinkCosts link{1, 1, 10000, 10000};
  PoolCosts pool{{{"caller", link, {{1000, 0}, {1000, 0}}, PowerCosts{1, 4}},
                  {"other", link, {{1000, 0}, {1000, 0}}, PowerCosts{10, 4}}}};
  const Plan alone = PlanPoolFor(PoolObjective::kEnergy, b.graph, pool);
  EXPECT_EQ(ProcessorsOn(alone), std::vector{0});
  EXPECT_DOUBLE_EQ(alone.joules, 2000e-6 * 5);
  EXPECT_EQ(ProcessorsOn(PlanPoolFor(PoolObjective::kLatency, b.graph, pool)).size(), 2u);
  pool.processors[1].power->idle_w = 0.1;
  EXPECT_EQ(ProcessorsOn(PlanPoolFor(PoolObjective::kEnergy, b.graph, pool)).size(), 2u);
  pool.processors[1].power.reset();
  EXPECT_TELLS(PlanPoolFor(PoolObjective::kEnergy, b.graph, pool), "[other] has no power figures");
  EXPECT_EQ(PlanPoolFor(PoolObjective::kLatency, b.graph, pool).joules, 0);
}

// While one request is on the first processor, another one is on the second.
TEST(RatePlan, RequestsSlowEachOther) {
  Builder b;
  const ValueId x = b.Input({1, 1, 16, 16});
  b.Output(b.Conv(b.Conv(x, 1, 1, 3, {1, 1, 1, 1}), 1, 1, 3, {1, 1, 1, 1}));
  InferShapes(b.graph);
  PoolCosts pool;
  for (const char* name : {"a", "b"})
    pool.processors.push_back({name, {0, 0, 1e9, 1e9}, {{100, 0}, {100, 0}}});
  PoolModel model(b.graph, pool);
  Plan plan = PlanOf(model, {{0, 1, WholeOn(0)}, {1, 2, WholeOn(1)}});
  RatePlan(plan, b.graph, pool);
  EXPECT_NEAR(plan.period_us, 100, 0.1);
  for (ProcessorCosts& processor : pool.processors) processor.co_run = CoRun{"chip", 1.25};
  RatePlan(plan, b.graph, pool);
  EXPECT_NEAR(plan.period_us, 125, 0.1);
  EXPECT_NEAR(plan.predicted_us, 200, 0.1);  // of one request
}

}  // namespace
}  // namespace mete
