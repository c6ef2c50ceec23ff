// Decides which request is computed when, on which cores, and which is refused. A state machine that is told
// the time: it has no threads and no clock, and knows requests by number alone.
//
// A slot is some of the machine's cores. A start occupies one slot (narrow) or all of them (wide). One
// request alone is computed wide, because that is sooner; of several, each slot computes one, because that is
// the most work in the same time, unless the measured times of the model say otherwise (next_start.h).
// Requests begin in the order of their arrival, but that a batch takes later requests of its model along;
// neither batches nor wide starts let a slot wait for a request that might come.
//
// Own work of the server, such as a load's, waits among the requests for one slot or for all. It is no
// request: it has no place of theirs, is never refused for want of one, and is counted nowhere. It begins
// when what arrived before it has begun and its slots are free; nothing overtakes it, so that slots may wait
// for others to become free for it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "serve/queue/next_start.h"

namespace mete::serve {

struct QueueLimits {
  int slots = 1;
  // The requests that may wait, for each slot. More are refused. Four, so that requests at random at 0.8 of
  // the capacity find a place: on two slots 0.9 % do not, with three it is 1.6 % (simulation_test.cc prints
  // it). While the server is overloaded, a long queue would only make all wait longer: then as many may wait
  // as the next start of each slot takes, which is one, or a batch. After many arrivals it has the longer
  // queue until it finds the overload again, so that one that has ended is seen to have ended.
  int waiting_per_slot = 4;
};

// What is known of a version of a model on this machine. Times are measured when it is loaded, and follow its
// runs.
struct ModelTimes {
  // Of one request of one row, by all slots and by one; 0: not known. With one slot they are the same.
  Nanoseconds wide = 0, narrow = 0;
  int most_in_batch = 1;  // rows; 1: batches take no less time for each request, or the model has no batch
  // The requests of this model that may wait, for each slot; 0: QueueLimits has the only limit.
  int waiting_per_slot = 0;
};

// Why a request is not accepted, or is given up. kGone: its caller has gone.
enum class Refusal { kNone, kFull, kTooLate, kDraining, kGone };

struct Admission {
  Refusal refusal = Refusal::kNone;
  Nanoseconds retry_after = 0;  // of kFull: until a request has probably begun
  Nanoseconds wait = 0;         // predicted, until the request begins
};

// Requests of one model that are computed as one batch, or own work.
struct Start {
  int slot = 0;  // of a wide start 0: it occupies all
  bool wide = false;
  int model = 0;                   // 0: own work
  std::vector<uint64_t> requests;  // of own work its number
};

class Scheduler {
 public:
  explicit Scheduler(const QueueLimits& limits);

  int AddModel(const ModelTimes& times);  // returns a number that no other model has had
  void SetTimes(int model, const ModelTimes& times);
  void RemoveModel(int model);  // of which no request waits; those under way may end later

  // Accepts a request or says why not. No model can take all places: a quarter of them more is for requests
  // of models of which none waits. What arrives later delays no accepted request, unless it joins a batch: a
  // deadline that is accepted is met if the times are as predicted.
  Admission Arrive(const Arrival& arrival, Nanoseconds now);
  // Refuses a request of which only the model is known, as Arrive() would, so that the rest of it need not be
  // read; kNone: Arrive() decides later. What is refused so has arrived.
  Admission Refuse(int model, Nanoseconds now);
  // Accepts own work unless a drain has begun; true.
  bool Enqueue(const OwnWork& work);
  // The caller has gone. Returns false if the request does not wait (any more).
  bool Cancel(uint64_t request);
  // Returns waiting requests whose deadline cannot be met, which are given up: they wait no more. To be asked
  // before Next(), and at NextLate().
  std::vector<uint64_t> TakeLate(Nanoseconds now);
  // The first time at which TakeLate() returns a request if nothing happens before; nothing: there is no such
  // time.
  std::optional<Nanoseconds> NextLate() const;
  // Returns what begins now; nothing: no slot is free, or no request waits. To be asked until it returns
  // nothing after each Arrive() and Done().
  std::optional<Start> Next(Nanoseconds now);
  // A start has ended after `compute` of computing (without what Arrival::preparing predicts); 0: it failed,
  // and says nothing about the model's times.
  void Done(const Start& start, Nanoseconds compute);

  // Refuses all that arrive from now on. Returns the own work that waits, which is given up: it waits no
  // more.
  std::vector<uint64_t> Drain();

  bool draining() const { return draining_; }
  int waiting() const { return int(waiting_.size()) - own_waiting_; }  // requests
  int waiting(int model) const;
  int under_way() const;  // requests
  // Of a request that arrived now, until it begins: what is told to callers as this server's load.
  Nanoseconds PredictedWait(Nanoseconds now) const;

 private:
  struct Slot {
    int requests = 0;      // under way; of a wide start, slot 0 has them
    int rows = 0;          // 0: the slot is free
    Nanoseconds ends = 0;  // predicted
  };

  enum class Place { kFree, kNone, kNoneOfItsOwn };  // of its own: by the limit of its model

  bool IsOverloaded() const;
  int PlacesOfSlot(const QueuedModel& model) const;
  int64_t PlacesFor(const QueuedModel& model) const;
  Place PlaceFor(const QueuedModel& model) const;
  void CountArrival(bool has_place);
  Admission Full(Nanoseconds now) const;
  Forecast ForecastOf(const Waiting& waiting, Nanoseconds now) const;
  std::vector<Nanoseconds> Ends() const;
  int FreeSlots() const;
  bool MayBegin(const Waiting& first) const;
  void Occupy(const Start& start, const NextStart& chosen, Nanoseconds now);
  void Remove(size_t index);  // of the waiting

  const QueueLimits limits_;
  std::map<int, QueuedModel> models_;
  int last_model_ = 0;
  const QueuedModel no_model_;   // of what no model's times belong to
  std::deque<Waiting> waiting_;  // in the order of their arrival
  int own_waiting_ = 0;          // of them
  std::vector<Slot> slots_;
  double refused_share_ = 0;          // of what has arrived lately: what found no place
  int64_t arrivals_in_overload_ = 0;  // since it began
  // Places of the queue that the overload has found, and those for others beside it; less by each request
  // that has left the queue since.
  int64_t long_queue_ = 0;
  bool draining_ = false;
};

}  // namespace mete::serve
