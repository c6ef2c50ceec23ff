#include "plan/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/errors_testing.h"
#include "passes/pass.h"
#include "plan/pool/dynamic.h"
#include "plan/pool/exhaustive_testing.h"
#include "plan/pool/forks_testing.h"

namespace mete {
namespace {

Plan PlanOf(RandomGraph& random, uint32_t seed) {
  return PlanPool(random.graph, RandomPool(random, random.graph, int(seed % 3) + 1));
}

ThreadPlan OneThread(const Graph& graph) {
  return PlanOneCpu(graph, {"toy", {{"cluster0", {0}}}, 1 << 30}, {});
}

// The planners describe shares from the needs that they have traced; the verifier derives them from
// placements.
TEST(Plan, OfThePlannerHasTheSharesOfItsPlacementsAndSurvivesJson) {
  int divided = 0;
  for (uint32_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, int(seed % 12) + 1);
    const Plan plan = PlanOf(random, seed);
    ASSERT_NO_THROW(Verify(plan, random.graph)) << ToText(plan, random.graph);
    const std::string json = ToJson(plan, random.graph);
    const Plan again = PlanFromJson(json, random.graph);
    EXPECT_EQ(ToJson(again, random.graph), json);
    EXPECT_EQ(ToText(again, random.graph), ToText(plan, random.graph));
    for (const PlannedGroup& group : plan.groups) divided += group.shares.size() > 1;
  }
  EXPECT_GT(divided, 20);
}

TEST(Plan, WithBranchesSurvivesJson) {
  int branches = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomFork fork(seed);
    RandomGraph random(seed, 1);
    const Plan plan = PlanPool(fork.graph, RandomPool(random, fork.graph, 2 + int(seed % 2)));
    const std::string json = ToJson(plan, fork.graph);
    EXPECT_EQ(ToJson(PlanFromJson(json, fork.graph), fork.graph), json);
    for (const PlannedGroup& group : plan.groups) branches += group.placement.split == SplitAxis::kBranches;
  }
  EXPECT_GT(branches, 5);
}

TEST(PlanOnOne, HasTheThreadsOfItsStepsBeforeAndAfterAllPasses) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomGraph random(seed, int(seed % 12) + 1);
    if (seed % 2) RunPasses(random.graph);
    const Plan plan = PlanOnOne(random.graph, "cpu", OneThread(random.graph));
    const Plan again = PlanFromJson(ToJson(plan, random.graph), random.graph);
    ASSERT_EQ(again.groups.size(), 1u);
    ASSERT_TRUE(again.groups[0].shares.at(0).threads);
    EXPECT_EQ(again.groups[0].shares[0].threads->steps.size(), random.graph.nodes.size());
    EXPECT_EQ(ToText(again, random.graph), ToText(plan, random.graph));
  }
}

TEST(PlanOnOne, HasAShareWhereAllOutputsAreConstants) {
  Graph graph;
  graph.name = "constant";
  graph.outputs = {graph.AddConstant("c", Tensor::Floats({1}, std::vector<float>{3}))};
  const Plan plan = PlanOnOne(graph, "cpu", OneThread(graph));
  const std::string json = ToJson(plan, graph);
  EXPECT_EQ(ToJson(PlanFromJson(json, graph), graph), json);
}

TEST(PlanOnOne, OfSeveralProcessorsLeavesTheOthersWithoutAShare) {
  RandomGraph random(3, 6);
  const Plan plan = PlanOnOne(random.graph, {"home", "there"}, 1);
  Verify(plan, random.graph);
  EXPECT_EQ(UsedProcessors(plan), std::set{1});
}

TEST(CheckProcessors, TellsOfAPlanForAnotherPool) {
  Plan plan;
  plan.processors = {"cpu:0", "pi"};
  CheckProcessors(plan, {"cpu:0", "pi"});
  EXPECT_TELLS(
      CheckProcessors(plan, {"pi", "cpu:0"}),
      "[plan] is for another pool; got a plan for cpu:0, pi, expected one for pi, cpu:0; try to plan again");
}

class VerifyPlan : public testing::Test {
 protected:
  // Each way to spoil the plan is found, and named; the text of the spoilt plan is refused as well.
  template <class F>
  void ExpectBad(const F& spoil, const char* words) {
    Plan plan = good_;
    spoil(plan);
    EXPECT_TELLS(Verify(plan, random_.graph), words);
    EXPECT_THROW(PlanFromJson(ToJson(plan, random_.graph), random_.graph), Error) << words;
  }
  static Plan DividedPlan(RandomGraph& random) {
    Plan plan = PlanPool(random.graph, RandomPool(random, random.graph, 2));
    plan.groups = {{0, int(plan.layers.size()), {SplitAxis::kRows, {0, 1}, {0.5, 0.5}}, {}, 10}};
    DeriveShares(plan, random.graph);
    return plan;
  }

  RandomGraph random_{7, 6};
  const Plan good_ = DividedPlan(random_);
};

