#include "run/back_off.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using enum BackOff::Loss;

// How long after a loss at `now` a processor is due again, in milliseconds.
int64_t WaitOf(const BackOff& back_off, Clock::Time now) {
  milliseconds wait{0};
  while (!back_off.Due(now + wait)) wait += milliseconds(50);
  return wait.count();
}

TEST(BackOff, DoublesUntilADeviceHasServedForAWhile) {
  BackOff back_off;
  Clock::Time now{seconds(1000)};
  EXPECT_TRUE(back_off.Due(now));
  for (const int64_t expected : {250, 500, 1000, 2000, 4000, 8000, 10'000, 10'000}) {
    back_off.Lost(now, kMayPass);
    EXPECT_EQ(WaitOf(back_off, now), expected);
    now += seconds(60);  // it answers, and takes its time to fail
  }
  back_off.Serves(now);
  back_off.Lost(now + seconds(1), kMayPass);
  EXPECT_EQ(WaitOf(back_off, now + seconds(1)), 10'000);
  back_off.Serves(now);
  back_off.Serves(now + seconds(59));  // of the next plan
  back_off.Lost(now + seconds(60), kMayPass);
  EXPECT_EQ(WaitOf(back_off, now + seconds(60)), 250);
}

TEST(BackOff, WhoRefusesIsTriedAtTheLongest) {
  BackOff back_off;
  const Clock::Time now{seconds(1000)};
  back_off.Lost(now, kRefusal);
  EXPECT_EQ(WaitOf(back_off, now), 10'000);
}

}  // namespace
}  // namespace mete
