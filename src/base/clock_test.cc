#include "base/clock.h"

#include <gtest/gtest.h>

#include "base/clock_testing.h"

namespace mete {
namespace {

using std::chrono::hours;

// Waits for `done` until a time, on a thread of its own.
class Waiting {
 public:
  Waiting(Clock& clock, Clock::Time until)
      : thread_([this, &clock, until] {
          std::unique_lock lock(mutex_);
          held_ = clock.WaitUntil(changed_, lock, until, [&] { return done_; });
        }) {}
  ~Waiting() {
    if (thread_.joinable()) thread_.join();
  }
  void Do() {
    {
      std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
  }
  bool Held() {
    thread_.join();
    return held_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false, held_ = false;
  std::thread thread_;
};

TEST(Clock, AWaitEndsWhenItIsDoneOrWhenItsTimeHasCome) {
  Clock& steady = Clock::Steady();
  Waiting done(steady, Clock::Time::max());
  done.Do();
  EXPECT_TRUE(done.Held());
  EXPECT_FALSE(Waiting(steady, steady.Now()).Held());
  EXPECT_FALSE(Waiting(steady, steady.Now() + std::chrono::microseconds(1)).Held());
}

TEST(FakeClock, MovesOnlyWhereItIsMoved) {
  FakeClock clock;
  const Clock::Time start = clock.Now();
  Waiting first(clock, start + hours(1)), second(clock, start + hours(2)), never(clock, Clock::Time::max());
  clock.AwaitSleeper(hours(1), hours(1));
  clock.AwaitSleeper(hours(2), hours(2));
  clock.Advance(hours(1));
  EXPECT_FALSE(first.Held());
  second.Do();
  EXPECT_TRUE(second.Held());
  never.Do();
  EXPECT_TRUE(never.Held());
  EXPECT_EQ(clock.Now(), start + hours(1));
}

}  // namespace
}  // namespace mete
