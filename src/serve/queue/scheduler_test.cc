#include "serve/queue/scheduler.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"

namespace mete::serve {
namespace {

constexpr Nanoseconds kMs = 1'000'000;

// A scheduler whose requests are numbered from 1 on in the order of their arrival.
class Numbered {
 public:
  explicit Numbered(const QueueLimits& limits) : scheduler(limits) {}

  Admission Arrive(Arrival arrival, Nanoseconds now = 0) {
    arrival.request = ++last_;
    return scheduler.Arrive(arrival, now);
  }
  bool Enqueue(OwnWork work) {
    work.number = ++last_;
    return scheduler.Enqueue(work);
  }
  void ArriveAll(int count, const Arrival& arrival, Nanoseconds now = 0) {
    for (int i = 0; i < count; ++i) ASSERT_EQ(Arrive(arrival, now).refusal, Refusal::kNone);
  }
  // What begins, each as "wide: 1 2" or "slot 0: 1".
  std::vector<std::string> Begin(Nanoseconds now = 0) {
    std::vector<std::string> starts;
    while (const std::optional<Start> start = scheduler.Next(now)) {
      starts.push_back(start->wide ? "wide:" : "slot " + std::to_string(start->slot) + ":");
      for (const uint64_t request : start->requests) starts.back() += " " + std::to_string(request);
      begun.push_back(*start);
    }
    return starts;
  }
  // Ends the first start that has not ended.
  void End(Nanoseconds compute = 0) {
    const Start start = begun.at(ended_++);
    scheduler.Done(start, compute);
  }

  Scheduler scheduler;
  std::vector<Start> begun;

