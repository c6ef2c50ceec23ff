#include "kernels/fast/target/target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "kernels/fast/conv/conv.h"
#include "kernels/fast/depthwise/depthwise.h"
#include "kernels/fast/gemm/gemm.h"
#include "kernels/fast/target/cache_lines.h"
#include "kernels/fast/target/features.h"
#include "mete/error.h"

namespace mete {
namespace {

TEST(Target, EveryAvailableOneCanBeForced) {
  for (const std::string& name : AvailableTargets()) {
    ForceTarget(name);
    EXPECT_EQ(ActiveTarget(), name);
    EXPECT_GT(MeasurePeakFlops(), 0.01);
  }
  ForceTarget("");
  EXPECT_EQ(ActiveTarget(), AvailableTargets().front());
}

TEST(Target, AnUnknownOneIsAnErrorThatListsTheOthers) {
  try {
    ForceTarget("abacus");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kFailedPrecondition);
    EXPECT_NE(std::string(e.what()).find("abacus"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find(AvailableTargets().back()), std::string::npos);
  }
}

// A target that every processor of the architecture has, so that a build cannot use a slower one unnoticed.
#if defined(__aarch64__)
constexpr const char* kAlwaysHere = "neon";
constexpr const char* kNeverHere = "sse4";
#else
constexpr const char* kAlwaysHere = "scalar";
constexpr const char* kNeverHere = "neon";
#endif

TEST(Target, OfThisKindOfProcessorIsThereAndOfAnotherIsNot) {
  const std::vector<std::string> targets = AvailableTargets();
  EXPECT_NE(std::find(targets.begin(), targets.end(), kAlwaysHere), targets.end());
  EXPECT_EQ(std::find(targets.begin(), targets.end(), kNeverHere), targets.end());
  EXPECT_THROW(ForceTarget(kNeverHere), Error);
}

#if defined(__aarch64__)
TEST(Target, OnArmTheFastKernelsAreThoseForNeon) {
  EXPECT_STREQ(ActiveTarget(), "neon");
  EXPECT_STREQ(TargetOf(PlanGemm(16, 16)), "neon");
  EXPECT_STREQ(TargetOf(PlanConv({.in_height = 8,
                                  .in_width = 8,
                                  .in_channels = 8,
                                  .out_height = 6,
                                  .out_width = 6,
                                  .out_channels = 8,
                                  .kernel_height = 3,
                                  .kernel_width = 3})),
               "neon");
  EXPECT_STREQ(TargetOf(PlanDepthwise({.in_height = 8,
                                       .in_width = 8,
                                       .in_channels = 8,
                                       .out_height = 6,
                                       .out_width = 6,
                                       .out_channels = 8,
                                       .kernel_height = 3,
                                       .kernel_width = 3,
                                       .groups = 8})),
               "neon");
}
#endif

// Times and profiles are kept under these names.
TEST(Features, WhatIsForcedAwayIsAPartOfTheNameOfTheInstructions) {
  EXPECT_EQ(ActiveInstructions(), ActiveTarget());
  for (const std::string& name : AvailableFeatures()) {
    ForceWithout(name);
    EXPECT_EQ(ActiveInstructions(), std::string(ActiveTarget()) + " without " + name);
  }
  ForceWithout("");
  EXPECT_EQ(ActiveInstructions(), ActiveTarget());
}

TEST(Target, ReadBandwidthIsPositive) { EXPECT_GT(MeasureReadBandwidth(1 << 20), 0.1); }

TEST(Target, TheLinesOfARangeAreAllThatHaveAByteOfIt) {
  const auto of = [](uintptr_t at, size_t bytes) {
    const CacheLines lines = LinesOf(reinterpret_cast<const void*>(at), bytes);
    return std::pair(lines.first, lines.end);
  };
  EXPECT_EQ(of(640, 128), std::pair(uintptr_t{640}, uintptr_t{768}));
  EXPECT_EQ(of(640, 129), std::pair(uintptr_t{640}, uintptr_t{832}));
  EXPECT_EQ(of(672, 64), std::pair(uintptr_t{640}, uintptr_t{768}));  // begins and ends within a line
  EXPECT_EQ(of(703, 1), std::pair(uintptr_t{640}, uintptr_t{704}));
  EXPECT_EQ(of(672, 0), std::pair(uintptr_t{640}, uintptr_t{640}));
}

#if defined(__x86_64__)
// The test follows a chain of cache lines in random order, in which each line holds the index of the next.
// From memory, every step waits for the memory; from the second-level cache, the chain takes a tenth of that
// time.
TEST(Target, WhatIsEvictedComesFromMemoryAndIsUnchanged) {
  constexpr size_t kLines = 4096, kLineWords = 8;  // 256 KiB
  std::vector<uint64_t> order(kLines), lines(kLines * kLineWords, 7);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin() + 1, order.end(), std::mt19937(3));
  for (size_t i = 0; i < kLines; ++i) lines[order[i] * kLineWords] = order[(i + 1) % kLines];
  const std::vector<uint64_t> before = lines;
  uint64_t at = 0;
  const auto walk_ns = [&] {
    const auto begin = std::chrono::steady_clock::now();
    for (size_t i = 0; i < kLines; ++i) at = lines[at * kLineWords];
    return (std::chrono::steady_clock::now() - begin).count();
  };
  auto near = walk_ns(), far = std::numeric_limits<decltype(near)>::max();
  // Other work on the machine can only make walks longer, so the shortest of each kind are compared. One walk
  // of 30 us without a disturbance is enough, and they never are apart if nothing is evicted.
  constexpr int kMostRounds = 10'000;
  for (int i = 0; i < 20 || (far <= 2 * near && i < kMostRounds); ++i) {
    near = std::min(near, walk_ns());
    EvictFromCaches(lines.data(), lines.size() * sizeof(uint64_t));
    far = std::min(far, walk_ns());
    walk_ns();
  }
  EXPECT_GT(far, 2 * near);
  EXPECT_EQ(at, 0u);
  EXPECT_EQ(lines, before);
}
#endif

}  // namespace
}  // namespace mete
