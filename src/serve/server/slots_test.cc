#include "serve/server/slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <set>

#include "base/clock_testing.h"

namespace mete::serve {
namespace {

constexpr Nanoseconds kMs = 1000000;

// What became of a job.
struct Fates {
  std::mutex mutex;
  std::set<int> computed;
  std::map<int, Refusal> given_up;
};

struct NumberedJob : Job {
  NumberedJob(int number, Fates& fates) : number(number), fates(fates) {}
  void GiveUp(Refusal why) override {
    const std::lock_guard lock(fates.mutex);
    EXPECT_TRUE(fates.given_up.insert({number, why}).second);
  }
  const int number;
  Fates& fates;
};

// Slots whose jobs wait at a gate. There is one slot unless a test says otherwise.
class SlotsTest : public testing::Test {
 protected:
  explicit SlotsTest(QueueLimits limits = {.slots = 1, .waiting_per_slot = 2})
      : slots_(
            limits,
            [this](const Start&, std::vector<std::unique_ptr<Job>> jobs) {
              ++begun_;
              while (closed_) std::this_thread::yield();
              for (const auto& job : jobs) {
                const auto& numbered = static_cast<const NumberedJob&>(*job);
                const std::lock_guard lock(fates_.mutex);
                EXPECT_TRUE(fates_.computed.insert(numbered.number).second);
              }
              return Computed{kMs, nullptr};
            },
            clock_),
        model_(slots_.AddModel({.wide = kMs, .narrow = kMs})) {}
  ~SlotsTest() override { closed_ = false; }

  Admission Submit(int number, Nanoseconds within = 0) {
    Arrival arrival;
    arrival.model = model_;
    if (within > 0) arrival.deadline = Now() + within;
    std::unique_ptr<Job> job = std::make_unique<NumberedJob>(number, fates_);
    const Admission admission = slots_.Submit(arrival, job);
    request_ = arrival.request;
    EXPECT_EQ(job == nullptr, admission.refusal == Refusal::kNone);
    return admission;
  }
  Nanoseconds Now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(clock_.Now().time_since_epoch()).count();
  }
  void AwaitBegun(int count) const {
    while (begun_ < count) std::this_thread::yield();
  }

