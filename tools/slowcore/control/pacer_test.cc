#include "tools/slowcore/control/pacer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace mete::slowcore {
namespace {

constexpr int kPeriods = 5000;  // one second with periods of 200 us

// A simulated core with one thread of normal priority and the pacer's real-time thread.
struct SimulatedCore {
  double early_ns = 0;       // time before the timer is due at which the other thread loses the core
  int64_t most_late_ns = 0;  // longest time after the timer is due until the pacer's thread is awake
  double switch_ns = 0;      // time from the end of the busy part until the other thread runs
  int stall_every = 0;       // periods from one standstill of the whole core to the next; 0: none
  int64_t stall_ns = 0;
  std::mt19937_64 random{7};

  int64_t Late() { return most_late_ns > 0 ? int64_t(random() % uint64_t(most_late_ns)) : 0; }

  // Returns the speed that the other thread sees by a clock that stands still when the core does.
  double Run(Pacer& pacer) {
    int64_t now = 0;
    double others = 0, stalled = 0;
    pacer.Restart(0);
    for (int k = 0; k < kPeriods; ++k) {
      others += std::max(double(pacer.wake_ns() - now) - early_ns - switch_ns, 0.0);
      now = pacer.wake_ns() + Late();
      if (stall_every > 0 && k % stall_every == stall_every - 1) {
        now += stall_ns;
        stalled += double(stall_ns);
      }
      now = pacer.BusyUntil(now);
      pacer.Ended(now);
    }
    return others / (double(now) - stalled);
  }
};

constexpr double kSpeeds[] = {0.05, 0.25, 0.35, 0.5, 0.7, 0.95};
constexpr int64_t kPeriodsNs[] = {150'000, 200'000, 300'000};

// Calibrates as the program does: measure, adjust, measure again.
double Calibrated(SimulatedCore core, const Pace& pace, int rounds) {
  Pacer pacer(pace);
  double overhead_ns = 0;
  for (int i = 0; i < rounds; ++i) {
    overhead_ns = NextOverheadNs(overhead_ns, pace, core.Run(pacer));
    pacer.SetOverheadNs(overhead_ns);
  }
  return core.Run(pacer);
}

TEST(Pacer, GivesOthersTheirShareOnAnIdealCore) {
  for (double speed : kSpeeds)
    for (int64_t period : kPeriodsNs)
      EXPECT_NEAR(Calibrated({}, {speed, period}, 0), speed, 1.0 / kPeriods) << speed << " " << period;
}

TEST(Pacer, OverheadIsLearned) {
  for (double speed : kSpeeds) {
    const SimulatedCore core{.early_ns = 1000, .switch_ns = 3000};
    EXPECT_LT(Calibrated(core, {speed, 200'000}, 0), speed - 0.015);
    EXPECT_NEAR(Calibrated(core, {speed, 200'000}, 3), speed, 0.01 * speed);
  }
}

TEST(Pacer, WakeUpsThatTakeLongerThanInCalibrationChangeNothing) {
  for (double speed : {0.25, 0.35, 0.5, 0.7}) {
    const Pace pace{speed, 200'000};
    Pacer pacer(pace);
    SimulatedCore quick{.most_late_ns = 5000, .switch_ns = 3000},
        slow{.most_late_ns = 50'000, .switch_ns = 3000};
    const double overhead_ns = NextOverheadNs(0, pace, quick.Run(pacer));
    EXPECT_NEAR(overhead_ns, 3000, 50) << speed;
    pacer.SetOverheadNs(overhead_ns);
    EXPECT_NEAR(slow.Run(pacer), speed, 0.01 * speed) << speed;
  }
}

TEST(Pacer, AWakeUpAfterTheEndIsTakenFromTheNextBusyParts) {
  Pacer pacer({0.7, 200'000});
  pacer.Restart(-200'000);
  EXPECT_EQ(pacer.BusyUntil(90'000), 90'000);  // the planned end, 60'000, has passed
  EXPECT_NEAR(pacer.Ended(90'000), 90'000, 1e-6);
  EXPECT_NEAR(pacer.owed_ns(), -30'000, 1e-6);
  EXPECT_EQ(pacer.wake_ns(), 200'000);
  EXPECT_EQ(pacer.BusyUntil(201'000), 230'000);
  pacer.Ended(230'000);
  EXPECT_NEAR(pacer.owed_ns(), 0, 1e-6);
}

TEST(Pacer, WhatIsOwedIsPaidWithoutTakingMoreThanHalfOfOthersShare) {
  Pacer pacer({0.5, 200'000});
  pacer.Restart(-200'000);
  pacer.BusyUntil(0);
  pacer.Ended(20'000);  // the busy part is 80'000 too short
  EXPECT_EQ(pacer.BusyUntil(200'000), 350'000);
  pacer.Ended(350'000);
  EXPECT_NEAR(pacer.owed_ns(), 30'000, 1e-6);
  EXPECT_EQ(pacer.BusyUntil(400'000), 530'000);
}

TEST(Pacer, ACoreThatStoodStillIsNotPaidBack) {
  for (double speed : {0.25, 0.5, 0.7}) {
    const SimulatedCore core{.stall_every = 50, .stall_ns = 5'000'000};
    EXPECT_NEAR(Calibrated(core, {speed, 200'000}, 0), speed, 0.01 * speed) << speed;
  }
}

// However late the thread wakes up, no busy part reaches into the next period.
TEST(Pacer, BusyPartsEndWithinTheirPeriod) {
  std::mt19937_64 random(3);
  Pacer pacer({0.35, 200'000});
  pacer.Restart(0);
  for (int k = 0; k < 10'000; ++k) {
    const int64_t wake = pacer.wake_ns(), now = wake + int64_t(random() % 190'000);
    const int64_t until = pacer.BusyUntil(now);
    EXPECT_LE(until, std::max<int64_t>(wake + 165'000, now)) << k;
    pacer.Ended(until);
    EXPECT_EQ(pacer.wake_ns(), wake + 200'000) << k;
  }
}

TEST(NextOverheadNs, StopsWhereNothingIsLeftToAdjust) {
  const Pace pace{0.95, 200'000};
  EXPECT_EQ(NextOverheadNs(0, pace, 0.95), 0);
  EXPECT_NEAR(NextOverheadNs(1000, pace, 0.93), 5000, 1e-6);
  // the busy part cannot be shortened by more than its length
  EXPECT_NEAR(NextOverheadNs(0, pace, 0.1), pace.lost_ns(), 1e-6);
}

}  // namespace
}  // namespace mete::slowcore
