#include "network/worker/ready_cache.h"

#include "base/errors_testing.h"
#include "passes/graphs_testing.h"
#include "processor/cpu/cpu_testing.h"

namespace mete {
namespace {

constexpr int64_t kMiB = 1 << 20;

// A graph with two activations of `floats` floats at a time; its other memory is small.
Graph GraphOf(int64_t floats) {
  Builder b;
  const ValueId x = b.Input({1, floats});
  b.Output(b.Op("Softmax", {b.Op("Softmax", {b.Op("Softmax", {x})})}));
  InferShapes(b.graph);
  return b.graph;
}

TEST(ReadyCache, TheSameGraphIsMadeReadyOnce) {
  MemoryBudget memory(kMiB);
  ReadyCache cache(memory);
  const auto session = cache.Of(ReferenceCpu(), GraphOf(100));
  EXPECT_EQ(cache.Of(ReferenceCpu(), GraphOf(100)), session);
  EXPECT_NE(cache.Of(ReferenceCpu(), GraphOf(101)), session);
  EXPECT_NE(cache.Fresh(ReferenceCpu(), GraphOf(100)), session);
}

TEST(ReadyCache, WhatNobodyUsesGoesForWhatSomebodyWants) {
  MemoryBudget memory(5 * kMiB);
  ReadyCache cache(memory);
  std::weak_ptr<Ready> unused = cache.Of(ReferenceCpu(), GraphOf(kMiB / 4));
  const std::shared_ptr<Ready> used = cache.Of(ReferenceCpu(), GraphOf(kMiB / 4 + 1));
  EXPECT_GT(memory.taken(), 4 * kMiB);
  {
    const MemoryBudget::Part part = cache.Take(2 * kMiB, "a test");
    EXPECT_TRUE(unused.expired());
    EXPECT_EQ(cache.Of(ReferenceCpu(), GraphOf(kMiB / 4 + 1)), used);
    EXPECT_TELLS(cache.Take(kMiB, "a test"),
                 "[worker] has no memory for a test; got 1.0 MiB beside 4.0 MiB in use, expected 5.0 MiB "
                 "together at most; try a larger "
                 "--memory-gib");
  }
  EXPECT_NO_THROW(cache.Take(kMiB, "a test"));
}

TEST(ReadyCache, TheOneThatWasToBeKeptLastGoesBeforeOthers) {
  MemoryBudget memory(5 * kMiB);
  ReadyCache cache(memory);
  std::weak_ptr<Ready> unused = cache.Of(ReferenceCpu(), GraphOf(kMiB / 4));
  std::shared_ptr<Ready> used = cache.Fresh(ReferenceCpu(), GraphOf(kMiB / 4));
  std::weak_ptr<Ready> last = used;
  cache.KeepLast(ReferenceCpu(), used);
  EXPECT_THROW(cache.Take(4 * kMiB, "a test"), Error);
  EXPECT_FALSE(last.expired());
  EXPECT_TRUE(unused.expired());
  unused = cache.Of(ReferenceCpu(), GraphOf(kMiB / 4));
  used.reset();
  EXPECT_NO_THROW(cache.Take(2 * kMiB, "a test"));
  EXPECT_TRUE(last.expired());
  EXPECT_FALSE(unused.expired());
}

TEST(ReadyCache, AGraphThatIsTooLargeIsRefusedBeforeItIsPrepared) {
  MemoryBudget memory(4 * kMiB);
  ReadyCache cache(memory);
  EXPECT_TELLS(cache.Of(ReferenceCpu(), GraphOf(2 * kMiB)), "has no memory for a share");
  EXPECT_TELLS(cache.Fresh(ReferenceCpu(), GraphOf(2 * kMiB)), "has no memory for a share");
  EXPECT_EQ(memory.taken(), 0);
}

TEST(ReadyCache, UnusedSharesKeepFewThreads) {
  MemoryBudget memory(100 * kMiB);
  Cpu cpu("four", ReferenceOptions(4));
  ReadyCache cache(memory);
  std::vector<std::shared_ptr<Ready>> used;
  for (int i = 0; i < 100; ++i) used.push_back(cache.Of(cpu, GraphOf(100 + i)));
  cache.Trim();
  std::vector<std::weak_ptr<Ready>> sessions(used.begin(), used.end());
  const auto there = [&] {
    return std::count_if(sessions.begin(), sessions.end(), [](const auto& s) { return !s.expired(); });
  };
  EXPECT_EQ(there(), 100);
  used.resize(5);
  cache.Trim();
  EXPECT_EQ(there(), 5 + 256 / 3);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(sessions[size_t(i)].expired());
  EXPECT_FALSE(sessions.back().expired());  // the most recently used ones stay
}

}  // namespace
}  // namespace mete
