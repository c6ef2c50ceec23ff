#include "schedule/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "mete/error.h"
#include "schedule/simulate.h"

namespace mete {
namespace {

std::vector<WorkerSpeed> Workers(const std::vector<double>& speeds) {
  std::vector<WorkerSpeed> workers;
  for (const double speed : speeds)
    workers.push_back({workers.empty() || speed == workers.back().speed ? 0 : 1, speed});
  return workers;
}

// Returns the ideal time divided by the simulated time of `layers` layers of `blocks` blocks, each of which
// takes a core of speed 1 `layer_ns`: the mean of `runs` runs after a first one.
double Efficiency(std::string_view name, const std::vector<double>& speeds, int layers, int64_t blocks,
                  double layer_ns, int runs = 3) {
  const auto policy = MakePolicy(name, Workers(speeds));
  const SimulatedWorkers workers = ConstantWorkers(speeds, 300, 1000);
  int64_t now = 0, start = 0;
  for (int run = 0; run <= runs; ++run) {
    if (run == 1) start = now;
    for (int layer = 0; layer < layers; ++layer)
      now = Simulate(*policy, {layer + 1, blocks}, layer_ns / double(blocks), workers, now).end_ns;
  }
  const double ideal = layer_ns * layers * runs / std::accumulate(speeds.begin(), speeds.end(), 0.0);
  return ideal / double(now - start);
}

TEST(Policy, EveryBlockIsTakenOnceWhateverTheOrderOfTheWorkers) {
  std::mt19937 random(1);
  for (const std::string& name : PolicyNames())
    for (const std::vector<double>& speeds : {std::vector<double>{1},
                                              {1, 0.4},
                                              {1, 1, 0.25, 0.25},
                                              {1, 1, 0.7, 0.4, 0.4},
                                              std::vector<double>(17, 1)}) {
      const auto policy = MakePolicy(name, Workers(speeds));
      int64_t now = 0;
      for (int64_t i = 0; i < 60; ++i) {
        const int64_t blocks = int64_t(random() % 40);
        std::vector<int> seen(size_t(blocks), 0), asking(speeds.size());
        std::iota(asking.begin(), asking.end(), 0);
        const int taking_part = int(random() % (speeds.size() + 1));  // 0: all workers
        if (taking_part > 0) asking.resize(size_t(taking_part));
        policy->Begin({i % 5, blocks, 1 + i % 7, taking_part}, now);
        while (!asking.empty()) {
          const size_t at = random() % asking.size();
          BlockRange range;
          if (policy->NextBlock(asking[at], now += int64_t(random() % 1000), &range)) {
            ASSERT_LT(range.begin, range.end);
            ASSERT_GE(range.begin, 0);
            ASSERT_LE(range.end, blocks);
            for (int64_t b = range.begin; b < range.end; ++b) ++seen[size_t(b)];
          } else {
            asking.erase(asking.begin() + int64_t(at));
          }
        }
        ASSERT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }))
            << name << ", " << speeds.size() << " workers";
      }
    }
}

TEST(Policy, UnevenCoresGiveWhatTheyCarryWithAdaptiveAndNotWithEqual) {
  for (const double slow : {0.25, 0.4, 0.7}) {
    EXPECT_GE(Efficiency("adaptive", {1, slow}, 54, 64, 1e6), 0.97) << slow;
    EXPECT_GE(Efficiency("adaptive", {1, slow}, 60, 32, 65e3), 0.85) << slow;
    EXPECT_NEAR(Efficiency("equal", {1, slow}, 54, 64, 1e6), 2 * slow / (1 + slow), 0.02) << slow;
  }
}

TEST(Policy, AdaptiveLosesNothingToTheOthers) {
  for (const std::vector<double>& speeds : {std::vector<double>{1, 0.4},
                                            {1, 1, 1, 1, 0.4, 0.4, 0.4, 0.4},
                                            {1, 0.7, 0.7, 0.7, 0.3, 0.3, 0.3, 0.3}})
    for (const double layer_ns : {1e6, 350e3}) {
      const double adaptive = Efficiency("adaptive", speeds, 30, 128, layer_ns);
      for (const std::string& name : PolicyNames())
        EXPECT_GE(adaptive, 0.98 * Efficiency(name, speeds, 30, 128, layer_ns)) << name;
    }
}