  FakeClock clock_;
  Fates fates_;
  uint64_t request_ = 0;  // of the last job
  std::atomic<bool> closed_{false};
  std::atomic<int> begun_{0};
  Slots slots_;
  const int model_;
};

TEST_F(SlotsTest, EachAcceptedJobIsComputedOnce) {
  std::set<int> accepted;
  for (int i = 0; i < 1000; ++i)
    if (Submit(i).refusal == Refusal::kNone) accepted.insert(i);
  EXPECT_TRUE(slots_.Drain(Clock::Time::max()));
  EXPECT_EQ(fates_.computed, accepted);
  EXPECT_TRUE(fates_.given_up.empty());
}

TEST_F(SlotsTest, WhatHasNoPlaceIsRefusedAtOnce) {
  closed_ = true;
  EXPECT_EQ(Submit(0).refusal, Refusal::kNone);
  AwaitBegun(1);
  EXPECT_EQ(Submit(1).refusal, Refusal::kNone);
  EXPECT_EQ(Submit(2).refusal, Refusal::kNone);
  const Admission full = Submit(3);
  EXPECT_EQ(full.refusal, Refusal::kFull);
  EXPECT_GT(full.retry_after, 0);
  EXPECT_EQ(slots_.waiting(), 2);
  EXPECT_EQ(slots_.under_way(), 1);
  closed_ = false;
  EXPECT_TRUE(slots_.Drain(Clock::Time::max()));
  EXPECT_EQ(fates_.computed, (std::set<int>{0, 1, 2}));
}

TEST_F(SlotsTest, AJobWhoseDeadlinePassesIsGivenUpWhileItWaits) {
  closed_ = true;
  EXPECT_EQ(Submit(0).refusal, Refusal::kNone);
  AwaitBegun(1);
  EXPECT_EQ(Submit(1, 10 * kMs).refusal, Refusal::kNone);
  clock_.Advance(std::chrono::milliseconds(11));
  while (slots_.waiting() > 0) std::this_thread::yield();
  closed_ = false;
  EXPECT_TRUE(slots_.Drain(Clock::Time::max()));
  EXPECT_EQ(fates_.computed, (std::set<int>{0}));
  EXPECT_EQ(fates_.given_up, (std::map<int, Refusal>{{1, Refusal::kTooLate}}));
}

TEST_F(SlotsTest, ADrainRefusesAndWaitsForWhatWasAccepted) {
  closed_ = true;
  EXPECT_EQ(Submit(0).refusal, Refusal::kNone);
  EXPECT_EQ(Submit(1).refusal, Refusal::kNone);
  EXPECT_FALSE(slots_.Drain(clock_.Now()));  // not within this time
  EXPECT_EQ(Submit(2).refusal, Refusal::kDraining);
  closed_ = false;
  EXPECT_TRUE(slots_.Drain(Clock::Time::max()));
  EXPECT_EQ(fates_.computed, (std::set<int>{0, 1}));
}

TEST_F(SlotsTest, AJobWhoseCallerHasGoneIsComputedOnlyIfItHasBegun) {
  closed_ = true;
  EXPECT_EQ(Submit(0).refusal, Refusal::kNone);
  const uint64_t begun = request_;
  AwaitBegun(1);
  EXPECT_EQ(Submit(1).refusal, Refusal::kNone);
  slots_.Cancel(request_);
  slots_.Cancel(request_);  // which waits no more
  slots_.Cancel(begun);
  EXPECT_EQ(slots_.waiting(), 0);
  EXPECT_EQ(fates_.given_up, (std::map<int, Refusal>{{1, Refusal::kGone}}));
  closed_ = false;
  EXPECT_TRUE(slots_.Drain(Clock::Time::max()));
  EXPECT_EQ(fates_.computed, (std::set<int>{0}));
}

TEST_F(SlotsTest, WhatWaitsTooLongForTheEndIsGivenUpAndWhatIsBeingComputedIsNot) {
  closed_ = true;
  EXPECT_EQ(Submit(0).refusal, Refusal::kNone);
  AwaitBegun(1);
  EXPECT_EQ(Submit(1).refusal, Refusal::kNone);
  EXPECT_EQ(Submit(2).refusal, Refusal::kNone);
  EXPECT_FALSE(slots_.Drain(clock_.Now()));
  slots_.GiveUpWaiting();
  EXPECT_EQ(fates_.given_up, (std::map<int, Refusal>{{1, Refusal::kDraining}, {2, Refusal::kDraining}}));
  EXPECT_EQ(slots_.waiting(), 0);
  closed_ = false;
  EXPECT_TRUE(slots_.Drain(Clock::Time::max()));
  EXPECT_EQ(fates_.computed, (std::set<int>{0}));
}

class FourSlots : public SlotsTest {
 protected:
  FourSlots() : SlotsTest({.slots = 4, .waiting_per_slot = 100}) {}
};

TEST_F(FourSlots, JobsOfManyThreadsAreComputedOnceEach) {
  std::vector<std::thread> threads;
  std::atomic<int> accepted{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) accepted += Submit(t * 1000 + i).refusal == Refusal::kNone;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(slots_.Drain(Clock::Time::max()));
  EXPECT_EQ(int(fates_.computed.size()), accepted);
  EXPECT_EQ(slots_.waiting() + slots_.under_way(), 0);
}

TEST_F(FourSlots, AModelIsRemovedBehindItsLastJob) {
  const auto model = std::make_shared<int>(0);
  std::weak_ptr<int> left = model;
  {
    Slots slots({.slots = 2}, [keep = model](const Start&, std::vector<std::unique_ptr<Job>>) mutable {
      return Computed{kMs, std::move(keep)};
    });
    const int number = slots.AddModel({.wide = kMs, .narrow = kMs});
    Arrival arrival;
    arrival.model = number;
    std::unique_ptr<Job> job = std::make_unique<NumberedJob>(1, fates_);
    EXPECT_EQ(slots.Submit(arrival, job).refusal, Refusal::kNone);
  }
  EXPECT_EQ(left.use_count(), 1);  // the test's own
}

}  // namespace
}  // namespace mete::serve
