// The scheduler under load, in virtual time. Figures are printed: they are what the limits of the queue were
// chosen by.
#include "serve/queue/simulation_testing.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace mete::serve {
namespace {

constexpr Nanoseconds kSecond = 1000 * kMs;

// Mete's MobileNet v2 on two cores takes 2.9 ms wide and 4.7 ms narrow; more cores help a little more.
Nanoseconds WideOf(Nanoseconds narrow, int slots) {
  return Nanoseconds(double(narrow) / std::pow(double(slots), 0.7));
}

// Requests in a second that `slots` slots can compute.
double Capacity(int slots, Nanoseconds narrow) { return double(slots) * 1e9 / double(narrow); }

void ExpectSound(const Simulation& simulation) {
  EXPECT_EQ(simulation.violations, std::vector<std::string>());
  for (const Record& record : simulation.records) {
    ASSERT_EQ(record.outcomes, 1) << "arrived at " << record.arrived;
    ASSERT_EQ(record.answered(), record.refusal == Refusal::kNone);
  }
}

class OnSlots : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Slots, OnSlots, testing::Values(1, 2, 4, 8, 16));

TEST_P(OnSlots, NoSlotIdlesAndEveryRequestEndsOnce) {
  const int slots = GetParam();
  for (const double load : {0.1, 0.5, 0.9, 1.2, 3.0})
    for (const uint64_t seed : {1, 2, 3}) {
      SCOPED_TRACE(fmt::format("load {}, seed {}", load, seed));
      // Three models of different times, one of them with deadlines and one with batches, share the load.
      Stream fast = Stream::Of(WideOf(1 * kMs, slots), 1 * kMs, load * Capacity(slots, 1 * kMs) / 3);
      Stream slow = Stream::Of(WideOf(20 * kMs, slots), 20 * kMs, load * Capacity(slots, 20 * kMs) / 3);
      Stream batched = Stream::Of(WideOf(5 * kMs, slots), 5 * kMs, load * Capacity(slots, 5 * kMs) / 3);
      fast.timeout = 30 * kMs;
      slow.periodic = true;
      batched.batch_key = 1;
      batched.known.most_in_batch = 4;
      batched.each_further_row = 0.5;
      Simulation simulation({.slots = slots}, {fast, slow, batched}, seed);
      simulation.Run(3 * kSecond, /*spread=*/0.1);
      ExpectSound(simulation);
    }
}

TEST_P(OnSlots, OneCallerIsComputedWide) {
  const int slots = GetParam();
  Stream stream = Stream::Of(WideOf(5 * kMs, slots), 5 * kMs, 20);  // each ends before the next one comes
  stream.periodic = true;
  Simulation simulation({.slots = slots}, {stream}, 1);
  simulation.Run(kSecond);
  ExpectSound(simulation);
  for (const Record& record : simulation.records) EXPECT_EQ(record.latency(), WideOf(5 * kMs, slots));
}

// One slot alone idles now and then, since of requests at random none may wait when it ends.
TEST_P(OnSlots, ServesNearlyAsMuchAsTheSlotsCanWhenThereIsMore) {
  const int slots = GetParam();
  Simulation simulation({.slots = slots},
                        {Stream::Of(WideOf(5 * kMs, slots), 5 * kMs, 2 * Capacity(slots, 5 * kMs))}, 1);
  simulation.Run(10 * kSecond);
  EXPECT_GT(simulation.BusyShare(), slots == 1 ? 0.92 : 0.98);
}

// Without batches and with times that are exact, a request's wait is known when it arrives, unless a later
// arrival makes a start narrow that would have been wide.
TEST_P(OnSlots, PredictsTheWait) {
  const int slots = GetParam();
  const Nanoseconds narrow = 5 * kMs;
  Simulation simulation({.slots = slots}, {Stream::Of(narrow, narrow, 0.9 * Capacity(slots, narrow))}, 1);
  simulation.Run(5 * kSecond);
  ExpectSound(simulation);
  for (const Record& record : simulation.records)
    if (record.answered()) {
      ASSERT_EQ(record.predicted_wait, record.began - record.arrived) << "arrived at " << record.arrived;
    }
}

// What the limits of the queue were chosen by. The times of starts vary by a tenth, as those of runs do.
Simulation UnderLoad(int slots, double load, bool periodic, const QueueLimits& limits, int models = 1) {
  const Nanoseconds narrow = 5 * kMs;
  Stream stream = Stream::Of(WideOf(narrow, slots), narrow, load * Capacity(slots, narrow) / models);
  stream.periodic = periodic;
  Simulation simulation(limits, std::vector<Stream>(size_t(models), stream), 7);
  simulation.Run(30 * kSecond, /*spread=*/0.1);
  return simulation;
}

