#include "tools/slowcore/control/phases.h"

#include <gtest/gtest.h>

#include <vector>

namespace mete::slowcore {
namespace {

std::vector<int64_t> Ends(const PhaseSettings& settings, int count) {
  Phases phases(settings);
  std::vector<int64_t> ends;
  for (int64_t at = 0; int(ends.size()) < count; at = ends.back()) {
    phases.SlowAt(at);
    ends.push_back(phases.end_ns());
  }
  return ends;
}

// Returns the slow share of the time of `count` phases.
double SlowShare(const PhaseSettings& settings, int count) {
  Phases phases(settings);
  int64_t at = 0, slow_ns = 0;
  for (int i = 0; i < count; ++i) {
    const bool slow = phases.SlowAt(at);
    if (slow) slow_ns += phases.end_ns() - at;
    at = phases.end_ns();
  }
  return double(slow_ns) / double(at);
}

TEST(Phases, AlternateAndBeginSlow) {
  Phases phases({0.1, 0.5, 1});
  bool slow = true;
  for (int64_t at = 0, i = 0; i < 100; ++i, at = phases.end_ns(), slow = !slow)
    ASSERT_EQ(phases.SlowAt(at), slow) << i;
}

TEST(Phases, SameSeedSamePhases) {
  EXPECT_EQ(Ends({0.1, 0.5, 5}, 50), Ends({0.1, 0.5, 5}, 50));
  EXPECT_NE(Ends({0.1, 0.5, 5}, 50), Ends({0.1, 0.5, 6}, 50));
}

// With 10 000 lengths whose standard deviation is their mean, the standard deviation of the average is 1 %.
// The test allows four of them.
TEST(Phases, MeanAndShareAreThoseAskedFor) {
  for (double share : {0.2, 0.5, 0.9}) {
    const auto ends = Ends({0.1, share, 1}, 10'000);
    // The factor 1.5 is for unequal means of slow and free phases, which spread more.
    EXPECT_NEAR(double(ends.back()) / 10'000 * 1e-9, 0.1, 0.004 * 1.5) << share;
    EXPECT_NEAR(SlowShare({0.1, share, 1}, 10'000), share, 0.02) << share;
  }
}

TEST(Phases, SkipsWhatNobodyAskedAbout) {
  Phases each({0.001, 0.5, 1}), once({0.001, 0.5, 1});
  bool slow = false;
  for (int64_t at = 0; at <= 1'000'000'000; at += 10'000) slow = each.SlowAt(at);
  EXPECT_EQ(once.SlowAt(1'000'000'000), slow);
  EXPECT_EQ(once.end_ns(), each.end_ns());
}

}  // namespace
}  // namespace mete::slowcore
