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

struct Runs {
  int count;
  double usual_ns, other_ns;
  bool promising = true;
  double cold = 1;  // the first run after each change of the way takes this many times as long
};

// Returns the number of runs in the other way.
int CountOther(TwoWays& ways, const Runs& runs) {
  int count = 0;
  bool last = ways.other();
  for (int i = 0; i < runs.count; ++i) {
    ways.Next({.promising = runs.promising || ways.other()});
    const bool other = ways.other();
    ways.Learn(other, (other ? runs.other_ns : runs.usual_ns) * (other != last ? runs.cold : 1));
    last = other;
    count += other;
  }
  return count;
}

TEST(TwoWays, TheOtherWayIsNotTriedWithoutAReason) {
  TwoWays ways(kRule);
  EXPECT_EQ(CountOther(ways, {.count = 1000, .usual_ns = 100, .other_ns = 10, .promising = false}), 0);
}

TEST(TwoWays, TheOtherWayIsKeptWhereItIsMuchSooner) {
  TwoWays much(kRule), little(kRule);
  EXPECT_GE(CountOther(much, {.count = 1000, .usual_ns = 100, .other_ns = 85}), 900);
  EXPECT_LE(CountOther(little, {.count = 1000, .usual_ns = 100, .other_ns = 95}), 40);
}

TEST(TwoWays, TrialsInVainBecomeSeldom) {
  TwoWays ways(kRule);
  CountOther(ways, {.count = 2000, .usual_ns = 100, .other_ns = 200});
  EXPECT_LE(CountOther(ways, {.count = 2560, .usual_ns = 100, .other_ns = 200}), 3 * 11);
}

TEST(TwoWays, AWayThatTakesLongerThanItDidIsDoubtedAtOnce) {
  TwoWays ways(kRule);
  CountOther(ways, {.count = 2000, .usual_ns = 100, .other_ns = 105});  // trials are rare after these runs
  EXPECT_GE(CountOther(ways, {.count = 100, .usual_ns = 130, .other_ns = 105}),
            60);  // 16 runs until the average is more than 105 / 0.9
  EXPECT_GE(CountOther(ways, {.count = 1000, .usual_ns = 130, .other_ns = 105}), 950);
  // The usual way is used again, because the other way now takes longer.
  EXPECT_LE(CountOther(ways, {.count = 100, .usual_ns = 130, .other_ns = 140}), 60);
}

TEST(TwoWays, TheFirstTimeAfterAChangeDoesNotCount) {
  TwoWays ways(kRule);
  EXPECT_GE(CountOther(ways, {.count = 1000, .usual_ns = 100, .other_ns = 85, .cold = 5}), 900);
}

TEST(TwoWays, AVoidTrialIsNotJudged) {
  TwoWays ways(kRule);
  CountOther(ways, {.count = 100, .usual_ns = 100, .other_ns = 50});
  ASSERT_TRUE(ways.other());
  bool back = false;
  // The loop ends when a trial of the usual way has ended without being judged.
  for (int i = 0; i < 1000 && !back; ++i) {
    ways.Next({.promising = true, .void_trial = true});
    back = !ways.other() && !ways.trying();
  }
  EXPECT_TRUE(back);
}

// A trial gives no times if, for example, all its runs were cancelled.
TEST(TwoWays, AWayOfWhichNoTimeIsKnownIsNotKept) {
  TwoWays ways(kRule);
  CountOther(ways, {.count = 100, .usual_ns = 100, .other_ns = 50, .promising = false});
  ways.Next({.promising = true});
  ASSERT_TRUE(ways.other());
  for (int i = 0; i < kRule.trial_runs; ++i) ways.Next({});
  EXPECT_FALSE(ways.other());
  EXPECT_FALSE(ways.trying());
}

}  // namespace
}  // namespace mete
