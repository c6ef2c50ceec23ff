#include "processor/cpu/threads/thread_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "mete/error.h"
#include "processor/cpu/threads/stretch.h"

namespace mete {
namespace {

TEST(ThreadPool, ScratchIsEachWorkersOwnAndOnlyGrows) {
  ThreadPool pool(2);
  pool.ReserveScratch(0);
  pool.ReserveScratch(1000);
  std::byte* first = pool.scratch(0);
  pool.ReserveScratch(100);
  EXPECT_EQ(pool.scratch(0), first);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  EXPECT_GE(std::abs(pool.scratch(1) - first), 1000);
}

TEST(ThreadPool, TheCallersScratchIsTheSameInAllPoolsThatTheThreadCalls) {
  ThreadPool one(1), two(2);
  one.ReserveScratch(1000);
  two.ReserveScratch(500);
  EXPECT_EQ(one.scratch(0), two.scratch(0));
  two.ReserveScratch(5000);
  EXPECT_EQ(one.scratch(0), two.scratch(0));
  std::memset(one.scratch(0), 1, 5000);
}

TEST(ThreadPool, AThreadThatHasReservedNothingHasScratchInARegion) {
  ThreadPool pool(1);
  pool.ReserveScratch(1000);
  std::byte* const first = pool.scratch(0);
  std::thread([&] {
    pool.For(1, [&](int w, int64_t, int64_t) {
      ASSERT_NE(pool.scratch(w), nullptr);
      EXPECT_GE(std::abs(pool.scratch(w) - first), 1000);
      std::memset(pool.scratch(w), 1, 1000);
    });
  }).join();
}

TEST(ThreadPool, RunsEveryBlockOnceInEachOfManyRegions) {
  ThreadPool pool(3);
  for (int region = 0; region < 2000; ++region) {
    const int64_t blocks = region % 17;
    std::atomic<int64_t> sum{0};
    pool.For(blocks, [&](int, int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) sum += b + 1;
    });
    ASSERT_EQ(sum.load(), blocks * (blocks + 1) / 2);
  }
}

TEST(ThreadPool, EveryPolicyRunsEveryBlockOnceInStepsAndOutsideOfThem) {
  for (const std::string& policy : PolicyNames()) {
    ThreadPool pool(3, {}, policy, {1, 0.9, 0.9});
    for (int region = 0; region < 500; ++region) {
      if (region > 100) pool.BeginStep(region % 5);
      std::vector<std::atomic<int>> seen(static_cast<size_t>(region % 70));
      pool.For(int64_t(seen.size()), [&](int, int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) ++seen[size_t(b)];
      });
      for (const std::atomic<int>& n : seen) ASSERT_EQ(n.load(), 1) << policy;
    }
  }
}

// Regions for all workers, for some and for the caller alone follow each other closely, so that workers look
// late; only the workers of a region compute it.
TEST(ThreadPool, OnlyTheFirstWorkersOfAStepComputeIt) {
  for (const std::string& policy : PolicyNames()) {
    ThreadPool pool(4, {}, policy);
    for (int region = 0; region < 1000; ++region) {
      const int workers = 1 + region * 7 % 4;
      pool.BeginStep(1 + region % 5, workers);
      std::atomic<int64_t> sum{0}, strangers{0};
      pool.For(40, [&](int w, int64_t begin, int64_t end) {
        if (w >= workers) ++strangers;
        for (int64_t b = begin; b < end; ++b) sum += b + 1;
      });
      ASSERT_EQ(sum.load(), 40 * 41 / 2) << policy;
      ASSERT_EQ(strangers.load(), 0) << policy;
    }
  }
}

TEST(ThreadPool, NamesTheFirstWorkerOfEachClusterOfAStep) {
  ThreadPool pool(5, {}, "adaptive", {}, {{0, 1}, {0, 1}, {1, 0.5}, {1, 0.5}, {2, 0.25}});
  EXPECT_EQ(pool.FirstOfClusters(), (std::vector<int>{0, 2, 4}));
  pool.PrepareStep(3);
  EXPECT_EQ(pool.FirstOfClusters(), (std::vector<int>{0, 2}));
  pool.PrepareStep(1);
  EXPECT_EQ(pool.FirstOfClusters(), std::vector<int>{0});
  EXPECT_EQ(ThreadPool(3).FirstOfClusters(), std::vector<int>{0});
}

TEST(ThreadPool, WhoStandsInForAWorkerComputesItsShareAlone) {
  ThreadPool pool(4, {}, "adaptive", {}, {{0, 1}, {0, 1}, {1, 0.5}, {1, 0.5}});
  std::vector<std::array<int64_t, 3>> calls;
  auto block = [&](int w, int64_t begin, int64_t end) { calls.push_back({w, begin, end}); };
  pool.BeginStep(1);
  {
    const ThreadPool::StandIn alone(pool, 2);
    EXPECT_EQ(alone.settings(), "a thread of 4 alone at speed 0.5");
    pool.For(40, block);
    pool.For(1, block);
    pool.For(0, block);
  }
  EXPECT_EQ(calls, (std::vector<std::array<int64_t, 3>>{{2, 0, 10}, {2, 0, 1}}));
  std::atomic<int64_t> done{0};
  pool.For(40, [&](int, int64_t begin, int64_t end) { done += end - begin; });
  EXPECT_EQ(done, 40) << "afterwards regions are whole again";
}

TEST(ThreadPool, AStepOfOneThreadIsTheCallers) {
  ThreadPool pool(3);
  pool.BeginStep(1, 1);
  std::vector<std::array<int64_t, 3>> calls;
  pool.For(40, [&](int w, int64_t begin, int64_t end) { calls.push_back({w, begin, end}); });
  EXPECT_EQ(calls, (std::vector<std::array<int64_t, 3>>{{0, 0, 40}}));
}