TEST(Policy, EqualCoresAreAsFastWithAdaptiveAsWithEqualSlices) {
  EXPECT_GE(Efficiency("adaptive", {1, 1}, 54, 64, 500e3), 0.98 * Efficiency("equal", {1, 1}, 54, 64, 500e3));
}

// A core becomes slower by three quarters during a run: after a few layers the other has taken over its work.
TEST(Policy, AdaptiveRecoversFromADisturbance) {
  const auto policy = MakePolicy("adaptive", Workers({1, 1}));
  const double layer_ns = 500e3;
  const int64_t blocks = 64;
  int64_t now = 0;
  const SimulatedWorkers even = ConstantWorkers({1, 1}, 300, 1000),
                         disturbed = ConstantWorkers({1, 0.25}, 300, 1000);
  for (int i = 0; i < 100; ++i)
    now = Simulate(*policy, {1 + i % 10, blocks}, layer_ns / blocks, even, now).end_ns;
  std::vector<double> efficiency;
  for (int i = 0; i < 10; ++i) {
    const int64_t end = Simulate(*policy, {1 + i % 10, blocks}, layer_ns / blocks, disturbed, now).end_ns;
    efficiency.push_back(layer_ns / 1.25 / double(end - now));
    now = end;
  }
  // The first layer is divided before the disturbance can be observed.
  for (size_t i = 5; i < efficiency.size(); ++i) EXPECT_GE(efficiency[i], 0.93) << "layer " << i;
}

// A worker that was so slow that it got no blocks gets blocks again after it has become fast.
TEST(Policy, AdaptiveTriesAgainWhoWasTooSlow) {
  const auto policy = MakePolicy("adaptive", Workers({1, 1}));
  const SimulatedWorkers even = ConstantWorkers({1, 1}, 300, 1000),
                         hopeless = ConstantWorkers({1, 0.001}, 300, 1000);
  const double layer_ns = 500e3;
  int64_t now = 0, start = 0;
  for (int i = 0; i < 100; ++i)
    now = Simulate(*policy, {1 + i % 10, 64}, layer_ns / 64, hopeless, now).end_ns;
  for (int i = 0; i < 2000; ++i) {
    if (i == 1000) start = now;
    now = Simulate(*policy, {1 + i % 10, 64}, layer_ns / 64, even, now).end_ns;
  }
  EXPECT_GE(layer_ns / 2 * 1000 / double(now - start), 0.9);
}

// By plan the cores are equal. Each trial of a hopeless core costs time, so trials must be rare.
TEST(Policy, AdaptiveIsNeverMuchSlowerThanTheBestSubset) {
  for (const double slow : {0.3, 0.1, 0.05, 0.02, 0.01}) {
    const auto policy = MakePolicy("adaptive", Workers({1, 1}));
    const SimulatedWorkers workers = ConstantWorkers({1, slow}, 300, 1000);
    const double layer_ns = 640e3;
    int64_t now = 0, start = 0;
    for (int i = 0; i < 3000; ++i) {
      if (i == 1000) start = now;
      now = Simulate(*policy, {1 + i % 10, 64}, layer_ns / 64, workers, now).end_ns;
    }
    EXPECT_LE(double(now - start) / 2000, 1.03 * layer_ns) << slow;
  }
}

// A worker that comes late once, like a stopped process, soon gets its full part again.
TEST(Policy, AdaptiveForgivesAWorkerThatWasLateOnce) {
  const auto policy = MakePolicy("adaptive", Workers({1, 1}));
  const SimulatedWorkers even = ConstantWorkers({1, 1}, 300, 1000);
  const double layer_ns = 640e3;
  int64_t now = 0;
  for (int i = 0; i < 100; ++i) now = Simulate(*policy, {1 + i % 10, 64}, layer_ns / 64, even, now).end_ns;
  BlockRange range;
  policy->Begin({1, 64}, now);
  policy->NextBlock(0, now, &range);
  policy->NextBlock(0, now += int64_t(layer_ns), &range);
  policy->NextBlock(1, now += 50'000'000, &range);
  now += 1'000'000;
  const int64_t start = now;
  for (int i = 0; i < 10; ++i) now = Simulate(*policy, {1 + i % 10, 64}, layer_ns / 64, even, now).end_ns;
  EXPECT_LE(double(now - start) / 10, 1.1 * layer_ns / 2);
}

