#include "schedule/whole_run.h"

#include <gtest/gtest.h>

#include <random>

#include "schedule/stopped_testing.h"

namespace mete {
namespace {

// The times of a network's runs with all workers and with the calling worker alone, and the parts of them
// that its regions take.
struct Network {
  double together_ns, alone_ns, regions_ns, regions_alone_ns;
};

class Runs {
 public:
  // Returns the number of runs that the calling worker did alone.
  int CountAlone(int runs, const Network& network) {
    int count = 0;
    for (int i = 0; i < runs; ++i) {
      const bool alone = whole_run_.BeginAlone();
      count += alone;
      if (alone) whole_run_.Learn(network.alone_ns, {});
      else whole_run_.Learn(network.together_ns, {network.regions_ns, network.regions_alone_ns});
    }
    return count;
  }

 private:
  WholeRun whole_run_;
};

constexpr Network kSlower = {1100, 1000, 800, 850}, kSooner = {600, 1000, 400, 850},
                  kLittleSooner = {950, 1000, 780, 850};

TEST(WholeRun, TheCallerIsNotTriedAloneWhereOthersClearlyHelp) {
  Runs runs;
  EXPECT_EQ(runs.CountAlone(5000, kSooner), 0);
}

TEST(WholeRun, TheCallerIsAloneWhereThatIsSoonerButForTrials) {
  Runs runs;
  EXPECT_EQ(runs.CountAlone(8, kSlower), 0);
  runs.CountAlone(2000, kSlower);
  EXPECT_GE(runs.CountAlone(1000, kSlower), 1000 - 4 * 8);  // one trial in 256 runs
}

TEST(WholeRun, OthersStayWhereTheyHelpALittle) {
  Runs runs;
  const int tried = runs.CountAlone(2000, kLittleSooner);
  EXPECT_GT(tried, 0);
  EXPECT_LE(tried, 10 * 8);  // trials after 16, 32, 64, ... 256 runs, and then every 256 runs
}

// This happens, for example, if the host of a virtual machine moves its cores away from each other.
TEST(WholeRun, OthersAreLeftWithinSomeRunsWhereTheyHelpNoMore) {
  Runs runs;
  runs.CountAlone(3000, kLittleSooner);
  // 13 runs until the slowdown is known, and 16 runs of the trials of both ways.
  EXPECT_GE(runs.CountAlone(100, kSlower), 65);
}

TEST(WholeRun, OthersAreBackWhenTheyHelpAgain) {
  Runs runs;
  runs.CountAlone(3000, kSlower);
  runs.CountAlone(600, kSooner);
  EXPECT_EQ(runs.CountAlone(1000, kSooner), 0);
}

TEST(WholeRun, TheTextSaysWhichWayAndWhy) {
  WholeRun whole_run;
  EXPECT_EQ(whole_run.text(), "");
  for (int i = 0; i < 100; ++i) {
    const bool alone = whole_run.BeginAlone();
    whole_run.Learn(alone ? 1e6 : 2e6, alone ? Policy::Times{} : Policy::Times{1.5e6, 1e6});
  }
  EXPECT_EQ(whole_run.text(), "on the calling thread alone, 1.00 ms; with all threads 2.00 ms");
}

TEST(WholeRun, TheTextOfATrialIsThatOfTheWayBeforeIt) {
  WholeRun whole_run;
  int trials = 0;
  for (int i = 0; i < 100; ++i) {
    const bool alone = whole_run.BeginAlone();
    whole_run.Learn(alone ? 1e6 : 0.95e6, alone ? Policy::Times{} : Policy::Times{0.9e6, 1e6});
    if (!alone || whole_run.text().empty()) continue;
    EXPECT_EQ(whole_run.text(), "on all threads, 0.95 ms; on the calling thread alone 1.00 ms");
    ++trials;
  }
  EXPECT_GT(trials, 0);
}

TEST(WholeRun, ARunOfNoRegionsIsNothingToDecide) {
  Runs runs;
  EXPECT_EQ(runs.CountAlone(1000, {1000, 1000, 0, 0}), 0);
}

// Compares many short regions beside a worker that is stopped now and then with the time that the calling
// worker alone needs.
TEST(WholeRun, ManyShortRegionsAreNotMuchLongerThanAlone) {
  constexpr double kRegionNs = 20e3;
  constexpr int kWarm = 300, kRuns = 1000, kRegions = 10;
  const SimulatedWorkers workers = WorkersOneStopped();
  const auto policy = MakePolicy("adaptive", WorkersOf({1, 1}));
  WholeRun whole_run;
  std::mt19937 random(1);
  int64_t now = 0, start = 0;
  for (int run = 0; run < kWarm + kRuns; ++run) {
    if (run == kWarm) start = now;
    const bool alone = whole_run.BeginAlone();
    const int64_t begin = now;
    for (int id = 1; id <= kRegions; ++id) {
      now =
          alone ? now + int64_t(kRegionNs) : Simulate(*policy, {id, 64}, kRegionNs / 64, workers, now).end_ns;
      now += int64_t(random() % 2000);  // the gap between layers
    }
    whole_run.Learn(double(now - begin), policy->TakeTimes());
  }
  // Without the decision over whole runs the ratio is 1.11.
  EXPECT_LE(double(now - start) / (kRuns * kRegions), 1.02 * (kRegionNs + 1000));
}

}  // namespace
}  // namespace mete
