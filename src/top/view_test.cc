#include "top/view.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/json.h"
#include "top/history.h"

namespace mete::top {
namespace {

Latencies Times(double fast, double slow) {
  return {{0.01, 0.1, std::numeric_limits<double>::infinity()}, {fast, fast + slow, fast + slow}, fast};
}

Figures At(double s, double answered, double failed, double busy_s) {
  Figures figures{.at_s = s, .source = "server", .cpu_s = busy_s * 2};
  figures.models.push_back({.name = "net",
                            .version = "1",
                            .answered = answered,
                            .failed = failed,
                            .latencies = Times(answered / 2, answered / 2),
                            .waiting = 3});
  figures.processors.push_back({.name = "cpu:0", .busy_s = busy_s, .predicted_s = 0.01});
  return figures;
}

TEST(CompareTest, MakesRatesOfTheInterval) {
  const View view = Compare(At(10, 100, 5, 7), At(12, 140, 6, 8));
  EXPECT_EQ(view.interval_s, 2);
  ASSERT_EQ(view.models.size(), 1u);
  EXPECT_EQ(view.models[0].name, "net 1");
  EXPECT_EQ(view.models[0].requests_per_s, 20);
  EXPECT_EQ(view.models[0].failed_per_s, 0.5);
  EXPECT_EQ(view.models[0].failed, 6);
  EXPECT_EQ(view.models[0].waiting, 3);
  EXPECT_DOUBLE_EQ(view.models[0].median->s, 0.01);
  EXPECT_NEAR(view.models[0].high->s, 0.1, 0.002);
  EXPECT_EQ(view.processors[0].busy, 0.5);
  EXPECT_EQ(view.processors[0].measured_s, 1.0 / 40);
  EXPECT_EQ(view.cpu_cores, 1);
}

TEST(CompareTest, OnePollHasNoRates) {
  const View view = FirstView(At(10, 100, 5, 7));
  EXPECT_FALSE(view.models[0].requests_per_s);
  EXPECT_FALSE(view.models[0].median);
  EXPECT_FALSE(view.processors[0].busy);
  EXPECT_EQ(view.models[0].failed, 5);
}

TEST(CompareTest, ASourceThatBeganAnewHasNoRates) {
  const View view = Compare(At(10, 100, 5, 7), At(11, 3, 0, 0.1));
  EXPECT_FALSE(view.models[0].requests_per_s);
  EXPECT_FALSE(view.models[0].failed_per_s);
  EXPECT_FALSE(view.models[0].median);
  EXPECT_FALSE(view.processors[0].busy);
  EXPECT_FALSE(view.cpu_cores);
}

TEST(CompareTest, UnknownFiguresHaveNoRates) {
  Figures now = At(11, 120, 5, 7);
  now.models[0].answered = std::nullopt;
  now.processors[0].busy_s = std::nullopt;
  const View view = Compare(At(10, 100, 5, 7), now);
  EXPECT_FALSE(view.models[0].requests_per_s);
  EXPECT_FALSE(view.processors[0].busy);
}

TEST(CompareTest, PollsAtOneTimeDivideByNothing) {
  EXPECT_FALSE(Compare(At(10, 100, 5, 7), At(10, 120, 5, 8)).models[0].requests_per_s);
  EXPECT_FALSE(Compare(At(10, 100, 5, 7), At(9, 120, 5, 8)).models[0].requests_per_s);
}

TEST(CompareTest, AVersionThatIsNewHasCountedFromNothing) {
  Figures before = At(10, 100, 5, 7);
  before.models.clear();
  const View view = Compare(before, At(12, 40, 2, 8));
  EXPECT_EQ(view.models[0].requests_per_s, 20);
  EXPECT_EQ(view.models[0].failed_per_s, 1);
  EXPECT_TRUE(view.models[0].median);
}

TEST(CompareTest, WorkThatBeganEarlierMakesNoProcessorMoreThanBusy) {
  EXPECT_EQ(Compare(At(10, 100, 5, 7), At(11, 101, 5, 12)).processors[0].busy, 1);
}

TEST(CompareTest, DriftIsWhatTheMeasuredTimeIsMore) {
  ModelRow row{.name = "net", .predicted_s = 0.5, .measured_s = 0.75};
  EXPECT_DOUBLE_EQ(*row.drift(), 0.5);
  row.predicted_s = 0;
  EXPECT_FALSE(row.drift());
}

TEST(JsonTest, HasUnknownFiguresAsNull) {
  const nlohmann::ordered_json json = JsonOf(FirstView(At(10, 100, 5, 7)));
  EXPECT_TRUE(json["models"][0]["requests_per_s"].is_null());
  EXPECT_EQ(json["models"][0]["waiting"], 3);
  EXPECT_TRUE(json["silent_s"].is_null());
  EXPECT_EQ(JsonText(json, -1).find('\n'), std::string::npos);
}

TEST(LineTest, IsOneLineWithoutControlCharacters) {
  Figures now = At(12, 140, 6, 8);
  now.models[0].name = "net\n\x1b[31m";
  const std::string line = LineOf(Compare(At(10, 100, 5, 7), now));
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
}

TEST(HistoryTest, SaysSinceWhenThereIsNoAnswer) {
  History history;
  history.Answered(At(10, 100, 5, 7));
  history.Answered(At(11, 120, 5, 7.5));
  EXPECT_FALSE(history.ViewAt(11).silent_s);
  history.Failed("[server] nobody listens", 12);
  history.Failed("[server] no answer", 13);
  const View view = history.ViewAt(15);
  EXPECT_EQ(view.silent_s, 4) << "since the last answer";
  EXPECT_EQ(view.problem, "[server] no answer");
  EXPECT_EQ(view.models[0].requests_per_s, 20) << "the rest is that of the last answer";
  EXPECT_TRUE(history.silent());
}

TEST(HistoryTest, GoesOnWhenTheSourceAnswersAgain) {
  History history;
  history.Answered(At(10, 100, 5, 7));
  history.Failed("[server] nobody listens", 11);
  history.Answered(At(20, 10, 0, 1));  // it was started anew
  EXPECT_FALSE(history.ViewAt(20).silent_s);
  EXPECT_EQ(history.ViewAt(20).problem, "");
  EXPECT_FALSE(history.ViewAt(20).models[0].requests_per_s);
  history.Answered(At(21, 30, 0, 1.25));
  EXPECT_EQ(history.ViewAt(21).models[0].requests_per_s, 20);
}

}  // namespace
}  // namespace mete::top