TEST_F(VerifyPlan, FindsEachMisuse) {
  Verify(good_, random_.graph);
  ExpectBad([](Plan& p) { p.processors.clear(); }, "[plan] processors; got none");
  ExpectBad([](Plan& p) { p.processors[1] = ""; }, "the name of processor 2 is empty");
  ExpectBad([](Plan& p) { p.processors[1] = p.processors[0]; }, "is named twice");
  ExpectBad([](Plan& p) { p.layers[0] += "?"; }, "is for another model");
  ExpectBad([](Plan& p) { p.layers.pop_back(); }, "is for another model");
  ExpectBad([](Plan& p) { p.groups.clear(); }, "groups must cover all layers");
  ExpectBad([](Plan& p) { --p.groups[0].last; }, "groups must cover all layers");
  ExpectBad([](Plan& p) { p.groups[0].first = 1; }, "groups must follow each other");
  ExpectBad([](Plan& p) { p.groups[0].last = 1 << 30; }, "groups must follow each other");
  ExpectBad([](Plan& p) { p.predicted_us = HUGE_VAL; }, "a predicted figure; got inf");
  ExpectBad([](Plan& p) { p.groups[0].us = -1; }, "[group 1] a predicted figure; got -1");
  ExpectBad([](Plan& p) { p.groups[0].shares[0].compute_us = -2; }, "a predicted figure; got -2");
  ExpectBad([](Plan& p) { p.groups[0].placement.processors = {1, 0}; }, "in ascending order");
  ExpectBad(
      [](Plan& p) {
        p.groups[0].placement.processors = {0, 2};
      },
      "names processor 2; expected numbers from 0 to 1");
  ExpectBad([](Plan& p) { p.groups[0].placement.shares = {0.5}; },
            "needs a share for each processor; got 1, expected 2");
  ExpectBad([](Plan& p) { p.groups[0].placement.shares = {0.5, 0.6}; }, "add up to 1.1; expected 1");
  ExpectBad([](Plan& p) { p.groups[0].placement.shares = {1.5, -0.5}; }, "has a share of 1.5");
  ExpectBad([](Plan& p) { p.groups[0].placement.split = SplitAxis::kNone; },
            "has 2 processors, expected one");
  ExpectBad([](Plan& p) { p.groups[0].placement.owners = {0}; }, "has owners of values");
  ExpectBad([](Plan& p) { p.groups[0].placement.split = SplitAxis::kBranches; }, "has shares; expected none");
  ExpectBad(
      [](Plan& p) {
        p.groups[0].placement = OwnedBy({0, 1, 0, 1, 0, 1});
      },
      "needs an owner of each live value");
  ExpectBad([](Plan& p) { p.groups[0].shares.pop_back(); }, "shares are not those of its placement");
  ExpectBad([](Plan& p) { p.groups[0].shares[0].outputs.clear(); }, "shares are not those of its placement");
}

TEST_F(VerifyPlan, ReportsAllProblemsAtOnce) {
  Plan plan = good_;
  plan.processors[1] = "";
  plan.gather_us = -1;
  EXPECT_TELLS(Verify(plan, random_.graph), "the name of processor 2 is empty");
  EXPECT_TELLS(Verify(plan, random_.graph), "a predicted figure; got -1");
}

// Whatever a byte is changed to, the text is a plan of this graph, or an Error.
TEST_F(VerifyPlan, TextSurvivesAnyOneByte) {
  const std::string json = ToJson(good_, random_.graph);
  int refused = 0;
  for (size_t i = 0; i < json.size(); ++i)
    for (const char byte : {'\0', '"', '{', '9', '-'}) {
      std::string bad = json;
      bad[i] = byte;
      try {
        Verify(PlanFromJson(bad, random_.graph), random_.graph);
      } catch (const Error&) {
        ++refused;
      }
    }
  EXPECT_GT(refused, int(json.size()));
}

TEST_F(VerifyPlan, TextRefusesWhatIsToBeAList) {
  for (const char* list : {"/processors", "/layers", "/groups", "/groups/0/parts", "/groups/0/shares"}) {
    nlohmann::json j = nlohmann::json::parse(ToJson(good_, random_.graph));
    const nlohmann::json::json_pointer at(list);
    const nlohmann::json first = j.at(at)[0];
    for (const nlohmann::json& bad : {first, nlohmann::json{{"a", first}}, nlohmann::json()}) {
      j[at] = bad;
      EXPECT_TELLS(PlanFromJson(j.dump(), random_.graph), at.back() + " must be a list") << bad;
    }
  }
}

TEST_F(VerifyPlan, TextThatIsNoPlanIsRefused) {
  for (const char* text : {"", "{", "[]", "{}", "{\"format\":\"mete-plan\",\"version\":1}",
                           "{\"format\":\"mete-plan\",\"version\":2,\"model\":3}",
                           "{\"format\":\"mete-plan\",\"version\":2,\"model\":{\"bytes\":3}}"})
    EXPECT_TELLS(PlanFromJson(text, random_.graph), "try what --save-plan writes") << text;
}

}  // namespace
}  // namespace mete