// If there are fewer blocks than workers, the fast workers get them.
TEST(Policy, AdaptiveGivesFewBlocksToTheFastest) {
  const std::vector<double> speeds{1, 0.6, 0.6, 0.6, 0.15, 0.15, 0.15, 0.15};
  const auto policy = MakePolicy("adaptive", Workers(speeds));
  const SimulatedWorkers workers = ConstantWorkers(speeds, 300, 1000);
  int64_t now = 0;
  for (int i = 0; i < 40; ++i) {
    const SimulatedRegion region = Simulate(*policy, {1, 3}, 100e3, workers, now);
    EXPECT_LE(region.end_ns - now, 210e3) << i;  // two blocks on the fastest worker, one on the next
    now = region.end_ns;
  }
}

// The policy learns the extra cost of a range that begins or ends within a run, and then cuts no runs.
TEST(Policy, AdaptiveLeavesRunsWhole) {
  const auto policy = MakePolicy("adaptive", Workers({1, 1}));
  std::vector<int64_t> free_at(2, 0);
  int cuts = 0;
  for (int i = 0; i < 60; ++i) {
    const int64_t begin = *std::max_element(free_at.begin(), free_at.end());
    policy->Begin({1, 64, 16}, begin);
    std::fill(free_at.begin(), free_at.end(), begin);
    BlockRange range;
    for (std::vector<int> asking{0, 1}; !asking.empty();) {
      const auto first = std::min_element(asking.begin(), asking.end(), [&](int a, int b) {
        return free_at[size_t(a)] < free_at[size_t(b)];
      });
      int64_t& free = free_at[size_t(*first)];
      if (!policy->NextBlock(*first, free, &range)) {
        asking.erase(first);
        continue;
      }
      const bool cut = range.begin % 16 != 0 || range.end % 16 != 0;
      if (i >= 40) cuts += cut;
      free += 10'000 + range.size() * 10'000 + (cut ? 100'000 : 0);
    }
  }
  EXPECT_EQ(cuts, 0);
}

// Parts that follow noise cost more than they save. The noise in this test is up to a tenth, and now and then
// a range takes three times as long.
TEST(Policy, AdaptiveGivesAlikeWorkersHalfOfAllInSpiteOfNoise) {
  constexpr int kWarm = 200, kRegions = 2000;
  constexpr double kBlockNs = 1e3;
  std::mt19937 random(1);
  int halves = 0, region = 0;
  SimulatedWorkers workers = ConstantWorkers({1, 1}, 300, 1000);
  workers.finish = [&](int, int64_t start, double work) {
    halves += region >= kWarm && work == 32 * kBlockNs;
    return start + int64_t(work * (random() % 40 == 0 ? 3 : 0.9 + 0.2 * double(random() % 1000) / 1000));
  };
  const auto policy = MakePolicy("adaptive", Workers({1, 1}));
  for (int64_t now = 0; region < kWarm + kRegions; ++region)
    now = Simulate(*policy, {1 + region % 10, 64}, kBlockNs, workers, now).end_ns;
  EXPECT_GE(halves, 2 * kRegions * 3 / 4);
}

// For any number of workers and blocks, each worker takes once, sizes differ by at most one, and the first
// workers get the larger ones.
TEST(Policy, AdaptiveGivesAlikeWorkersEvenParts) {
  for (const size_t count : {2, 3, 4, 7})
    for (const int64_t blocks : {64, 65, 70}) {
      const SimulatedWorkers workers = ConstantWorkers(std::vector<double>(count, 1), 100, 100);
      const auto policy = MakePolicy("adaptive", Workers(std::vector<double>(count, 1)));
      SimulatedRegion region;
      for (int i = 0; i < 40; ++i) region = Simulate(*policy, {1, blocks, 5}, 10e3, workers, region.end_ns);
      for (size_t w = 0; w < count; ++w) {
        EXPECT_EQ(region.takes[w], 1) << count << " workers, worker " << w << ", " << blocks << " blocks";
        EXPECT_EQ(region.busy_ns[w], (blocks + int64_t(count - 1 - w)) / int64_t(count) * 10'000)
            << count << " workers, worker " << w;
      }
    }
}

// A steady difference is not noise, even if it exists only in some regions.
TEST(Policy, AdaptiveDoesNotTakeASteadyDifferenceOfAlikeWorkersForNoise) {
  for (const double slow : {1 / 1.5, 0.8}) {
    int region = 0;
    SimulatedWorkers workers = ConstantWorkers({1, 1}, 300, 1000);
    workers.finish = [&](int w, int64_t start, double work) {
      return start + int64_t(w == 1 && region % 3 == 0 ? work / slow : work);
    };
    const auto policy = MakePolicy("adaptive", Workers({1, 1}));
    double took = 0, best = 0;
    for (int64_t now = 0; region < 900; ++region) {
      const int64_t end = Simulate(*policy, {1 + region % 3, 64}, 10e3, workers, now).end_ns;
      if (region >= 450) {
        took += double(end - now);
        best += 640e3 / (region % 3 == 0 ? 1 + slow : 2);
      }
      now = end;
    }
    EXPECT_LE(took / best, 1.04) << slow;
  }
}

TEST(Policy, AdaptiveDoesNotKeepToEvenSlicesWhereOneOfAlikeWorkersIsSlow) {
  const std::vector<double> speeds{1, 0.5};
  const SimulatedWorkers workers = ConstantWorkers(speeds, 300, 1000);
  const auto policy = MakePolicy("adaptive", Workers({1, 1}));
  int64_t now = 0, start = 0;
  for (int run = 0; run < 30; ++run) {
    if (run == 10) start = now;
    for (int layer = 1; layer <= 20; ++layer) now = Simulate(*policy, {layer, 64}, 10e3, workers, now).end_ns;
  }
  EXPECT_GE(640e3 * 20 * 20 / 1.5 / double(now - start), 0.95);
}

// The slow workers do not take part: no blocks are kept for them, and the region does not wait for them.
TEST(Policy, AFewWorkersAreAsFastAsIfThereWereNoOthers) {
  const std::vector<double> all{1, 1, 0.3, 0.3}, few{1, 1};
  for (const std::string& name : PolicyNames()) {
    const auto of_all = MakePolicy(name, Workers(all)), of_few = MakePolicy(name, Workers(few));
    const SimulatedWorkers all_workers = ConstantWorkers(all, 300, 1000),
                           few_workers = ConstantWorkers(few, 300, 1000);
    int64_t now = 0;
    for (int i = 0; i < 40; ++i) {
      const SimulatedRegion want = Simulate(*of_few, {1 + i % 4, 64}, 10e3, few_workers, now);
      const SimulatedRegion got = Simulate(*of_all, {1 + i % 4, 64, 1, 2}, 10e3, all_workers, now);
      ASSERT_EQ(got.end_ns, want.end_ns) << name << ", region " << i;
      ASSERT_EQ(got.takes[2] + got.takes[3], 0) << name;
      now = want.end_ns;
    }
  }
}

// The policy keeps what it has learned of workers that do not take part: they count neither as idle, and so
// as due for a trial, nor as new.
TEST(Policy, AdaptiveKeepsWhatItKnowsOfThoseLeftOut) {
  const std::vector<double> speeds{1, 0.37};
  const SimulatedWorkers workers = ConstantWorkers(speeds, 300, 1000);
  const auto straight = MakePolicy("adaptive", Workers({1, 1})),
             with_pause = MakePolicy("adaptive", Workers({1, 1}));
  int64_t now = 0;
  for (int i = 0; i < 50; ++i) {
    const int64_t start = now;
    now = Simulate(*straight, {1, 64}, 10e3, workers, start).end_ns;
    Simulate(*with_pause, {1, 64}, 10e3, workers, start);
  }
  for (int i = 0; i < 100; ++i) now = Simulate(*with_pause, {1, 64, 1, 1}, 10e3, workers, now).end_ns;
  const SimulatedRegion want = Simulate(*straight, {1, 64}, 10e3, workers, now),
                        got = Simulate(*with_pause, {1, 64}, 10e3, workers, now);
  EXPECT_EQ(got.end_ns, want.end_ns);
  EXPECT_GT(got.takes[1], 0);
}

TEST(Simulate, TakingCostsEachWorkerItsOwn) {
  SimulatedWorkers workers = ConstantWorkers({1, 1}, 0, 20);
  workers.take_ns = {100, 300};
  const SimulatedRegion region = Simulate(*MakePolicy("equal", Workers({1, 1})), {1, 10}, 50, workers, 1000);
  EXPECT_EQ(region.end_ns, 1000 + 300 + 5 * 50 + 20);
  EXPECT_EQ(region.busy_ns, (std::vector<int64_t>{250, 250}));
}

TEST(Simulate, AWorkerAsksWhenItHasItsCore) {
  SimulatedWorkers workers = ConstantWorkers({1, 1}, 0, 0);
  workers.finish = [](int w, int64_t start, double work) {
    return std::max<int64_t>(start, w == 0 ? 5000 : 0) + int64_t(work);
  };
  const SimulatedRegion region = Simulate(*MakePolicy("sani", Workers({1, 1})), {1, 10}, 50, workers, 1000);
  EXPECT_EQ(region.takes[0], 0);  // the other worker has finished all blocks by then
  EXPECT_EQ(region.busy_ns[1], 500);
  EXPECT_EQ(region.end_ns, 1500);  // the region does not wait for worker 0
}

TEST(Policy, BadArgumentsAreErrors) {
  EXPECT_THROW(MakePolicy("magic", Workers({1})), Error);
  EXPECT_THROW(MakePolicy("equal", {}), Error);
  EXPECT_THROW(MakePolicy("equal", {{0, 0.0}}), Error);
}

TEST(Adaptive, TellsWhatRegionsTookAndWhatTheyWouldHaveTakenTheFirstWorkerAlone) {
  const auto policy = MakePolicy("adaptive", WorkersOf({1, 0.5}));
  const SimulatedWorkers workers = ConstantWorkers({1, 0.5}, 0, 0);
  int64_t now = 0;
  for (int run = 0; run < 50; ++run) now = Simulate(*policy, {1, 300}, 1000, workers, now).end_ns;
  policy->TakeTimes();
  const int64_t start = now;
  for (int run = 0; run < 4; ++run) now = Simulate(*policy, {1, 300}, 1000, workers, now).end_ns;
  const Policy::Times times = policy->TakeTimes();
  EXPECT_NEAR(times.together_ns, double(now - start), 0.01 * double(now - start));
  EXPECT_NEAR(times.alone_ns, 4 * 300'000, 0.05 * 4 * 300'000);
  EXPECT_EQ(policy->TakeTimes().together_ns, 0);
  EXPECT_EQ(MakePolicy("equal", WorkersOf({1, 0.5}))->TakeTimes().alone_ns, 0);
}

TEST(Adaptive, TheFirstRunOfARegionIsNotAmongItsTimes) {
  const auto policy = MakePolicy("adaptive", WorkersOf({1, 0.5}));
  const SimulatedWorkers workers = ConstantWorkers({1, 0.5}, 0, 0);
  int64_t now = 0;
  for (const int64_t id : {1, 2, 0, 0}) now = Simulate(*policy, {id, 300}, 1000, workers, now).end_ns;
  EXPECT_EQ(policy->TakeTimes().together_ns, 0);
  const int64_t start = now;
  now = Simulate(*policy, {1, 300}, 1000, workers, now).end_ns;
  EXPECT_EQ(policy->TakeTimes().together_ns, double(now - start));
}

}  // namespace
}  // namespace mete