 private:
  uint64_t last_ = 0;
  size_t ended_ = 0;
};

using Starts = std::vector<std::string>;
using Requests = std::vector<uint64_t>;

// Two slots, of which two narrow starts are 1.23 times the work of wide ones.
constexpr ModelTimes kNet = {.wide = 29 * kMs / 10, .narrow = 47 * kMs / 10};

TEST(SchedulerTest, OneRequestIsComputedWideAndTwoNarrow) {
  Numbered queue({.slots = 2});
  const int net = queue.scheduler.AddModel(kNet);
  queue.ArriveAll(1, {.model = net});
  EXPECT_EQ(queue.Begin(), (Starts{"wide: 1"}));
  queue.ArriveAll(3, {.model = net});
  EXPECT_EQ(queue.Begin(), Starts());  // all slots are busy
  queue.End();
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 2", "slot 1: 3"}));
  queue.End();
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 4"}));  // narrow, since it does not wait for the other slot
}

TEST(SchedulerTest, OneRequestIsComputedNarrowWhereAllSlotsAreNoSooner) {
  Numbered queue({.slots = 2});
  const int net =
      queue.scheduler.AddModel({.wide = 96, .narrow = 100});  // a difference like that of two runs
  queue.ArriveAll(1, {.model = net});
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 1"}));
}

TEST(SchedulerTest, SeveralAreComputedWideWhereThatIsMoreWorkInTheSameTime) {
  Numbered queue({.slots = 2});
  const int net = queue.scheduler.AddModel({.wide = 40, .narrow = 100});
  queue.ArriveAll(2, {.model = net});
  EXPECT_EQ(queue.Begin(), (Starts{"wide: 1"}));
  queue.End();
  EXPECT_EQ(queue.Begin(), (Starts{"wide: 2"}));
}

TEST(SchedulerTest, FewerThanTheSlotsAreComputedWideIfAllEndSoonerSo) {
  Numbered queue({.slots = 8});
  const int net = queue.scheduler.AddModel({.wide = 30, .narrow = 100});
  queue.ArriveAll(4, {.model = net});
  EXPECT_EQ(queue.Begin().size(), 4u);  // 4 x 30 > 100
  Numbered two({.slots = 8});
  two.scheduler.AddModel({.wide = 30, .narrow = 100});
  two.ArriveAll(2, {.model = net});
  EXPECT_EQ(two.Begin(), (Starts{"wide: 1"}));
}

TEST(SchedulerTest, WhatMoreCoresDoNotShortenIsDoneNarrow) {
  Numbered queue({.slots = 2});
  const int net = queue.scheduler.AddModel(kNet);
  queue.ArriveAll(1, {.model = net, .preparing = 60 * kMs});  // a photo that takes longer to decode
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 1"}));
}

TEST(SchedulerTest, WithoutTimesOneIsWideAndSeveralAreNarrow) {
  Numbered queue({.slots = 2});
  const int net = queue.scheduler.AddModel({});
  queue.ArriveAll(1, {.model = net});
  EXPECT_EQ(queue.Begin(), (Starts{"wide: 1"}));
  queue.ArriveAll(2, {.model = net});
  queue.End();
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 2", "slot 1: 3"}));
}

TEST(SchedulerTest, OneSlotHasNoWideStarts) {
  Numbered queue({.slots = 1});
  const int net = queue.scheduler.AddModel({.wide = 10});
  queue.ArriveAll(1, {.model = net});
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 1"}));
  EXPECT_EQ(queue.scheduler.PredictedWait(4), 6);
}

TEST(SchedulerTest, BatchesAreOfOneModelAndKeyInTheOrderOfArrival) {
  Numbered queue({.slots = 1, .waiting_per_slot = 20});
  const int net = queue.scheduler.AddModel({.narrow = 10, .most_in_batch = 4});
  const int other = queue.scheduler.AddModel({.narrow = 10, .most_in_batch = 4});
  queue.ArriveAll(1, {.model = net, .batch_key = 1});
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 1"}));
  queue.ArriveAll(1, {.model = net, .batch_key = 1});             // 2
  queue.ArriveAll(1, {.model = other, .batch_key = 1});           // 3
  queue.ArriveAll(1, {.model = net, .batch_key = 1, .rows = 2});  // 4
  queue.ArriveAll(1, {.model = net, .batch_key = 1, .rows = 2});  // 5: would be the fifth row
  queue.ArriveAll(1, {.model = net, .batch_key = 1});             // 6: overtakes no request of its model
  queue.ArriveAll(1, {.model = net, .batch_key = 2});             // 7: another key
  queue.ArriveAll(2, {.model = net});                             // 8, 9: with no other
  queue.ArriveAll(1, {.model = net, .batch_key = 1, .rows = 9});  // 10: alone larger than a batch
  Starts starts;
  while (queue.scheduler.waiting() > 0) {
    queue.End();
    starts.push_back(queue.Begin().at(0));
  }
  EXPECT_EQ(starts, (Starts{"slot 0: 2 4", "slot 0: 3", "slot 0: 5 6", "slot 0: 7", "slot 0: 8", "slot 0: 9",
                            "slot 0: 10"}));
}

TEST(SchedulerTest, ABatchLeavesOtherFreeSlotsTheirShare) {
  Numbered queue({.slots = 2});
  const int net = queue.scheduler.AddModel({.wide = 90, .narrow = 100, .most_in_batch = 8});
  queue.ArriveAll(5, {.model = net, .batch_key = 1});
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 1 2 3", "slot 1: 4 5"}));
}

TEST(SchedulerTest, RefusesWhatFindsNoPlaceAndTellsWhenToRetry) {
  Numbered queue({.slots = 2, .waiting_per_slot = 2});
  const int net = queue.scheduler.AddModel({.wide = 100, .narrow = 100});
  queue.ArriveAll(2, {.model = net}, 1000);
  ASSERT_EQ(queue.Begin(1000).size(), 2u);
  queue.ArriveAll(4, {.model = net}, 1010);
  const Admission refused = queue.Arrive({.model = net}, 1030);
  EXPECT_EQ(refused.refusal, Refusal::kFull);
  EXPECT_EQ(refused.retry_after, 70);
  EXPECT_EQ(queue.Arrive({.model = net}, 1130).retry_after,
            0);  // a start that takes longer than was predicted
  queue.End();
  ASSERT_EQ(queue.Begin(1140).size(), 1u);
  EXPECT_EQ(queue.Arrive({.model = net}, 1140).refusal, Refusal::kNone);
}

TEST(SchedulerTest, RefusesAsOnArrivalWhatIsNotReadYet) {
  Numbered queue({.slots = 1, .waiting_per_slot = 2}), read({.slots = 1, .waiting_per_slot = 2});
  const int net = queue.scheduler.AddModel(kNet), other = queue.scheduler.AddModel(kNet);
  read.scheduler.AddModel(kNet);
  for (Numbered* each : {&queue, &read}) {
    each->ArriveAll(1, {.model = net});
    each->Begin();
    each->ArriveAll(1, {.model = net});
  }
  EXPECT_EQ(queue.scheduler.Refuse(net, 0).refusal, Refusal::kNone);
  for (Numbered* each : {&queue, &read}) each->ArriveAll(1, {.model = net});
  const Nanoseconds now = kMs / 10;
  const Admission early = queue.scheduler.Refuse(net, now), late = read.Arrive({.model = net}, now);
  EXPECT_EQ(early.refusal, Refusal::kFull);
  EXPECT_EQ(late.refusal, Refusal::kFull);
  EXPECT_EQ(early.retry_after, late.retry_after);
  EXPECT_GT(early.retry_after, 0);
  EXPECT_EQ(queue.scheduler.Refuse(other, now).refusal, Refusal::kNone);
  EXPECT_EQ(queue.scheduler.Refuse(net + 7, now).refusal, Refusal::kNone);  // which has been unloaded
  queue.scheduler.Drain();
  EXPECT_EQ(queue.scheduler.Refuse(other, now).refusal, Refusal::kDraining);
}

TEST(SchedulerTest, FewerWaitWhileTheServerIsOverloaded) {
  Numbered queue({.slots = 1, .waiting_per_slot = 4});
  const int net = queue.scheduler.AddModel({.narrow = 10});
  const auto places = [&] {  // of an empty queue
    int found = 0;
    while (queue.Arrive({.model = net}).refusal == Refusal::kNone) ++found;
    while (queue.scheduler.waiting() > 0) {
      queue.Begin();
      queue.End();
    }
    return found;
  };
  EXPECT_EQ(places(), 4);
  EXPECT_EQ(places(), 4);  // few are refused
  queue.ArriveAll(4, {.model = net});
  for (int i = 0; i < 64; ++i) EXPECT_EQ(queue.Arrive({.model = net}).refusal, Refusal::kFull);
  while (queue.scheduler.waiting() > 0) {
    queue.Begin();
    queue.End();
  }
  EXPECT_EQ(places(), 1);
  for (int i = 0; i < 64; ++i) {  // now each finds a place
    queue.ArriveAll(1, {.model = net});
    queue.Begin();
    queue.End();
  }
  EXPECT_EQ(places(), 4);
}

// Five callers fit into a slot and its queue. Where three of them are refused, and each sends again at once
// what was refused, nearly all that arrives is refused.
TEST(SchedulerTest, CallersThatSendAgainAtOnceDoNotKeepUpAnOverload) {
  Numbered queue({.slots = 1, .waiting_per_slot = 4});
  const int net = queue.scheduler.AddModel({.narrow = 10});
  queue.ArriveAll(4, {.model = net});
  for (int i = 0; i < 64; ++i) queue.Arrive({.model = net});
  const auto send = [&](int callers) {  // returns those that are refused
    int refused = 0;
    for (int i = 0; i < callers; ++i) refused += queue.Arrive({.model = net}).refusal == Refusal::kFull;
    queue.Begin();
    return refused;
  };
  const auto refusals_of = [&](int computed) {
    int count = 0;
    for (int i = 0; i < computed; ++i) {
      queue.Begin();
      int callers = 5 - queue.scheduler.waiting() - queue.scheduler.under_way();
      for (int times = 0; times < 20; ++times) count += callers = send(callers);  // while one is computed
      queue.End();
    }
    return count;
  };
  EXPECT_GT(refusals_of(100), 5000);
  refusals_of(400);
  EXPECT_EQ(refusals_of(100), 0);
}

// 26 of 64 arrivals, an exponential average, are a third.
TEST(SchedulerTest, LooksAnewAfterSoManyArrivalsForEachSlot) {
  Numbered queue({.slots = 2, .waiting_per_slot = 4});
  const int net = queue.scheduler.AddModel({.narrow = 10});
  const auto end_until = [&](int waiting) {
    while (queue.scheduler.waiting() > waiting) {
      queue.End();
      queue.Begin();
    }
  };
  // Fills the longer queue, and returns how many are refused in the shorter one until a request finds a
  // place.
  const auto refused_until_look = [&] {
    while (queue.Arrive({.model = net}).refusal == Refusal::kNone) {}
    for (int i = 1; i < 26; ++i) EXPECT_EQ(queue.Arrive({.model = net}).refusal, Refusal::kFull);
    end_until(2);     // as many as may wait in an overload
    int refused = 1;  // the last of these began the overload
    while (queue.scheduler.Refuse(net, 0).refusal == Refusal::kFull) ++refused;
    return refused;
  };
  queue.ArriveAll(2, {.model = net});
  queue.Begin();
  for (int times = 0; times < 3; ++times) EXPECT_EQ(refused_until_look(), 2 * 16384);
}

// However many models there are, and whether an overload is found or not.
TEST(SchedulerTest, TheQueueHasABound) {
  for (const int slots : {1, 4}) {
    Numbered queue({.slots = slots, .waiting_per_slot = 4});
    for (int i = 0; i < 2000; ++i) {
      const int model = queue.scheduler.AddModel({.narrow = 10});
      for (int times = 0; times < 3; ++times) queue.Arrive({.model = model});
      ASSERT_LE(queue.scheduler.waiting(), 5 * slots);
      if (i % 7 > 0) continue;
      queue.Begin();
      if (int(queue.begun.size()) > slots) queue.End();
    }
  }
}

// A limit of its own that is the server's does not hide an overload of the server.
TEST(SchedulerTest, ALimitOfAModelThatIsTheServersIsCounted) {
  Numbered queue({.slots = 1, .waiting_per_slot = 4});
  const int net = queue.scheduler.AddModel({.narrow = 10, .waiting_per_slot = 4});
  queue.ArriveAll(4, {.model = net});
  for (int i = 0; i < 64; ++i) EXPECT_EQ(queue.Arrive({.model = net}).refusal, Refusal::kFull);
  for (int i = 0; i < 3; ++i) {
    queue.Begin();
    queue.End();
  }
  EXPECT_EQ(queue.scheduler.waiting(), 1);
  EXPECT_EQ(queue.Arrive({.model = net}).refusal, Refusal::kFull) << "one place in an overload";
}

// What the limit of a model refuses, and what comes too late, says nothing about the server's places.
TEST(SchedulerTest, LimitsOfAModelAndDeadlinesAreNoOverload) {
  Numbered queue({.slots = 1, .waiting_per_slot = 4});
  const int bounded = queue.scheduler.AddModel({.narrow = 10, .waiting_per_slot = 1});
  const int net = queue.scheduler.AddModel({.narrow = 10});
  queue.ArriveAll(1, {.model = net});
  queue.Begin();
  queue.ArriveAll(1, {.model = bounded});
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(queue.Arrive({.model = bounded}).refusal, Refusal::kFull);
    EXPECT_EQ(queue.scheduler.Refuse(bounded, 0).refusal, Refusal::kFull);
  }
  queue.ArriveAll(3, {.model = net});  // four wait: there is no overload
  for (int i = 0; i < 200; ++i) EXPECT_EQ(queue.Arrive({.model = net}).refusal, Refusal::kFull);
  for (int i = 0; i < 3; ++i) {
    queue.End();
    queue.Begin();
  }
  ASSERT_EQ(queue.scheduler.waiting(), 1);
  // There is one, which what comes too late does not end.
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(queue.Arrive({.model = net}).refusal, Refusal::kFull);
    if (queue.scheduler.waiting(bounded) == 0) {
      EXPECT_EQ(queue.Arrive({.model = bounded, .deadline = 1}).refusal, Refusal::kTooLate);
    }
  }
}

