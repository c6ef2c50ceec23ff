#include "processor/tuning/tuner.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temp_path_testing.h"

namespace mete {
namespace {

const std::vector<std::string> kNames{"plain", "clever", "odd"};

Trial Never(size_t) {
  ADD_FAILURE() << "measured though it was known";
  return {[] { return 1; }};
}

// Makes trials whose calls take the times `us`.
MakeTrial Taking(std::vector<double> us) {
  return [us](size_t i) { return Trial{[=] { return us[i]; }}; };
}

std::string Fill(const std::string& path, double first = 5) {
  Tuner tuner(path);
  tuner.Times("a shape", kNames, Taking({first, first + 1, first + 2}));
  tuner.Save();
  return tuner.note();
}

TEST(Tuner, MeasuresOnceAndRemembersInTheFile) {
  const TempPath temp;
  const std::string path = temp.str() + "/folder/times.json";
  EXPECT_EQ(Fill(path), "");
  Tuner again(path);
  const auto times = again.Times("a shape", {"odd", "plain"}, Never);
  EXPECT_EQ(times[0].name, "odd");
  EXPECT_EQ(times[0].us, 7);
  EXPECT_EQ(times[1].us, 5);
  EXPECT_EQ(again.measured(), 0);
  again.Times("a shape", {"plain", "new"}, [](size_t i) {
    EXPECT_EQ(i, 1u);
    return Trial{[] { return 1; }};
  });
  again.Times("another shape", {"plain"}, Taking({1}));
  EXPECT_EQ(again.measured(), 2);
}

TEST(Tuner, ADisturbanceOfAllFirstCallsDoesNotDecide) {
  Tuner tuner("");
  int calls = 0;
  const auto times = tuner.Times("a shape", kNames, [&](size_t i) {
    return Trial{[&calls, i] { return i == 0 && ++calls <= 6 ? 50.0 : 5.0 + double(i); }};
  });
  EXPECT_EQ(times[0].us, 5);
  EXPECT_EQ(times[1].us, 6);
}

TEST(Tuner, KeepsWhatOthersWroteMeanwhile) {
  const TempPath temp;
  Tuner first(temp.str()), second(temp.str());
  first.Times("one", {"x"}, Taking({1}));
  second.Times("two", {"x"}, Taking({2}));
  first.Save();
  second.Save();
  Tuner third(temp.str());
  EXPECT_EQ(third.Times("one", {"x"}, Never)[0].us, 1);
  EXPECT_EQ(third.Times("two", {"x"}, Never)[0].us, 2);
}

TEST(Tuner, ADamagedFileIsToldAndWrittenAgain) {
  const TempPath good;
  Fill(good.str());
  std::string text;
  std::getline(std::ifstream(good.str()), text, '\0');
  for (const std::string& bad :
       {std::string(), text.substr(0, text.size() / 2), std::string("[1, 2]"),
        std::string("{\"format\": \"mete tuning 0\"}"),
        std::string("{\"format\": \"mete tuning 1\", \"times\": {\"a shape\": {\"plain\": \"fast\"}}}"),
        std::string(100000, '['),
        "{\"format\": " + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}",
        std::string("\xff\xfe\0 no text", 11)}) {
    const TempPath temp;
    std::ofstream(temp.str(), std::ios::binary) << bad;
    Tuner tuner(temp.str());
    EXPECT_NE(tuner.note().find("no file of tuned times"), std::string::npos) << bad.substr(0, 40);
    EXPECT_EQ(tuner.Times("a shape", kNames, Taking({3, 3, 3}))[0].us, 3);
    tuner.Save();
    Tuner again(temp.str());
    EXPECT_EQ(again.note(), "");
    EXPECT_EQ(again.Times("a shape", kNames, Never)[0].us, 3);
  }
}

TEST(Tuner, TimesThatCannotBeAreMeasuredAgain) {
  const TempPath temp;
  std::ofstream(temp.str())
      << R"({"format": "mete tuning 1", "times": {"a shape": {"plain": 0, "clever": -4, "odd": 2}}})";
  Tuner tuner(temp.str());
  tuner.Times("a shape", kNames, Taking({1, 1, 1}));
  EXPECT_EQ(tuner.measured(), 2);
}

TEST(Tuner, AFolderThatCannotBeMadeIsTold) {
  const TempPath file;
  std::ofstream(file.str()) << "a file, no folder";
  EXPECT_NE(Fill(file.str() + "/times.json").find("cannot be written"), std::string::npos);
}

TEST(Choose, TakesTheGuessUnlessAnotherIsClearlyFaster) {
  EXPECT_EQ(Choose(nullptr, "k", kNames, Never).index, 0u);
  EXPECT_EQ(Choose(nullptr, "k", kNames, Never).why, "by estimate, before clever; odd");
  EXPECT_EQ(Choose(nullptr, "k", {"plain"}, Never).why, "");
  const auto chosen = [](double plain, double clever, double odd) {
    Tuner tuner;
    return Choose(&tuner, "k", kNames, Taking({plain, clever, odd}));
  };
  EXPECT_EQ(chosen(100, 99, 101).index, 0u);
  EXPECT_EQ(chosen(100, 90, 80).index, 2u);
  EXPECT_EQ(chosen(100, 80, 90).index, 1u);
  EXPECT_EQ(chosen(100, 80, 90).why, "clever measured 80.0 us; odd 90.0; plain 100.0");
}

// A load on the machine lasts for some calls and then ends. If candidates were measured one after the other,
// all calls of one candidate could fall into it.
TEST(Tuner, ADisturbanceMeetsAllCandidatesAndChangesNoChoice) {
  const std::vector<double> us{1000, 800, 900};
  for (int begin = 0; begin < 12; ++begin) {  // in calls; at least twelve are made
    Tuner tuner;
    int calls = 0;
    const Choice choice = Choose(&tuner, "k", kNames, [&](size_t i) {
      return Trial{[&, i] {
        const bool disturbed = calls >= begin && calls < begin + 5;
        ++calls;
        return disturbed ? 2 * us[i] : us[i];
      }};
    });
    EXPECT_EQ(choice.index, 1u) << "from call " << begin;
    EXPECT_EQ(choice.why, "clever measured 800.0 us; odd 900.0; plain 1000.0") << "from call " << begin;
  }
}

TEST(Tuner, ShortCallsAreRepeatedMoreOftenThanLongOnes) {
  const auto calls = [](std::vector<double> us) {
    Tuner tuner;
    int n = 0;
    tuner.Times("k", kNames, [&](size_t i) {
      return Trial{[&, i] {
        ++n;
        return us[i];
      }};
    });
    return n;
  };
  EXPECT_EQ(calls({1e6, 1e6, 1e6}), 3 * 4);
  EXPECT_EQ(calls({200, 200, 200}), 3 * 5);
  EXPECT_EQ(calls({1, 1, 1}), 3 * 10);
  EXPECT_EQ(calls({1, 1.1, 2}), 10 + 10 + 4) << "the last one cannot win";
  EXPECT_EQ(calls({1.1, 1, 2}), 10 + 10 + 4 + 2 * 10)
      << "the second does, so it is measured beside the first once more";
}

// The memory of one node's candidates is bounded: those that exist at one time hold kTogether bytes and one
// candidate more at most.
TEST(Tuner, LargeCandidatesAreMeasuredInGroups) {
  const auto most = [](int64_t each) {
    const auto held = std::make_shared<int64_t>(0);
    int64_t greatest = 0;
    Tuner tuner;
    const auto times = tuner.Times("k", kNames, [&](size_t i) {
      *held += each;
      greatest = std::max(greatest, *held);
      const std::shared_ptr<int64_t> memory(held.get(), [held, each](int64_t* h) { *h -= each; });
      return Trial{[memory, i] { return 1.0 + double(i); }, each};
    });
    EXPECT_EQ(*held, 0) << "nothing stays";
    EXPECT_EQ(times[2].us, 3);
    return greatest;
  };
  EXPECT_EQ(most(1 << 20), 3 << 20);
  EXPECT_EQ(most(Contest::kTogether / 2 + 1), Contest::kTogether + 2);
  EXPECT_EQ(most(Contest::kTogether), Contest::kTogether);
}

TEST(Tuner, LaterTheContestOfTheFirstKeyWaits) {
  Tuner tuner("", Tuner::When::kLater);
  EXPECT_EQ(Choose(&tuner, "k", kNames, Taking({100, 80, 90})).why, "by estimate, before clever; odd");
  EXPECT_EQ(Choose(&tuner, "next", kNames, Never).index, 0u)
      << "what it is asked for may depend on the first";
  std::optional<Tuner::Waiting> waiting = tuner.TakeWaiting();
  ASSERT_TRUE(waiting);
  EXPECT_FALSE(tuner.TakeWaiting());
  EXPECT_EQ(waiting->key, "k");
  EXPECT_EQ(waiting->names, kNames);
  while (!waiting->contest.done()) waiting->contest.Step();
  tuner.Add(*waiting);
  EXPECT_EQ(tuner.measured(), 3);
  EXPECT_EQ(Choose(&tuner, "k", kNames, Never).why, "clever measured 80.0 us; odd 90.0; plain 100.0");
  EXPECT_FALSE(tuner.TakeWaiting());
}

TEST(Tuner, WhatIsKnownIsNotMeasuredLater) {
  const TempPath file;
  Fill(file.str());
  Tuner tuner(file.str(), Tuner::When::kLater);
  EXPECT_EQ(Choose(&tuner, "a shape", kNames, Never).why, "plain measured 5.0 us; clever 6.0; odd 7.0");
  EXPECT_FALSE(tuner.TakeWaiting());
  (void)Choose(&tuner, "a shape", {"plain", "new"}, Taking({1, 2}));
  const auto waiting = tuner.TakeWaiting();
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->names, std::vector<std::string>{"new"});
  EXPECT_EQ(waiting->contest.candidates(), std::vector<size_t>{1});
}