TEST_P(OnSlots, OverloadLengthensTheTailOfAcceptedRequestsTwiceAtMost) {
  const int slots = GetParam();
  for (const bool periodic : {false, true}) {
    const Simulation normal = UnderLoad(slots, 0.8, periodic, {.slots = slots});
    const Simulation overload = UnderLoad(slots, 2, periodic, {.slots = slots});
    fmt::print(
        "{} slots, {}: p99 {:.2f} ms at 0.8 of the capacity, {:.2f} ms at twice: {:.2f}; of twice {:.1f} % "
        "answered\n",
        slots, periodic ? "periodic" : "random", normal.Latency().p99, overload.Latency().p99,
        overload.Latency().p99 / normal.Latency().p99, 100 * overload.AnsweredShare());
    EXPECT_LE(overload.Latency().p99, 2 * normal.Latency().p99);
    EXPECT_GT(overload.AnsweredShare(), 0.46);  // the slots have work although few requests wait
  }
}

// Of models of which none waits a request finds a place beside a full queue; many of these do not keep it
// full.
TEST_P(OnSlots, SoDoesAnOverloadOfManyModels) {
  const int slots = GetParam();
  for (const int models : {5 * slots, 10 * slots}) {
    const Simulation normal = UnderLoad(slots, 0.8, false, {.slots = slots}, models);
    const Simulation overload = UnderLoad(slots, 2, false, {.slots = slots}, models);
    fmt::print("{} slots, {} models: p99 {:.2f} ms at 0.8 of the capacity, {:.2f} ms at twice: {:.2f}\n",
               slots, models, normal.Latency().p99, overload.Latency().p99,
               overload.Latency().p99 / normal.Latency().p99);
    EXPECT_LE(overload.Latency().p99, 2 * normal.Latency().p99);
  }
}

// A model with batches keeps its places among many without.
TEST_P(OnSlots, BatchesKeepTheirPlacesAmongManyModels) {
  const int slots = GetParam();
  const double each = 2 * Capacity(slots, 5 * kMs) / (5 * slots + 1);
  std::vector<Stream> streams(size_t(5 * slots + 1), Stream::Of(WideOf(5 * kMs, slots), 5 * kMs, each));
  streams[0].batch_key = 1;
  streams[0].known.most_in_batch = 4;
  streams[0].each_further_row = 0.4;
  Simulation simulation({.slots = slots}, streams, 1);
  simulation.Run(30 * kSecond, /*spread=*/0.1);
  ExpectSound(simulation);
  EXPECT_GT(simulation.AnsweredShare(0), 0.7);
}

// One caller of a model without batches, beside an overload of one with batches, which may have more waiting.
TEST_P(OnSlots, BatchesDoNotStarveAnotherModel) {
  const int slots = GetParam();
  Stream batched = Stream::Of(WideOf(5 * kMs, slots), 5 * kMs, 4 * Capacity(slots, 5 * kMs));
  batched.batch_key = 1;
  batched.known.most_in_batch = 4;
  batched.each_further_row = 0.4;
  Stream caller = Stream::Of(WideOf(5 * kMs, slots), 5 * kMs, 10);
  Simulation simulation({.slots = slots}, {batched, caller}, 1);
  simulation.Run(30 * kSecond, /*spread=*/0.1);
  ExpectSound(simulation);
  fmt::print("{} slots: of one caller beside batches {:.1f} % answered\n", slots,
             100 * simulation.AnsweredShare(1));
  EXPECT_GT(simulation.AnsweredShare(1), 0.8);
}

TEST_P(OnSlots, NearlyAllFindAPlaceBelowTheCapacity) {
  const int slots = GetParam();
  double last = 1;
  for (const int limit : {1, 2, 3, 4}) {
    const double refused =
        1 - UnderLoad(slots, 0.8, false, {.slots = slots, .waiting_per_slot = limit}).AnsweredShare();
    fmt::print("{} slots, {} waiting for each: {:.2f} % refused at 0.8 of the capacity\n", slots, limit,
               100 * refused);
    EXPECT_LE(refused, last);
    EXPECT_LT(refused,
              0.25);  // less than what an overload is known by, so that one that has ended does not go on
    last = refused;
  }
  EXPECT_LT(last, 0.05);
}