// Requests of other models find places beside the long queue that an overload has found, and do not keep it
// up.
TEST(SchedulerTest, ALongQueueEndsInAnOverloadOfManyModels) {
  Numbered queue({.slots = 1, .waiting_per_slot = 4});
  const int net = queue.scheduler.AddModel({.narrow = 10});
  std::vector<int> others;
  for (int i = 0; i < 8; ++i) others.push_back(queue.scheduler.AddModel({.narrow = 10}));
  queue.ArriveAll(1, {.model = net});
  queue.Begin();
  queue.ArriveAll(4, {.model = net});
  for (int i = 0; i < 64; ++i) EXPECT_EQ(queue.Arrive({.model = net}).refusal, Refusal::kFull);
  EXPECT_EQ(queue.Arrive({.model = others[0]}).refusal, Refusal::kNone);
  EXPECT_EQ(queue.Arrive({.model = others[1]}).refusal, Refusal::kFull);
  for (int i = 0; i < 8; ++i) {  // one ends, and all others ask
    queue.End();
    queue.Begin();
    for (const int other : others) queue.Arrive({.model = other});
  }
  EXPECT_LE(queue.scheduler.waiting(), 2);  // one for the slot, and one for others
}

TEST(SchedulerTest, ABatchMayWaitWhileTheServerIsOverloaded) {
  Numbered queue({.slots = 1, .waiting_per_slot = 4});
  const int net = queue.scheduler.AddModel({.narrow = 10, .most_in_batch = 3});
  queue.ArriveAll(4, {.model = net, .batch_key = 1});
  for (int i = 0; i < 64; ++i) queue.Arrive({.model = net, .batch_key = 1});
  queue.Begin();
  EXPECT_EQ(queue.scheduler.waiting(), 1);
  queue.ArriveAll(2, {.model = net, .batch_key = 1});
  EXPECT_EQ(queue.Arrive({.model = net, .batch_key = 1}).refusal, Refusal::kFull);
}