// What a trial finds in the caches depends on the trial before it, which a pause with other work replaces.
TEST(Contest, AfterAPauseTheTrialBeforeRunsOnceMoreUncounted) {
  std::string calls;
  bool paused = false;
  Contest contest({0, 1, 2}, [&](size_t i) {
    return Trial{[&, i] {
      calls += char('a' + i);
      return paused ? 0.5 : 1.0 + double(i);
    }};
  });
  for (int step = 0; step < 3 + 4; ++step) {
    contest.Resume();  // nothing yet, or the trial before
    contest.Step();
  }
  EXPECT_EQ(calls, "caabbcca");
  paused = true;
  contest.Resume();
  paused = false;
  EXPECT_EQ(calls, "caabbccaa");
  while (!contest.done()) contest.Step();
  EXPECT_EQ(contest.us(), (std::vector<double>{1, 2, 3})) << "the calls of Resume() do not count";
}

TEST(CallUs, TimesOneCall) {
  int calls = 0;
  EXPECT_GT(CallUs([&] { ++calls; }), 0);
  EXPECT_EQ(calls, 1);
}

TEST(CpuOfTimes, NamesTheClusterOfSlowerCores) {
  Machine machine{.name = "A CPU",
                  .clusters = {{.name = "cluster0", .cores = {4, 5}}, {.name = "cluster1", .cores = {0, 1}}}};
  EXPECT_EQ(CpuOfTimes(machine, {}), "A CPU");
  EXPECT_EQ(CpuOfTimes(machine, {4}), "A CPU");
  EXPECT_EQ(CpuOfTimes(machine, {5, 0}), "A CPU");
  EXPECT_EQ(CpuOfTimes(machine, {0, 1}), "A CPU cluster1");
}

TEST(TuningFile, IsOfOneProcessorTargetAndStateOfTheSources) {
  const std::string file = TuningFile("/cache", "A CPU / 2 GHz", "avx2", "0123456789abcdef0123");
  EXPECT_EQ(std::filesystem::path(file).parent_path(), "/cache/tuning");
  EXPECT_NE(file, TuningFile("/cache", "A CPU / 2 GHz", "avx512", "0123456789abcdef0123"));
  EXPECT_NE(file, TuningFile("/cache", "Another CPU", "avx2", "0123456789abcdef0123"));
  EXPECT_NE(file, TuningFile("/cache", "A CPU / 2 GHz", "avx2", "1123456789abcdef0123"));
  EXPECT_EQ(TuningFile("", "A CPU", "avx2", "0123456789abcdef0123"), "");
}

}  // namespace
}  // namespace mete
