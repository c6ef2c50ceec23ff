#include "processor/cpu/spare_time.h"

#include <gtest/gtest.h>

#include "base/clock_testing.h"

namespace mete {
namespace {

using std::chrono::microseconds;

// Work in steps that take times of their own.
struct FakeWork {
  FakeClock& clock;
  int left;
  microseconds step;
  int resumed = 0;

  bool done() const { return left == 0; }
  void Resume() { ++resumed; }
  void Step() {
    clock.Advance(step);
    --left;
  }
};

class SpareTimeTest : public testing::Test {
 protected:
  void RunFor(microseconds time) {
    const Clock::Time begin = spare_.Now();
    clock_.Advance(time);
    spare_.Earn(begin);
  }

  FakeClock clock_;
  SpareTime spare_{clock_};
};

TEST_F(SpareTimeTest, NothingIsDoneBeforeTheFirstRun) {
  FakeWork work{clock_, 5, microseconds(1)};
  EXPECT_FALSE(spare_.Spend(work));
  EXPECT_EQ(work.left, 5);
  EXPECT_EQ(work.resumed, 0);
}

TEST_F(SpareTimeTest, ATenthOfARunIsSpentAndOneStepMoreAtMost) {
  FakeWork work{clock_, 1000, microseconds(30)};
  RunFor(microseconds(1000));
  EXPECT_TRUE(spare_.Spend(work));
  EXPECT_EQ(1000 - work.left, 4) << "three steps take 90 of 100 us, the fourth exceeds them";
  EXPECT_EQ(work.resumed, 1);
}

// Each run earns 100 us. No sum of them is the time of a step, so that their rounding does not matter.
TEST_F(SpareTimeTest, ALongStepIsEarnedAfterwards) {
  FakeWork work{clock_, 3, microseconds(1020)};
  for (int run = 1; run <= 25; ++run) {
    RunFor(microseconds(1000));
    const int before = work.left;
    spare_.Spend(work);
    EXPECT_EQ(before - work.left, run == 1 || run == 11 || run == 21) << "run " << run;
  }
  EXPECT_TRUE(work.done());
}

TEST_F(SpareTimeTest, InTheSumItIsTheShare) {
  FakeWork work{clock_, 1 << 20, microseconds(7)};
  for (int run = 0; run < 1000; ++run) {
    RunFor(microseconds(50 + run % 13));
    spare_.Spend(work);
  }
  const double spent = 7. * ((1 << 20) - work.left), runs = 1000 * 50 + 5994;
  EXPECT_LE(spent, SpareTime::kShare * runs + 7);
  EXPECT_GE(spent, SpareTime::kShare * runs - 7);
}

TEST_F(SpareTimeTest, WorkThatIsDoneIsNotResumed) {
  FakeWork work{clock_, 1, microseconds(1)};
  RunFor(microseconds(1000));
  EXPECT_TRUE(spare_.Spend(work));
  EXPECT_FALSE(spare_.Spend(work));
  EXPECT_EQ(work.resumed, 1);
}

}  // namespace
}  // namespace mete