TEST(SchedulerTest, OneModelCannotTakeAllPlaces) {
  Numbered queue({.slots = 1, .waiting_per_slot = 4});
  const int net = queue.scheduler.AddModel({.narrow = 10});
  const int second = queue.scheduler.AddModel({.narrow = 10});
  const int third = queue.scheduler.AddModel({.narrow = 10});
  queue.ArriveAll(4, {.model = net});
  EXPECT_EQ(queue.Arrive({.model = net}).refusal, Refusal::kFull);
  EXPECT_EQ(queue.Arrive({.model = second}).refusal, Refusal::kNone);
  EXPECT_EQ(queue.Arrive({.model = second}).refusal, Refusal::kFull);
  EXPECT_EQ(queue.Arrive({.model = third}).refusal, Refusal::kFull);  // the quarter is taken
}

TEST(SchedulerTest, AModelMayHaveALimitOfItsOwn) {
  Numbered queue({.slots = 2, .waiting_per_slot = 4});
  const int net = queue.scheduler.AddModel({.waiting_per_slot = 1});
  queue.ArriveAll(2, {.model = net});
  EXPECT_EQ(queue.Arrive({.model = net}).refusal, Refusal::kFull);
}

TEST(SchedulerTest, RefusesWhatCannotBeAnsweredInTime) {
  Numbered queue({.slots = 1});
  const int net = queue.scheduler.AddModel({.narrow = 100});
  EXPECT_EQ(queue.Arrive({.model = net, .deadline = 1099}, 1000).refusal, Refusal::kTooLate);
  EXPECT_EQ(queue.Arrive({.model = net, .deadline = 1100}, 1000).refusal, Refusal::kNone);
  ASSERT_EQ(queue.Begin(1000).size(), 1u);
  queue.ArriveAll(1, {.model = net}, 1010);
  const Admission late = queue.Arrive({.model = net, .deadline = 1299}, 1020);
  EXPECT_EQ(late.refusal, Refusal::kTooLate);
  EXPECT_EQ(late.wait, 180);
  EXPECT_EQ(queue.Arrive({.model = net, .deadline = 1300}, 1020).refusal, Refusal::kNone);
  EXPECT_EQ(queue.Arrive({.model = net, .deadline = 1405, .preparing = 6}, 1020).refusal, Refusal::kTooLate);
  EXPECT_EQ(queue.scheduler.waiting(), 2);
}

