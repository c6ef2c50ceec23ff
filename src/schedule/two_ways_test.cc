#include "schedule/two_ways.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

constexpr TwoWays::Rule kRule{.much_sooner = 0.9,
                              .trial_runs = 3,
                              .settling_runs = 1,
                              .least_patience = 4,
                              .usual_gain = 0.05,
                              .doubts = true};

// Does `times` runs, of which the first after each change of the way takes `cold` times as long. Returns the
// number of runs in the other way.
int CountOther(TwoWays& ways, int times, double usual_ns, double other_ns, bool promising, double cold = 1) {
  int count = 0;
  bool last = ways.other();
  for (int i = 0; i < times; ++i) {
    ways.Next(promising || ways.other());
    const bool other = ways.other();
    ways.Learn(other, (other ? other_ns : usual_ns) * (other != last ? cold : 1));
    last = other, count += other;
  }
  return count;
}

TEST(TwoWays, TheOtherWayIsNotTriedWithoutAReason) {
  TwoWays ways(kRule);
  EXPECT_EQ(CountOther(ways, 1000, 100, 10, false), 0);
}

TEST(TwoWays, TheOtherWayIsKeptWhereItIsMuchSooner) {
  TwoWays much(kRule), little(kRule);
  EXPECT_GE(CountOther(much, 1000, 100, 85, true), 900);
  EXPECT_LE(CountOther(little, 1000, 100, 95, true), 40);
}

TEST(TwoWays, TrialsInVainBecomeSeldom) {
  TwoWays ways(kRule);
  CountOther(ways, 2000, 100, 200, true);
  EXPECT_LE(CountOther(ways, 2560, 100, 200, true), 3 * 11);
}

TEST(TwoWays, AWayThatTakesLongerThanItDidIsDoubtedAtOnce) {
  TwoWays ways(kRule);
  CountOther(ways, 2000, 100, 105, true);                // trials are rare after these runs
  EXPECT_GE(CountOther(ways, 100, 130, 105, true), 60);  // 16 runs until the average is more than 105 / 0.9
  EXPECT_GE(CountOther(ways, 1000, 130, 105, true), 950);
  // The usual way is used again, because the other way now takes longer.
  EXPECT_LE(CountOther(ways, 100, 130, 140, true), 60);
}

TEST(TwoWays, TheFirstTimeAfterAChangeDoesNotCount) {
  TwoWays ways(kRule);
  EXPECT_GE(CountOther(ways, 1000, 100, 85, true, 5), 900);
}

TEST(TwoWays, AVoidTrialIsNotJudged) {
  TwoWays ways(kRule);
  CountOther(ways, 100, 100, 50, true);
  ASSERT_TRUE(ways.other());
  bool back = false;
  // The loop ends when a trial of the usual way has ended without being judged.
  for (int i = 0; i < 1000 && !back; ++i) {
    ways.Next(true, true);
    back = !ways.other() && !ways.trying();
  }
  EXPECT_TRUE(back);
}

// A trial gives no times if, for example, all its runs were cancelled.
TEST(TwoWays, AWayOfWhichNoTimeIsKnownIsNotKept) {
  TwoWays ways(kRule);
  CountOther(ways, 100, 100, 50, false);
  ways.Next(true);
  ASSERT_TRUE(ways.other());
  for (int i = 0; i < kRule.trial_runs; ++i) ways.Next(false);
  EXPECT_FALSE(ways.other());
  EXPECT_FALSE(ways.trying());
}

}  // namespace
}  // namespace mete
