#include "run/turn.h"

#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/clock_testing.h"
#include "base/errors_testing.h"

namespace mete {
namespace {

void GoOn() {}

TEST(Turn, IsOneThreadsAtATimeInTheOrderOfTheCalls) {
  FakeClock clock;
  Turn turn(clock);
  std::vector<int> order;  // the thread that has the turn writes
  std::optional<Turn::Taken> first(std::in_place, turn, GoOn);
  std::vector<std::thread> threads;
  std::atomic<int> waiting = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Turn::Taken taken(turn, [&, waits = false]() mutable {
        if (!std::exchange(waits, true)) ++waiting;
      });
      order.push_back(t);
    });
    clock.AdvanceUntil(Turn::kCheckEvery, [&] { return waiting > t; });
  }
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(turn.waiting(), 4);
  first.reset();
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(turn.waiting(), 0);
}

TEST(Turn, AThreadThatGivesUpWaitingIsInNobodysWay) {
  FakeClock clock;
  Turn turn(clock);
  std::optional<Turn::Taken> first(std::in_place, turn, GoOn);
  std::thread waiting([&] {
    EXPECT_TELLS(Turn::Taken(turn, [] { Fail(Code::kCancelled, "test", "has gone"); }), "[test] has gone");
  });
  clock.AwaitSleeper(Turn::kCheckEvery, Turn::kCheckEvery);
  clock.Advance(Turn::kCheckEvery);
  waiting.join();
  first.reset();
  const Turn::Taken next(turn, [] { Fail(Code::kCancelled, "test", "had to wait"); });
}

}  // namespace
}  // namespace mete
