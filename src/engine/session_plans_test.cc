#include <gtest/gtest.h>

#include <string>

#include "engine/model.h"
#include "engine/session_testing.h"
#include "kernels/fast/winograd/winograd.h"

namespace mete {
namespace {

TEST_F(SessionTest, APlanSurvivesItsJson) {
  Session first(model_, SessionOptions::Estimated(2));
  const std::string json = first.PlanJson();
  Session second(model_, {.plan_json = json});
  EXPECT_EQ(second.PlanJson(), json);
  EXPECT_EQ(second.stats().threads, 2);
  EXPECT_EQ(Run(second, 0.02f), Run(first, 0.02f));
  EXPECT_FALSE(second.Explain().empty());
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST_F(SessionTest, BadPlansAreRejected) {
  const std::string good = Session(model_, SessionOptions::Estimated()).PlanJson();
  const std::string bad[] = {
      "{}",
      "not json",
      good.substr(0, good.size() / 2),
      Replaced(good, "\"version\": 2", "\"version\": 1"),
      Replaced(good, "\"threads\": 1", "\"threads\": 0"),
      Replaced(good, "\"threads\": 1", "\"threads\": 1000000"),
      Replaced(good, "\"threads\": 1", "\"threads\": \"one\""),
      Replaced(good, "\"cores\": []", "\"cores\": [99999]"),
      Replaced(good, "\"node\": \"", "\"node\": \"another "),
      Replaced(good, "\"split\": \"none\"", "\"split\": \"diagonal\""),
      Replaced(good, "\"cpu\"", "\"abacus\""),
      Replaced(good, "\"first\": 0", "\"first\": 1"),
      Replaced(good, "\"bytes\": 0", "\"bytes\": -1"),
      Replaced(good, "\"policy\": \"adaptive\"", "\"policy\": \"lottery\""),
  };
  for (const std::string& json : bad) EXPECT_THROW(Session(model_, {.plan_json = json}), Error) << json;
}

TEST_F(SessionTest, APlanForAPoolIsRejectedWithItsProcessors) {
  const std::string json =
      Replaced(Session(model_, SessionOptions::Estimated()).PlanJson(), "\"cpu\"", "\"cpu:0\", \"pi\"");
  EXPECT_TRUE(MessageOf([&] {
                Session(model_, {.plan_json = json});
              }).starts_with("[plan] is for another pool; got a plan for cpu:0, pi, expected one for cpu;"));
}

TEST_F(SessionTest, APlanOfAnotherModelIsRejected) {
  const ModelFile other(NonZeroNet());
  const std::string json = Session(Model::Load(other.path()), SessionOptions::Estimated()).PlanJson();
  EXPECT_THROW(Session(model_, {.plan_json = json}), Error);
}

TEST_F(SessionTest, WhatIsMeasuredIsKeptForTheNextSession) {
  const TempPath cache;
  Session plain(model_, SessionOptions::Estimated());
  const std::vector<float> want = Run(plain, 0.02f);
  EXPECT_EQ(plain.Explain().find("tuned"), std::string::npos);
  for (const bool known : {false, true}) {
    Session wide(WideNet(WideOutput::kFloat), {.tune = Tune::kBefore, .tuning_cache = cache.str()});
    const std::string explained = wide.Explain();
    EXPECT_NE(explained.find("tuned: "), std::string::npos);
    EXPECT_EQ(explained.find("tuned: 0 candidates measured by this session") != std::string::npos, known)
        << explained;
    Session small(model_, {.tune = Tune::kBefore, .tuning_cache = cache.str()});
    ExpectNear(Run(small, 0.02f), want);
  }
}

// Runs with time to measure, until nothing is left.
void RunUntilSettled(Session& session, const Tensor& input) {
  while (!session.settled()) session.Run({input});
}

TEST_F(SessionTest, AnswersFirstAndSettlesBetweenItsRuns) {
  const TempPath cache;
  const Model model = WideNet(WideOutput::kFloat);
  const Tensor input = Ramp(model.inputs()[0].shape, 0.01f);
  Session estimated(model, SessionOptions::Estimated());
  const std::vector<float> first = Values(estimated.Run({input})[0]);
  {
    Session once(model, {.threads = 1, .tuning_cache = cache.str(), .profile_cache = ""});
    EXPECT_FALSE(once.settled());
    EXPECT_EQ(Values(once.Run({input})[0]), first) << "the kernels of the estimate";
    EXPECT_FALSE(once.settled());
    EXPECT_NE(once.Explain().find("still computed by estimate"), std::string::npos);
  }
  EXPECT_FALSE(std::filesystem::exists(cache.str() + "/tuning")) << "one run measures nothing";
  Session session(model, {.threads = 1, .tuning_cache = cache.str(), .profile_cache = ""});
  RunUntilSettled(session, input);
  EXPECT_EQ(session.Explain().find("by estimate"), std::string::npos) << session.Explain();
  const std::vector<float> settled = Values(session.Run({input})[0]);
  EXPECT_EQ(Values(session.Run({input})[0]), settled) << "the bits stay";
  Session next(model,
               {.threads = 1, .tune = Tune::kBefore, .tuning_cache = cache.str(), .profile_cache = ""});
  EXPECT_TRUE(next.settled());
  EXPECT_NE(next.Explain().find("tuned: 0 candidates measured"), std::string::npos) << "the times were kept";
  EXPECT_EQ(Values(next.Run({input})[0]), settled) << "the same kernels as measured before";
}

TEST_F(SessionTest, SettlesAtOnceWhenAsked) {
  const TempPath cache;
  for (const int threads : {1, 2}) {
    SCOPED_TRACE(threads);
    Session session(WideNet(WideOutput::kFloat),
                    {.threads = threads, .tuning_cache = cache.str(), .profile_cache = ""});
    EXPECT_FALSE(session.settled());
    session.Settle();
    EXPECT_TRUE(session.settled());
    EXPECT_EQ(session.Explain().find("by estimate"), std::string::npos) << session.Explain();
    Session known(WideNet(WideOutput::kFloat),
                  {.threads = threads, .tuning_cache = cache.str(), .profile_cache = ""});
    EXPECT_TRUE(known.settled());
    EXPECT_EQ(known.stats().packed_bytes, session.stats().packed_bytes);
  }
}

TEST_F(SessionTest, OtherWorkMayComeBetweenTheStepsInWhichItSettles) {
  Session session(WideNet(WideOutput::kFloat), {.threads = 1, .tuning_cache = "", .profile_cache = ""});
  int pauses = 0;
  const auto stopped = [&]() -> bool {
    if (++pauses == 3) throw Error(Code::kCancelled, "stopped");
    return true;
  };
  EXPECT_THROW(session.Settle(stopped), Error);
  EXPECT_EQ(pauses, 3);
  EXPECT_FALSE(session.settled());
  session.Settle([&] { return ++pauses % 2 == 0; });
  EXPECT_GT(pauses, 6);
  EXPECT_TRUE(session.settled());
}

// Returns how far two kernels' outputs of OpenWideNet's convolution may be from each other: each is within
// its own stated bound of the exact sum, and of these bounds that of the largest Winograd tile is the
// largest. No input is above `input`.
double MostBetweenKernels(double input) {
  const std::string raw = Weights(32 * 32 * 9);
  const auto* weights = reinterpret_cast<const float*>(raw.data());
  double most = 0;
  for (size_t c = 0; c < 32; ++c) {
    std::array<double, 9> magnitudes{};
    for (size_t i = 0; i < 32 * 9; ++i) magnitudes[i % 9] += std::abs(double(weights[c * 32 * 9 + i]));
    most = std::max(most, WinogradLevels(6, 32, input, magnitudes, 1));
  }
  return 2 * most;
}

TEST_F(SessionTest, OtherShapesTakeTheMeasuredKernels) {
  Session session(OpenWideNet(), {.threads = 1, .tuning_cache = "", .profile_cache = ""});
  const Tensor other = Ramp({2, 32, 40, 40}, 0.02f);
  const std::vector<float> before = Values(session.Run({other})[0]);
  ASSERT_FALSE(session.settled());
  const int64_t planned = session.shape_stats().planned;
  session.Settle();
  const std::vector<float> after = Values(session.Run({other})[0]);
  ASSERT_EQ(after.size(), before.size());
  const double most = MostBetweenKernels(48 * 0.02);
  for (size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(after[i], before[i], most) << i;
  EXPECT_EQ(session.shape_stats().planned, planned + 1) << "made again, by the measured kernels";
  session.Run({other});
  EXPECT_EQ(session.shape_stats().planned, planned + 1);
}

}  // namespace
}  // namespace mete