TEST(SchedulerTest, RefusesNothingAsTooLateOnAGuess) {
  Numbered queue({.slots = 1});
  const int net = queue.scheduler.AddModel({});
  queue.ArriveAll(1, {.model = net}, 1000);
  ASSERT_EQ(queue.Begin(1000).size(), 1u);
  queue.ArriveAll(3, {.model = net, .deadline = 1001}, 1000);
  EXPECT_EQ(queue.scheduler.TakeLate(1001), Requests());
  EXPECT_EQ(queue.scheduler.NextLate(), 1002);
  EXPECT_EQ(queue.scheduler.TakeLate(1002), (Requests{2, 3, 4}));  // this is no guess
  EXPECT_EQ(queue.scheduler.NextLate(), std::nullopt);
}

TEST(SchedulerTest, GivesUpWhatHasBecomeLate) {
  Numbered queue({.slots = 1});
  const int net = queue.scheduler.AddModel({.narrow = 100});
  queue.ArriveAll(1, {.model = net}, 1000);
  ASSERT_EQ(queue.Begin(1000).size(), 1u);
  queue.ArriveAll(1, {.model = net, .deadline = 1250}, 1000);
  queue.ArriveAll(1, {.model = net}, 1000);
  EXPECT_EQ(queue.scheduler.TakeLate(1150), Requests());
  EXPECT_EQ(queue.scheduler.NextLate(), 1151);  // the start takes longer than was predicted
  EXPECT_EQ(queue.scheduler.TakeLate(1151), (Requests{2}));
  EXPECT_EQ(queue.scheduler.waiting(), 1);
  EXPECT_EQ(queue.scheduler.waiting(net), 1);
}

