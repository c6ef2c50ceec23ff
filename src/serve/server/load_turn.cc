#include "serve/server/load_turn.h"

#include <algorithm>

#include "base/error.h"

namespace mete::serve {
namespace {

// What waits for a load's turn, and then occupies its slots.
struct TurnJob : Job {
  void GiveUp(Refusal) override { begun.set_value(false); }

  std::promise<bool> begun;  // false: the server ends
  std::future<void> ended;
};

[[noreturn]] void FailAsEnding() {
  Fail(Code::kUnavailable, "server", "it is ending and loads no more models");
}

}  // namespace

LoadTurn::LoadTurn(Slots& slots, int slot, Clock& clock) : slots_(slots), slot_(slot), clock_(clock) {
  Take();
}

void LoadTurn::Take() {
  auto job = std::make_unique<TurnJob>();
  ended_ = {};
  job->ended = ended_.get_future();
  std::future<bool> begun = job->begun.get_future();
  const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(next_);
  if (!slots_.Submit(OwnWork{.slot = slot_, .time = time.count()}, std::move(job)) || !begun.get())
    FailAsEnding();
  is_taken_ = true;
  began_ = looked_ = clock_.Now();
}

void LoadTurn::Give() {
  if (std::exchange(is_taken_, false)) ended_.set_value();
}

bool LoadTurn::Pause() {
  const Clock::Time now = clock_.Now();
  next_ = std::max<Clock::Duration>(kTurn, now - looked_);  // a turn ends with a piece of work
  looked_ = now;
  if (slots_.draining()) {
    Give();
    FailAsEnding();
  }
  if (now - began_ < kTurn || slots_.waiting() == 0) return false;
  Give();
  Take();
  return true;
}

bool LetLoadCompute(const std::vector<std::unique_ptr<Job>>& jobs) {
  auto* turn = dynamic_cast<TurnJob*>(jobs[0].get());
  if (!turn) return false;
  turn->begun.set_value(true);
  turn->ended.wait();
  return true;
}

}  // namespace mete::serve
