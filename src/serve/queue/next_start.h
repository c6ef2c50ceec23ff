// The rules of the queue as pure functions: which of the waiting requests begin next and how, and when the
// last of them will.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "serve/queue/times.h"

namespace mete::serve {

struct Arrival {
  uint64_t request = 0;
  int model = 0;             // as AddModel() numbered it
  Nanoseconds deadline = 0;  // of the answer; 0: none
  uint64_t batch_key = 0;    // requests of one model and key may be computed together; 0: with no other
  int rows = 1;              // of the batch that the request has itself
  // What the request's slot does besides computing, such as decoding a picture, as far as the caller can
  // predict it. More cores make it no shorter.
  Nanoseconds preparing = 0;
};

// Work of the server itself, such as a load's, which waits in the same queue.
struct OwnWork {
  static constexpr int kAllSlots = -1;

  uint64_t number = 0;   // among the requests' numbers
  int slot = kAllSlots;  // that it computes in
  Nanoseconds time = 0;  // as far as its caller can predict it
};

// What the queue knows of a version of a model.
struct QueuedModel {
  RowTimes times;
  int most_in_batch = 1;
  int64_t most_waiting = INT64_MAX;  // by a limit of its own
  int64_t waiting = 0;
};

// A request, or own work, whose number and time are those of `arrival`.
struct Waiting {
  Arrival arrival;
  const QueuedModel* model = nullptr;  // of own work one without times
  std::optional<int> own_slot = {};    // of own work: OwnWork::slot
};

struct NextStart {
  bool wide = false;
  std::vector<size_t> members;  // of the waiting, ascending; at least the first one
  int rows = 0;
  Nanoseconds time = 0;  // predicted; what is not known counts as none
};

// How long a request takes at least from its begin on.
Nanoseconds LeastTime(const Waiting& waiting);

// Chooses among the waiting, in the order of their arrival and at least one, for `free` of `slots` slots, at
// least one. Own work at their front has the slots that it needs. Requests begin as if those behind own work
// were not there.
NextStart ChooseStart(const std::deque<Waiting>& waiting, int free, int slots);

struct Forecast {
  Nanoseconds wait = 0;  // until the last of the waiting begins
  Nanoseconds time = 0;  // from then until it ends, whatever arrives before
};

// Plays the rules until the last of `waiting`, a request, begins, if nothing else arrives. `ends` has for
// each slot when it becomes free; a time before `now`: it is free, or about to be. What is not known counts
// as no time, so that the forecast is too early where it errs, but where own work waits: that of one slot is
// foreseen to begin when all are free, so that no deadline is accepted that a load makes late.
Forecast ForecastLast(std::deque<Waiting> waiting, std::vector<Nanoseconds> ends, Nanoseconds now);

}  // namespace mete::serve
