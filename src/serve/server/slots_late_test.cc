// Jobs that are given up, and the model that goes with the last of them.
#include <gtest/gtest.h>

#include <future>

#include "base/clock_testing.h"
#include "serve/server/slots.h"

namespace mete::serve {
namespace {

// Holds a model, as requests do: the last reference makes the slots forget it.
struct HoldingJob : Job {
  HoldingJob(std::shared_ptr<void> model, std::promise<Refusal>* given_up)
      : model(std::move(model)), given_up(given_up) {}
  void GiveUp(Refusal why) override {
    if (given_up) given_up->set_value(why);
  }
  std::shared_ptr<void> model;
  std::promise<Refusal>* given_up;
};

TEST(Slots, ForgetAModelWithItsLastLateRequest) {
  FakeClock clock;
  std::promise<void> may_end;
  std::promise<void> began;
  Slots slots(
      {.slots = 1},
      [&](const Start&, std::vector<std::unique_ptr<Job>>) {
        began.set_value();
        may_end.get_future().wait();
        return Computed{};
      },
      clock);
  const Nanoseconds now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(clock.Now().time_since_epoch()).count();
  const int busy = slots.AddModel({}), number = slots.AddModel({});
  std::promise<void> removed;
  std::shared_ptr<void> model(nullptr, [&](void*) {
    slots.RemoveModel(number);
    removed.set_value();
  });
  std::unique_ptr<Job> first = std::make_unique<HoldingJob>(nullptr, nullptr);
  Arrival of_first{.model = busy}, of_late{.model = number, .deadline = now + 1000000};
  EXPECT_EQ(slots.Submit(of_first, first).refusal, Refusal::kNone);
  began.get_future().wait();
  std::promise<Refusal> given_up;
  std::unique_ptr<Job> late = std::make_unique<HoldingJob>(std::move(model), &given_up);
  EXPECT_EQ(slots.Submit(of_late, late).refusal, Refusal::kNone);
  clock.Advance(std::chrono::milliseconds(2));
  EXPECT_EQ(given_up.get_future().get(), Refusal::kTooLate);
  removed.get_future().wait();  // the lock is free, or the test does not end
  may_end.set_value();
  EXPECT_TRUE(slots.Drain(Clock::Time::max()));
}

}  // namespace
}  // namespace mete::serve