// Two workers compute regions while the third sleeps; the third must wake for the next region.
TEST(ThreadPool, WakesWhoTookNoPartForLong) {
  ThreadPool pool(3);
  for (int i = 0; i < 3; ++i) {
    for (int region = 0; region < 2000; ++region) {
      pool.BeginStep(1, 2);
      pool.For(2, [](int, int64_t, int64_t) {});
    }
    pool.BeginStep(2);
    std::atomic<int> workers{0};
    pool.For(3, [&](int w, int64_t, int64_t) { workers += w + 1; });
    EXPECT_EQ(workers.load(), 6);
  }
}

TEST(ThreadPool, SettingsAreThoseOfTheStepThatIsPrepared) {
  ThreadPool pool(3, {}, "adaptive", {1, 0.5, 0.25});
  EXPECT_EQ(pool.settings(), "threads 3, emulated speeds 1 and 0.5 and 0.25, adaptive");
  pool.PrepareStep(2);
  EXPECT_EQ(pool.settings(), "threads 2, emulated speeds 1 and 0.5, adaptive");
  ThreadPool even(3, {}, "adaptive");
  even.PrepareStep(1);
  EXPECT_EQ(even.settings(), "threads 1");
  EXPECT_EQ(ThreadPool(2, {}, "adaptive").settings(), "threads 2, adaptive");
  EXPECT_EQ(ThreadPool(2, {}, "adaptive", {}, {{0, 1}, {1, 0.5}}).settings(),
            "threads 2, speeds 1 and 0.5, adaptive");
}

TEST(ThreadPool, SpeedsOfAStepAreThoseThatThePolicyDealsBy) {
  ThreadPool pool(3, {}, "adaptive", {1, 0.5, 0.25});
  pool.PrepareStep(2);
  EXPECT_EQ(std::vector(pool.step_speeds().begin(), pool.step_speeds().end()), (std::vector{1.0, 0.5}));
  ThreadPool equal(2, {}, "equal", {1, 0.5});
  EXPECT_EQ(std::vector(equal.step_speeds().begin(), equal.step_speeds().end()), (std::vector{1.0, 1.0}));
}

// An emulated worker of speed 0.25 takes four times as long: its span is that of its block, and three times
// as much.
TEST(ThreadPool, AnEmulatedCoreTakesAsMuchLonger) {
  ThreadPool pool(2, {}, "equal", {1, 0.25});
  pool.RecordSpans(true);
  std::atomic<int64_t> computed_ns{0};
  pool.For(2, [&](int w, int64_t, int64_t) {
    if (w != 1) return;
    const int64_t start = NowNs();
    double sum = 0;
    for (int i = 0; i < 1'000'000; ++i) sum += double(i) * 0.5;
    EXPECT_GT(sum, 0);
    computed_ns = NowNs() - start;
  });
  const std::vector<ThreadPool::Span> spans = pool.TakeSpans();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_GT(computed_ns, 0);
  EXPECT_GE(spans[1].end_ns - spans[1].start_ns, 4 * computed_ns);
}

TEST(ThreadPool, AStretchedTimeEndsWhenItIsLongEnough) {
  for (const auto& [start, speed, end] : {std::tuple{int64_t{600}, 0.25, int64_t{2200}}, {900, 0.5, 1100}}) {
    int64_t now = 1000;
    Stretch(start, speed, [&] { return now += 1; });
    EXPECT_GE(now, end);
    EXPECT_LE(now, end + 10);  // readings of the clock
  }
}

// This is what happens when a core goes offline or leaves the cpuset.
TEST(ThreadPool, ARefusedCoreIsToldAndWorkGoesOn) {
  ThreadPool pool(2, {100'000, 100'001}, "adaptive");
  const ThreadPool::CallerPin pin(pool);
  std::atomic<int64_t> blocks{0};
  pool.For(100, [&](int, int64_t begin, int64_t end) { blocks += end - begin; });
  EXPECT_EQ(blocks, 100);
  EXPECT_EQ(pool.refused_cores(), (std::vector<int>{100'000, 100'001}));
}

TEST(ThreadPool, WakesWorkersThatFellAsleep) {
  ThreadPool pool(2);
  for (int i = 0; i < 3; ++i) {
    std::atomic<int> workers{0};
    pool.For(2, [&](int w, int64_t, int64_t) { workers += w + 1; });
    EXPECT_EQ(workers.load(), 3);
    while (pool.sleeping() == 0) std::this_thread::yield();
  }
}

TEST(ThreadPool, TwoPoolsRunSideBySide) {
  auto work = [] {
    ThreadPool pool(2);
    for (int i = 0; i < 500; ++i) {
      std::atomic<int64_t> count{0};
      pool.For(64, [&](int, int64_t b, int64_t e) { count += e - b; });
      ASSERT_EQ(count.load(), 64);
    }
  };
  std::thread other(work);
  work();
  other.join();
}

TEST(ThreadPool, PinsTheCallerOnlyForTheRun) {
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  int core = 0;
  while (!CPU_ISSET(core, &before)) ++core;
  ThreadPool pool(1, {core});
  {
    const ThreadPool::CallerPin pin(pool);
    cpu_set_t now;
    ASSERT_EQ(sched_getaffinity(0, sizeof(now), &now), 0);
    EXPECT_EQ(CPU_COUNT(&now), 1);
  }
  ASSERT_EQ(sched_getaffinity(0, sizeof(after), &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace mete
