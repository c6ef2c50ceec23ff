#include "processor/cpu/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "mete/error.h"

namespace mete {
namespace {

TEST(Pool, ScratchIsEachWorkersOwnAndOnlyGrows) {
  Pool pool(2, {}, MakePolicy("equal"));
  pool.ReserveScratch(0);
  pool.ReserveScratch(1000);
  std::byte* first = pool.scratch(0);
  pool.ReserveScratch(100);
  EXPECT_EQ(pool.scratch(0), first);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  EXPECT_GE(std::abs(pool.scratch(1) - first), 1000);
}

TEST(EqualPolicy, RangesCoverOnceWithoutOverlap) {
  for (int workers = 1; workers <= 7; ++workers)
    for (int64_t blocks : {0, 1, 2, 6, 7, 8, 100}) {
      auto policy = MakePolicy("equal");
      policy->Begin(blocks, workers);
      std::vector<int> seen(size_t(blocks), 0);
      for (int w = 0; w < workers; ++w) {
        BlockRange r;
        while (policy->Next(w, &r))
          for (int64_t b = r.begin; b < r.end; ++b) ++seen[size_t(b)];
      }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), blocks) << workers << " workers";
    }
}

TEST(MakePolicy, NamesTheKnownOnes) { EXPECT_THROW(MakePolicy("magic"), Error); }

TEST(Pool, RunsEveryBlockOnceInEachOfManyRegions) {
  Pool pool(3, {}, MakePolicy("equal"));
  for (int region = 0; region < 2000; ++region) {
    const int64_t blocks = region % 17;
    std::atomic<int64_t> sum{0};
    pool.For(blocks, [&](int, int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) sum += b + 1;
    });
    ASSERT_EQ(sum.load(), blocks * (blocks + 1) / 2);
  }
}

TEST(Pool, WakesWorkersThatFellAsleep) {
  Pool pool(2, {}, MakePolicy("equal"));
  for (int i = 0; i < 3; ++i) {
    std::atomic<int> workers{0};
    pool.For(2, [&](int w, int64_t, int64_t) { workers += w + 1; });
    EXPECT_EQ(workers.load(), 3);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // far longer than the workers spin
  }
}

TEST(Pool, TwoPoolsRunSideBySide) {
  auto work = [] {
    Pool pool(2, {}, MakePolicy("equal"));
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

TEST(Pool, PinsTheCallerOnlyForTheRun) {
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  int core = 0;
  while (!CPU_ISSET(core, &before)) ++core;
  Pool pool(1, {core}, MakePolicy("equal"));
  {
    const Pool::CallerPin pin(pool);
    cpu_set_t now;
    ASSERT_EQ(sched_getaffinity(0, sizeof(now), &now), 0);
    EXPECT_EQ(CPU_COUNT(&now), 1);
  }
  ASSERT_EQ(sched_getaffinity(0, sizeof(after), &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace mete
