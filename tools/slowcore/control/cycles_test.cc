#include "tools/slowcore/control/cycles.h"

#include <gtest/gtest.h>

namespace mete::slowcore {
namespace {

constexpr Pace kPace{0.35, 200'000};

// Adds readings of the clock every 50 ns for `ns`.
void Read(CycleCounter& counter, int64_t ns) {
  for (int64_t t = 0; t < ns; t += 50) counter.Add(50);
}

void Period(CycleCounter& counter) {
  Read(counter, 70'000);
  counter.Add(130'000);
}

TEST(CycleCounter, ShareOfWholePeriods) {
  CycleCounter counter(SlowedCore(kPace));
  for (int k = 0; k < 10; ++k) Period(counter);
  EXPECT_EQ(counter.counted_ns(), 9 * 200'000);  // the beginning of the first period is unknown
  EXPECT_DOUBLE_EQ(counter.OwnShare(), 0.35);
}

TEST(CycleCounter, SlicesOfOtherThreadsChangeNothing) {
  CycleCounter counter(SlowedCore(kPace));
  for (int k = 0; k < 20; ++k) {
    for (int i = 0; i < 4; ++i) Period(counter);
    Read(counter, 20'000 + k * 1000);  // the slice begins at any place of the period
    counter.Add(3'000'000 + k * 7000);
    Read(counter, k * 2000);
    counter.Add(130'000);
  }
  EXPECT_DOUBLE_EQ(counter.OwnShare(), 0.35);
}

TEST(CycleCounter, InterruptsAreLostTimeAndEndNoCycle) {
  CycleCounter counter(SlowedCore(kPace));
  Period(counter);
  Read(counter, 30'000);
  counter.Add(5000);
  Read(counter, 35'000);
  EXPECT_EQ(counter.counted_ns(), 0);
  counter.Add(130'000);
  EXPECT_EQ(counter.counted_ns(), 200'000);
  EXPECT_DOUBLE_EQ(counter.OwnShare(), 65.0 / 200);
}

TEST(CycleCounter, AFreeCoreLosesItsInterruptsAlone) {
  CycleCounter counter(FreeCore(kPace));
  counter.Add(2000);
  for (int k = 0; k < 10; ++k) {
    Read(counter, 998'000);
    counter.Add(2000);
  }
  counter.Add(4'000'000);
  EXPECT_DOUBLE_EQ(counter.OwnShare(), 0.998);
}

TEST(CycleCounter, AWindowBeginsEmptyAndKeepsTheCycleUnderWay) {
  CycleCounter counter(SlowedCore(kPace));
  Period(counter);
  Period(counter);
  counter.StartWindow();
  EXPECT_EQ(counter.OwnShare(), 0);
  Period(counter);
  EXPECT_EQ(counter.counted_ns(), 200'000);
}

}  // namespace
}  // namespace mete::slowcore