TEST(SchedulerTest, CancelsWhatWaits) {
  Numbered queue({.slots = 1});
  const int net = queue.scheduler.AddModel({});
  queue.ArriveAll(1, {.model = net});
  queue.Begin();
  queue.ArriveAll(2, {.model = net});
  EXPECT_TRUE(queue.scheduler.Cancel(2));
  EXPECT_FALSE(queue.scheduler.Cancel(2));
  EXPECT_FALSE(queue.scheduler.Cancel(1));  // it has begun
  queue.End();
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 3"}));
}

TEST(SchedulerTest, ADrainRefusesWhatArrivesAndComputesWhatWaits) {
  Numbered queue({.slots = 1});
  const int net = queue.scheduler.AddModel({});
  queue.ArriveAll(2, {.model = net});
  queue.Begin();
  queue.scheduler.Drain();
  EXPECT_EQ(queue.Arrive({.model = net}).refusal, Refusal::kDraining);
  queue.End();
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 2"}));
}

TEST(SchedulerTest, CountsRequestsThatWaitAndAreUnderWay) {
  Numbered queue({.slots = 2, .waiting_per_slot = 8});
  const int net = queue.scheduler.AddModel({.wide = 90, .narrow = 100, .most_in_batch = 3});
  const int other = queue.scheduler.AddModel({});
  queue.ArriveAll(8, {.model = net, .batch_key = 1});
  queue.ArriveAll(1, {.model = other});
  queue.Begin();
  EXPECT_EQ(queue.scheduler.under_way(), 6);
  EXPECT_EQ(queue.scheduler.waiting(), 3);
  EXPECT_EQ(queue.scheduler.waiting(net), 2);
  EXPECT_EQ(queue.scheduler.waiting(other), 1);
  queue.End();
  EXPECT_EQ(queue.scheduler.under_way(), 3);
}