// One caller of a fast model, beside many of a slow one: each of its requests finds a place, and waits for no
// more than those that wait before it.
TEST_P(OnSlots, ASlowModelDoesNotStarveAFastOne) {
  const int slots = GetParam();
  const Nanoseconds slow = 100 * kMs, fast = 2 * kMs;
  Stream caller = Stream::Of(WideOf(fast, slots), fast, 1);
  caller.periodic = true;
  Simulation simulation({.slots = slots},
                        {Stream::Of(WideOf(slow, slots), slow, 5 * Capacity(slots, slow)), caller}, 3);
  simulation.Run(60 * kSecond);
  ExpectSound(simulation);
  EXPECT_EQ(simulation.AnsweredShare(1), 1);
  EXPECT_LT(simulation.AnsweredShare(0), 0.25);
  const int limit = QueueLimits().waiting_per_slot;
  EXPECT_LE(simulation.Latency(1).most, double((limit + 1) * slow + fast) / double(kMs));
}

// A load's turns wait among requests: each gets one although the queue is always full, and requests have the
// time between them.
TEST_P(OnSlots, ALoadAndRequestsTakeTurnsInAnOverload) {
  const int slots = GetParam();
  const Nanoseconds narrow = 5 * kMs;
  Simulation simulation({.slots = slots},
                        {Stream::Of(WideOf(narrow, slots), narrow, 2 * Capacity(slots, narrow))}, 1);
  simulation.load = {.begins = kSecond, .turn = 5 * kMs, .turns = 500};
  simulation.Run(20 * kSecond);
  ExpectSound(simulation);
  EXPECT_EQ(simulation.load_turns_left, 0);
  EXPECT_GT(simulation.load_ended, 0);
  int meanwhile = 0;
  for (const Record& record : simulation.records)
    meanwhile += record.answered() && record.ended > kSecond && record.ended < simulation.load_ended;
  fmt::print("{} slots: a load of 500 turns of 5 ms took {:.1f} s; {} requests were answered meanwhile\n",
             slots, double(simulation.load_ended - kSecond) * 1e-9, meanwhile);
  EXPECT_GT(meanwhile, 450);  // of one slot nearly one for each turn: now and then none waits
  // Nothing is overtaken: a turn waits for those that may wait, a quarter of them more, those that are under
  // way, and what others idle until all slots are free.
  const int waits = QueueLimits().waiting_per_slot + 3;
  EXPECT_LE(simulation.load_ended - kSecond, 500 * (waits * narrow + 5 * kMs));
}

// A deadline that was accepted is met although turns of a load come in between.
TEST_P(OnSlots, ALoadMakesNoAcceptedRequestLate) {
  const int slots = GetParam();
  Stream stream = Stream::Of(WideOf(5 * kMs, slots), 5 * kMs, 1.5 * Capacity(slots, 5 * kMs));
  stream.timeout = 20 * kMs;
  Simulation simulation({.slots = slots}, {stream}, 1);
  simulation.load = {.begins = kSecond, .turn = 5 * kMs, .turns = 300};
  simulation.Run(10 * kSecond);
  ExpectSound(simulation);
  EXPECT_GT(simulation.load_ended, 0);
  for (const Record& record : simulation.records) EXPECT_LE(record.latency(), stream.timeout);
}

TEST_P(OnSlots, BatchesFormUnderLoadAloneAndServeMore) {
  const int slots = GetParam();
  Stream stream = Stream::Of(WideOf(5 * kMs, slots), 5 * kMs, 2 * Capacity(slots, 5 * kMs));
  stream.each_further_row = 0.4;
  Simulation apart({.slots = slots}, {stream}, 1);
  stream.batch_key = 1;
  stream.known.most_in_batch = 4;
  Simulation together({.slots = slots}, {stream}, 1);
  stream.per_s = 20;
  stream.periodic = true;
  Simulation calm({.slots = slots}, {stream}, 1);
  for (Simulation* simulation : {&apart, &together, &calm}) {
    simulation->Run(10 * kSecond);
    ExpectSound(*simulation);
  }
  EXPECT_GT(together.AnsweredShare(), 1.5 * apart.AnsweredShare());
  for (const Record& record : calm.records) EXPECT_EQ(record.batch, 1);
}

TEST_P(OnSlots, AnswersWithinDeadlinesOrRefuses) {
  const int slots = GetParam();
  Stream stream = Stream::Of(WideOf(5 * kMs, slots), 5 * kMs, 2 * Capacity(slots, 5 * kMs));
  stream.timeout = 12 * kMs;
  Simulation simulation({.slots = slots}, {stream}, 1);
  simulation.Run(10 * kSecond);
  ExpectSound(simulation);
  int late = 0;
  for (const Record& record : simulation.records) {
    EXPECT_LE(record.latency(), stream.timeout);  // of one that is refused less than 0
    late += record.refusal == Refusal::kTooLate;
  }
  EXPECT_GT(late, 0);
  EXPECT_GT(simulation.BusyShare(), 0.9);  // the queue is shorter than its limit, but the slots have work
}

}  // namespace
}  // namespace mete::serve
