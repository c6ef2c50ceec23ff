#include "plan/threads/thread_plan_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/errors_testing.h"
#include "base/json.h"

namespace mete {
namespace {

Graph TwoNodes() {
  Graph g;
  g.name = "two";
  const ValueId x = g.AddValue("x", DType::kF32, {2}), y = g.AddValue("y", DType::kF32, {2}),
                z = g.AddValue("z", DType::kF32, {2});
  g.inputs = {x};
  g.AddNode("Relu", "first", {x}, {y});
  g.AddNode("Exp", "second", {y}, {z});
  g.outputs = {z};
  return g;
}

// A plan's text and what is read from it: the JSON of a plan (plan/plan_json.cc) has one for each share.
std::string TextOf(const ThreadPlan& plan) { return JsonText(ThreadPlanJson(plan), 2); }
ThreadPlan PlanOf(const std::string& text) { return ThreadPlanFromJson(ParseJson(text, "plan")); }

Machine TwoCores() { return {"toy", {{"cluster0", {0, 1}}}, 1 << 30}; }

TEST(PlanOneCpu, GivesEveryNodeAStepAndAReason) {
  const ThreadPlan plan = PlanOneCpu(TwoNodes(), TwoCores(), {});
  EXPECT_EQ(plan.threads, 2);
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_FALSE(plan.steps[1].reason.empty());
  Verify(plan, TwoNodes(), TwoCores());
}

TEST(PlanOneCpu, TheFastestCoreIsTheCallingThreads) {
  const ThreadPlan plan = PlanOneCpu(TwoNodes(), TwoCores(), {2, {0, 1}, {0.4, 1}, "adaptive"});
  EXPECT_EQ(plan.cores, (std::vector<int>{1, 0}));
  EXPECT_EQ(plan.speeds, (std::vector<double>{1, 0.4}));
}

TEST(PlanOneCpu, KnowsTheCoresCapacities) {
  Machine machine{"big.LITTLE", {{"cluster0", {2, 3}}, {"cluster1", {0, 1}}}, 1 << 30};
  machine.clusters[1].capacity = 0.4;
  machine.clusters[1].core = "Cortex-A53";
  const ThreadPlan plan = PlanOneCpu(TwoNodes(), machine, {3, {0, 2, 3}, {}, "adaptive"});
  EXPECT_EQ(plan.cores, (std::vector<int>{2, 3, 0}));
  const std::vector<WorkerSpeed> workers = WorkersOf(plan, machine);
  ASSERT_EQ(workers.size(), 3u);
  EXPECT_EQ(workers[1].speed, 1);
  EXPECT_EQ(workers[1].cluster, workers[0].cluster);
  EXPECT_EQ(workers[2].speed, 0.4);
  EXPECT_NE(workers[2].cluster, workers[0].cluster);
  EXPECT_FALSE(workers[1].in_order);
  EXPECT_TRUE(workers[2].in_order);
}

TEST(ThreadPlan, SurvivesJson) {
  const ThreadPlan plan = PlanOneCpu(TwoNodes(), TwoCores(), {2, {1, 0}, {1, 0.4}, "adaptive"});
  const ThreadPlan again = PlanOf(TextOf(plan));
  EXPECT_EQ(TextOf(again), TextOf(plan));
}

TEST(ThreadPlan, PrecisionsSurviveJson) {
  ThreadPlan plan = PlanOneCpu(TwoNodes(), TwoCores(), {2});
  plan.steps[1].precision = "bf16";
  const ThreadPlan again = PlanOf(TextOf(plan));
  EXPECT_EQ(again.steps[0].precision, plan.steps[0].precision);
  EXPECT_EQ(again.steps[1].precision, "bf16");
}

TEST(ThreadPlan, PredictionsSurviveJson) {
  ThreadPlan plan = PlanOneCpu(TwoNodes(), TwoCores(), {2});
  plan.steps[1].threads = 1;
  plan.steps[1].predicted_us = 12.25;
  plan.steps[1].blocks = {7};
  plan.steps[1].rejected = {{"big 2", 13.5, "slower"}, {"big 1 + little 1", 99, "slower \xff"}};
  const ThreadPlan again = PlanOf(TextOf(plan));
  Verify(again, TwoNodes(), TwoCores());
  EXPECT_EQ(again.steps[1].predicted_us, 12.25);
  EXPECT_EQ(again.steps[1].blocks, std::vector<int64_t>{7});
  EXPECT_EQ(again.steps[1].all_blocks(), 7);
  ASSERT_EQ(again.steps[1].rejected.size(), 2u);
  EXPECT_EQ(again.steps[1].rejected[0].choice, "big 2");
  EXPECT_EQ(again.steps[1].rejected[1].predicted_us, 99);
  EXPECT_TRUE(again.steps[0].rejected.empty());
}

TEST(ThreadPlan, NamesOfAnyBytesSurviveJson) {
  Graph graph = TwoNodes();
  graph.nodes[0].name = "caf\xc3\xa9";       // UTF-8
  graph.nodes[1].name = "caf\xe9 \xc3\x01";  // Latin-1, and half a character
  const ThreadPlan plan = PlanOf(TextOf(PlanOneCpu(graph, TwoCores(), {2})));
  Verify(plan, graph, TwoCores());
}

TEST(ThreadPlanFromJson, RefusesNumbersOfAnotherKind) {
  ThreadPlan plan = PlanOneCpu(TwoNodes(), TwoCores(), {2});
  plan.steps[0].predicted_us = 1;
  plan.steps[0].blocks = {333, 3};
  const std::string json = TextOf(plan);
  for (const char* number : {"1e300", "3.5", "\"x\"", "[]", "null", "18446744073709551616"}) {
    std::string bad = json;
    bad.replace(bad.find("333"), 3, number);
    EXPECT_THROW(PlanOf(bad), Error) << number;
    bad = json;
    bad.replace(bad.find("\"threads\": 2"), 12, std::string("\"threads\": ") + number);
    EXPECT_THROW(PlanOf(bad), Error) << number;
  }
}

TEST(ThreadPlanFromJson, NamesANumberThatIsTooLarge) {
  ThreadPlan plan = PlanOneCpu(TwoNodes(), TwoCores(), {2});
  plan.steps[0].predicted_us = 1;
  plan.steps[0].blocks = {333, 3};
  std::string json = TextOf(plan);
  json.replace(json.find("333"), 3, "9223372036854775808");
  EXPECT_TELLS(PlanOf(json), "[plan] blocks is out of range; got 9223372036854775808, expected");
}

TEST(ThreadPlanFromJson, RefusesOneOfWhatIsToBeAList) {
  ThreadPlan plan = PlanOneCpu(TwoNodes(), TwoCores(), {2, {0, 1}});
  plan.steps[0].predicted_us = 1;
  plan.steps[0].blocks = {333};
  plan.steps[0].rejected = {{"big 1", 2, "slower"}};
  for (const char* list : {"/cores", "/steps", "/steps/0/blocks", "/steps/0/rejected"}) {
    nlohmann::json j = nlohmann::json::parse(TextOf(plan));
    const nlohmann::json::json_pointer at(list);
    const nlohmann::json first = j.at(at)[0];
    for (const nlohmann::json& bad : {first, nlohmann::json{{"a", first}}, nlohmann::json()}) {
      j[at] = bad;
      EXPECT_TELLS(PlanOf(j.dump()), at.back() + " must be a list") << bad;
    }
  }
}

TEST(ThreadPlanFromJson, RefusesWhatIsNestedTooDeep) {
  ThreadPlan plan = PlanOneCpu(TwoNodes(), TwoCores(), {2});
  plan.steps[0].predicted_us = 1;
  plan.steps[0].blocks = {333};
  std::string json = TextOf(plan);
  json.replace(json.find("333"), 3, std::string(1'000'000, '[') + std::string(1'000'000, ']'));
  EXPECT_TELLS(PlanOf(json), "[plan] lists and objects are nested too deep");
}

// Whatever a byte is changed to, it is a plan, which then may be a bad one, or an Error.
TEST(ThreadPlanFromJson, SurvivesAnyOneByte) {
  ThreadPlan plan = PlanOneCpu(TwoNodes(), TwoCores(), {2, {0, 1}});
  plan.steps[0].predicted_us = 1;
  plan.steps[0].blocks = {333, 3};
  plan.steps[0].rejected = {{"big 1", 2, "slower"}};
  const std::string json = TextOf(plan);
  int refused = 0;
  for (size_t i = 0; i < json.size(); ++i)
    for (const char byte : {'\0', '"', '{', ']', ',', '9', '-', 'e', '\xff'}) {
      std::string bad = json;
      bad[i] = byte;
      try {
        Verify(PlanOf(bad), TwoNodes(), TwoCores());
      } catch (const Error&) {
        ++refused;
      } catch (const nlohmann::json::exception&) {
        ++refused;
      }
    }
  EXPECT_GT(refused, int(json.size()));
}

// Each way to spoil a plan is found, and named.
void ExpectBad(void (*spoil)(ThreadPlan&), const char* words) {
  ThreadPlan plan = PlanOneCpu(TwoNodes(), TwoCores(), {2});
  spoil(plan);
  try {
    Verify(plan, TwoNodes(), TwoCores());
    ADD_FAILURE() << "accepted: " << words;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

TEST(VerifyPlan, FindsEachMisuse) {
  ExpectBad([](ThreadPlan& p) { p.threads = 0; }, "threads");
  ExpectBad([](ThreadPlan& p) { p.steps.pop_back(); }, "a step for each node");
  ExpectBad([](ThreadPlan& p) { p.steps[0].node = "other"; }, "another node");
  ExpectBad([](ThreadPlan& p) { p.steps[0].policy = "magic"; }, "unknown policy");
  ExpectBad([](ThreadPlan& p) { p.steps[0].threads = 3; }, "got 3, expected 1 to the plan's 2");
  ExpectBad([](ThreadPlan& p) { p.steps[0].threads = 0; }, "got 0, expected 1 to");
  ExpectBad([](ThreadPlan& p) { p.steps[0].predicted_us = -1; }, "a predicted time");
  ExpectBad([](ThreadPlan& p) { p.steps[0].predicted_us = HUGE_VAL; }, "a predicted time");
  ExpectBad([](ThreadPlan& p) { p.steps[0].blocks = {3, -1}; }, "got -1");
  ExpectBad([](ThreadPlan& p) { p.steps[0].blocks = {3, INT64_MAX}; }, "blocks of a thread");
  ExpectBad([](ThreadPlan& p) { p.steps[0].blocks = {3}; },
            "the blocks of each of its threads; got 1, expected 2");
  ExpectBad([](ThreadPlan& p) { p.steps[0].rejected.resize(kMostRejected + 1); }, "rejected choices; got 17");
  ExpectBad([](ThreadPlan& p) { p.steps[0].rejected = {{"big 1", NAN, ""}}; }, "rejected 'big 1'");
  ExpectBad([](ThreadPlan& p) { p.cores = {0, 9}; }, "core 9");
  ExpectBad([](ThreadPlan& p) { p.cores = {0}; }, "a core for each thread");
  ExpectBad([](ThreadPlan& p) { p.steps[0].policy = "equal"; }, "one policy serves all steps");
  ExpectBad([](ThreadPlan& p) { p.speeds = {1}; }, "a speed for each thread");
  ExpectBad([](ThreadPlan& p) { p.speeds = {1, 0}; }, "an emulated speed");
  ExpectBad([](ThreadPlan& p) { p.speeds = {1e-300, 1}; }, "an emulated speed");
  ExpectBad([](ThreadPlan& p) { p.speeds = {1.5, 1}; }, "an emulated speed");
}

TEST(VerifyPlan, AStepMayLeaveThreadsOut) {
  ThreadPlan plan = PlanOneCpu(TwoNodes(), TwoCores(), {2});
  plan.steps[1].threads = 1;
  Verify(plan, TwoNodes(), TwoCores());
}

TEST(VerifyPlan, ReportsAllProblemsAtOnce) {
  ThreadPlan plan = PlanOneCpu(TwoNodes(), TwoCores(), {2});
  plan.steps[0].policy = "magic";
  plan.steps[1].threads = 0;
  try {
    Verify(plan, TwoNodes(), TwoCores());
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("[first]"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("[second]"), std::string::npos);
  }
}

}  // namespace
}  // namespace mete
