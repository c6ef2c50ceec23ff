#include "schedule/worth.h"

#include <gtest/gtest.h>

#include <random>

#include "schedule/stopped_testing.h"

namespace mete {
namespace {

// Runs of a region of 10 blocks. If worker 1 is not left out, it takes 3 of them and is late_ns later done
// than worker 0.
class Regions {
 public:
  struct Run {
    int64_t late_ns = 0, alone_ns = 1000, together_ns = 700;
    bool known = true;  // whether the time of a block is known, which it is not in a first run
  };
  // Does one run and returns true if worker 1 was left out.
  bool LeftOut(const Run& run) {
    worth_.Begin({1, 10}, {0, run.known ? double(run.alone_ns) / 10 : 0}, now_);
    const bool out = worth_.LeftOut(1);
    worth_.Asks(0);
    worth_.Took(0, out ? 10 : 7);
    worth_.Done(0, now_ + (out ? run.alone_ns : run.together_ns));
    if (!out) {
      worth_.Asks(1);
      worth_.Took(1, 3);
      worth_.Done(1, now_ + run.together_ns + run.late_ns);
    }
    now_ += 100'000;
    return out;
  }
  int CountLeftOut(int runs, int64_t late_ns) {
    int out = 0;
    for (int i = 0; i < runs; ++i) out += LeftOut({.late_ns = late_ns});
    return out;
  }

 private:
  Worth worth_{WorkersOf({1, 1})};
  int64_t now_ = 1;
};

TEST(Worth, AWorkerInTimeIsNeverLeftOut) {
  Regions regions;
  EXPECT_EQ(regions.CountLeftOut(1000, 0), 0);
  EXPECT_EQ(regions.CountLeftOut(1000, 100), 0);
}

TEST(Worth, AWorkerThatAllWaitForIsLeftOutButForTrials) {
  Regions regions;
  EXPECT_GT(regions.CountLeftOut(20, 2000), 0);
  regions.CountLeftOut(1000, 2000);
  EXPECT_GE(regions.CountLeftOut(1000, 2000), 980);
}

TEST(Worth, AWorkerThatIsWellAgainIsBackAfterSomeTrials) {
  Regions regions;
  regions.CountLeftOut(2000, 2000);
  regions.CountLeftOut(2000, 0);
  EXPECT_EQ(regions.CountLeftOut(1000, 0), 0);
}

TEST(Worth, AColdFirstRunSaysNothing) {
  for (const int64_t times : {3, 5, 10, 1000}) {
    Regions regions;
    regions.LeftOut(
        {.late_ns = times * 700, .alone_ns = times * 1000, .together_ns = times * 700, .known = false});
    EXPECT_EQ(regions.CountLeftOut(100, 0), 0) << times;
  }
}

// Only the first two of three workers take part, and the third is the fastest: one of the two must never be
// left out.
TEST(Worth, OneOfThoseWhoTakePartIsAlwaysThere) {
  Worth worth(WorkersOf({0.5, 0.5, 1}));
  int64_t now = 1;
  for (int i = 0; i < 2000; ++i, now += 1'000'000) {
    worth.Begin({1, 10, 1, 2}, {100, 100}, now);
    ASSERT_FALSE(worth.LeftOut(0) && worth.LeftOut(1)) << i;
    for (const int w : {0, 1})
      if (!worth.LeftOut(w)) {
        worth.Asks(w);
        worth.Took(w, 5);
        worth.Done(w, now + (i % 2 == w ? 100'000 : 1000));
      }
  }
}

TEST(Worth, OneLongDelayIsForgiven) {
  Regions regions;
  regions.CountLeftOut(100, 0);
  regions.LeftOut({.late_ns = 50'000'000});
  EXPECT_EQ(regions.CountLeftOut(1000, 0), 0);
}

// Returns the time of regions beside a worker that computes at full speed while it runs and is stopped in
// between, divided by the time without this worker. A worker that waits for its last range waits up to 130
// us, which pays in long regions but not in short ones.
double OverAlone(double region_ns) {
  const SimulatedWorkers workers = WorkersOneStopped();
  std::mt19937 random(1);
  const auto policy = MakePolicy("adaptive", WorkersOf({1, 1}));
  int64_t now = 0, start = 0;
  constexpr int kWarm = 1000, kRuns = 2000, kRegions = 10;
  for (int i = 0; i < (kWarm + kRuns) * kRegions; ++i) {
    if (i == kWarm * kRegions) start = now;
    now = Simulate(*policy, {1 + i % kRegions, 64}, region_ns / 64, workers, now).end_ns +
          int64_t(random() % 2000);
  }
  return double(now - start) / (kRuns * kRegions) / (region_ns + 1000);
}

TEST(Worth, AStoppedWorkerIsUsedWhereItPaysAndNeverMuchWorseThanNone) {
  EXPECT_LE(OverAlone(20e3), 1.1);
  EXPECT_LE(OverAlone(60e3), 1.06);
  EXPECT_LE(OverAlone(1e6), 0.9);
}

}  // namespace
}  // namespace mete
