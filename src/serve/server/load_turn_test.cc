#include "serve/server/load_turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
#include <string>

#include "base/clock_testing.h"
#include "base/errors_testing.h"

namespace mete::serve {
namespace {

constexpr std::chrono::milliseconds kMs(1);

struct NoJob : Job {
  void GiveUp(Refusal) override {}
};

// Two slots. What they compute fails if it does so within a turn that has all of them.
class LoadTurnTest : public testing::Test {
 protected:
  LoadTurnTest()
      : slots_(
            {.slots = 2},
            [this](const Start&, std::vector<std::unique_ptr<Job>> jobs) {
              if (LetLoadCompute(jobs)) return Computed{};
              EXPECT_FALSE(load_computes_);
              if (gate_.valid()) gate_.wait();
              ++computed_;
              return Computed{1, nullptr};
            },
            clock_),
        model_(slots_.AddModel({})) {}

  void Submit() {
    Arrival arrival{.model = model_};
    std::unique_ptr<Job> job = std::make_unique<NoJob>();
    EXPECT_EQ(slots_.Submit(arrival, job).refusal, Refusal::kNone);
  }
  void AwaitComputed(int count) const {
    while (computed_ < count) std::this_thread::yield();
  }

  FakeClock clock_;
  std::shared_future<void> gate_;  // set: requests wait for it in their slots
  std::atomic<bool> load_computes_{false};
  std::atomic<int> computed_{0};
  Slots slots_;
  const int model_;
};

TEST_F(LoadTurnTest, NothingElseComputesMeanwhile) {
  std::optional<LoadTurn> turn(std::in_place, slots_, OwnWork::kAllSlots, clock_);
  load_computes_ = true;
  for (int i = 0; i < 3; ++i) Submit();
  EXPECT_EQ(slots_.waiting(), 3);
  EXPECT_EQ(slots_.under_way(), 0);  // it is no request
  load_computes_ = false;
  turn.reset();
  AwaitComputed(3);
}

TEST_F(LoadTurnTest, OneSlotsTurnLeavesTheOthersToRequests) {
  const LoadTurn turn(slots_, 1, clock_);
  for (int i = 0; i < 3; ++i) Submit();
  AwaitComputed(3);  // in slot 0
}

TEST_F(LoadTurnTest, WaitsForItsSlots) {
  std::promise<void> open;
  gate_ = open.get_future().share();
  for (int i = 0; i < 2; ++i) Submit();
  std::future<int> load = std::async(std::launch::async, [&] {
    const LoadTurn turn(slots_, OwnWork::kAllSlots, clock_);
    return computed_.load();
  });
  open.set_value();
  EXPECT_EQ(load.get(), 2);
}

TEST_F(LoadTurnTest, RequestsThatWaitHaveTheirTurnWhenALoadsIsOver) {
  LoadTurn turn(slots_, OwnWork::kAllSlots, clock_);
  clock_.Advance(LoadTurn::kTurn);
  EXPECT_FALSE(turn.Pause());  // no request waits
  for (int i = 0; i < 3; ++i) Submit();
  EXPECT_TRUE(turn.Pause());
  EXPECT_EQ(computed_, 3);
  Submit();
  clock_.Advance(LoadTurn::kTurn - kMs);
  EXPECT_FALSE(turn.Pause());  // it has just begun
  clock_.Advance(kMs);
  EXPECT_TRUE(turn.Pause());
  EXPECT_EQ(computed_, 4);
}

TEST_F(LoadTurnTest, IsNeverRefusedForWantOfAPlace) {
  std::promise<void> open;
  gate_ = open.get_future().share();
  Arrival arrival{.model = model_};
  for (Refusal refusal = Refusal::kNone; refusal != Refusal::kFull;) {
    std::unique_ptr<Job> job = std::make_unique<NoJob>();
    refusal = slots_.Submit(arrival, job).refusal;
  }
  std::future<void> load = std::async(std::launch::async, [&] { const LoadTurn turn(slots_, 0, clock_); });
  open.set_value();
  EXPECT_NO_THROW(load.get());
}

TEST_F(LoadTurnTest, ADrainEndsALoadThatWaits) {
  std::promise<void> open;
  gate_ = open.get_future().share();
  Submit();
  std::future<void> load = std::async(std::launch::async, [&] { const LoadTurn turn(slots_, 0, clock_); });
  EXPECT_FALSE(slots_.Drain(clock_.Now()));
  EXPECT_TELLS(load.get(), "it is ending and loads no more models");  // while the request is computed
  open.set_value();
  EXPECT_TRUE(slots_.Drain(Clock::Time::max()));
  EXPECT_EQ(computed_, 1);
}

// Time in which no request waited is none of the next turn.
TEST_F(LoadTurnTest, IsForeseenToLastAsLongAsAPieceOfWork) {
  LoadTurn turn(slots_, OwnWork::kAllSlots, clock_);
  for (int piece = 0; piece < 1000; ++piece) {
    clock_.Advance(20 * kMs);
    EXPECT_FALSE(turn.Pause());
  }
  clock_.Advance(20 * kMs);
  std::promise<void> open;
  gate_ = open.get_future().share();
  Submit();
  std::future<bool> next = std::async(std::launch::async, [&] { return turn.Pause(); });
  while (slots_.under_way() == 0) std::this_thread::yield();
  while (slots_.PredictedWait() < 20'000'000) std::this_thread::yield();  // until the next turn waits
  EXPECT_LE(slots_.PredictedWait(), 100'000'000);
  open.set_value();
  EXPECT_TRUE(next.get());
}

TEST_F(LoadTurnTest, ADrainEndsALoadThatComputesWhileNobodyWaits) {
  LoadTurn turn(slots_, OwnWork::kAllSlots, clock_);
  EXPECT_FALSE(slots_.Drain(clock_.Now()));
  EXPECT_TELLS(turn.Pause(), "it is ending and loads no more models");
  EXPECT_TRUE(slots_.Drain(Clock::Time::max()));
}

TEST_F(LoadTurnTest, ADrainWaitsForTheTurnThatIsAndNoOtherFollows) {
  std::optional<LoadTurn> turn(std::in_place, slots_, OwnWork::kAllSlots, clock_);
  Submit();
  EXPECT_FALSE(slots_.Drain(clock_.Now()));
  clock_.Advance(LoadTurn::kTurn);
  EXPECT_TELLS(turn->Pause(), "it is ending and loads no more models");
  EXPECT_TRUE(slots_.Drain(Clock::Time::max()));
  EXPECT_EQ(computed_, 1);
}

}  // namespace
}  // namespace mete::serve