TEST(SchedulerTest, OwnWorkWaitsForItsTurnAndItsSlots) {
  Numbered queue({.slots = 2});
  const int net = queue.scheduler.AddModel({});
  queue.ArriveAll(2, {.model = net});                        // 1, 2
  ASSERT_TRUE(queue.Enqueue({.slot = OwnWork::kAllSlots}));  // 3
  queue.ArriveAll(2, {.model = net});                        // 4, 5
  ASSERT_TRUE(queue.Enqueue({.slot = 1}));                   // 6
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 1", "slot 1: 2"}));
  queue.End();
  EXPECT_EQ(queue.Begin(), Starts());  // nothing overtakes it
  queue.End();
  EXPECT_EQ(queue.Begin(), (Starts{"wide: 3"}));
  queue.End();
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 4", "slot 1: 5"}));
  queue.End();
  EXPECT_EQ(queue.Begin(), Starts());
  queue.End();
  EXPECT_EQ(queue.Begin(), (Starts{"slot 1: 6"}));
  queue.ArriveAll(1, {.model = net});
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 7"}));  // beside it
}

TEST(SchedulerTest, OwnWorkIsNoRequest) {
  Numbered queue({.slots = 1, .waiting_per_slot = 1});
  const int net = queue.scheduler.AddModel({});
  queue.ArriveAll(1, {.model = net});
  queue.Begin();
  queue.ArriveAll(1, {.model = net});
  ASSERT_EQ(queue.Arrive({.model = net}).refusal, Refusal::kFull);
  EXPECT_TRUE(queue.Enqueue({}));
  EXPECT_EQ(queue.scheduler.waiting(), 1);
  queue.End();
  queue.Begin();  // the request
  EXPECT_EQ(queue.scheduler.waiting(), 0);
  queue.ArriveAll(1, {.model = net});  // finds its place although own work waits
  queue.End();
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 4"}));
  EXPECT_EQ(queue.scheduler.under_way(), 0);
}

TEST(SchedulerTest, ARequestThatIsAheadOfOwnWorkAloneIsComputedWide) {
  Numbered queue({.slots = 2});
  const int net = queue.scheduler.AddModel({.wide = 29, .narrow = 47, .most_in_batch = 2});
  queue.ArriveAll(1, {.model = net, .batch_key = 1});
  ASSERT_TRUE(queue.Enqueue({}));
  queue.ArriveAll(1, {.model = net, .batch_key = 1});
  EXPECT_EQ(queue.Begin(), (Starts{"wide: 1"}));  // and no batch passes own work
}

TEST(SchedulerTest, AForecastHasTheTimeOfOwnWork) {
  Numbered queue({.slots = 2});
  const int net = queue.scheduler.AddModel({.wide = 60, .narrow = 100});
  queue.ArriveAll(2, {.model = net}, 1000);
  queue.Begin(1000);  // until 1100
  ASSERT_TRUE(queue.Enqueue({.slot = OwnWork::kAllSlots, .time = 50}));
  ASSERT_TRUE(queue.Enqueue({.slot = 1, .time = 7}));
  EXPECT_EQ(queue.scheduler.PredictedWait(1020), 130);  // in slot 0, beside the latter
  EXPECT_EQ(queue.Arrive({.model = net, .deadline = 1249}, 1020).refusal, Refusal::kTooLate);
  EXPECT_EQ(queue.Arrive({.model = net, .deadline = 1250}, 1020).refusal, Refusal::kNone);
}

TEST(SchedulerTest, ADrainGivesUpOwnWorkThatWaits) {
  Numbered queue({.slots = 1});
  const int net = queue.scheduler.AddModel({});
  ASSERT_TRUE(queue.Enqueue({}));
  queue.Begin();
  queue.ArriveAll(1, {.model = net});
  ASSERT_TRUE(queue.Enqueue({}));
  EXPECT_EQ(queue.scheduler.Drain(), (Requests{3}));
  EXPECT_FALSE(queue.Enqueue({}));
  queue.End();  // what was under way
  EXPECT_EQ(queue.Begin(), (Starts{"slot 0: 2"}));
}

TEST(SchedulerTest, TimesFollowTheRunsAndOutliersChangeThemLittle) {
  Numbered queue({.slots = 1});
  const int net = queue.scheduler.AddModel({.narrow = 1000});
  const auto predicted = [&] {
    queue.ArriveAll(1, {.model = net});
    queue.Begin();
    return queue.scheduler.PredictedWait(0);  // the time of the start
  };
  EXPECT_EQ(predicted(), 1000);
  queue.End(1'000'000);  // something has held this run up
  EXPECT_EQ(predicted(), 1125);
  queue.End(0);  // one that failed says nothing
  EXPECT_EQ(predicted(), 1125);
  for (int run = 0; run < 60; ++run) {
    queue.End(10'000);
    predicted();
  }
  queue.End(10'000);
  EXPECT_NEAR(double(predicted()), 10'000, 100);
}

TEST(SchedulerTest, ARowOfABatchHasATimeOfItsOwn) {
  Numbered queue({.slots = 1, .waiting_per_slot = 10});
  const int net = queue.scheduler.AddModel({.narrow = 1000, .most_in_batch = 4});
  queue.ArriveAll(4, {.model = net, .batch_key = 1});
  queue.Begin();
  queue.End(1600);
  queue.ArriveAll(4, {.model = net, .batch_key = 1});
  queue.Begin();
  EXPECT_EQ(queue.scheduler.PredictedWait(0), 1600);
  queue.End();
  queue.ArriveAll(1, {.model = net, .batch_key = 1});
  queue.Begin();
  EXPECT_EQ(queue.scheduler.PredictedWait(0), 1000);
}

TEST(SchedulerTest, AModelThatIsAddedAgainHasAnotherNumber) {
  Numbered queue({.slots = 1});
  const int net = queue.scheduler.AddModel({});
  queue.ArriveAll(2, {.model = net});
  EXPECT_TELLS(queue.scheduler.RemoveModel(net), "of which 2 requests wait");
  queue.Begin();
  queue.scheduler.Cancel(2);
  queue.scheduler.RemoveModel(net);
  EXPECT_NE(queue.scheduler.AddModel({}), net);
  queue.End(5);  // a start of the removed model
  EXPECT_EQ(queue.scheduler.under_way(), 0);
}

TEST(SchedulerTest, RefusesWrongUse) {
  EXPECT_TELLS(Scheduler({.slots = 0}), "bad number of slots; got 0");
  EXPECT_TELLS(Scheduler({.waiting_per_slot = 0}), "requests that may wait");
  Scheduler scheduler({.slots = 1});
  EXPECT_TELLS(scheduler.Arrive({.model = 7}, 0), "cannot be queued");
  EXPECT_TELLS(scheduler.Enqueue({.slot = 1}), "own work has no slot; got 1, expected 0 to 0 or all");
  EXPECT_TELLS(scheduler.Done({}, 0), "has ended what it had not begun");
}

}  // namespace
}  // namespace mete::serve
