// Decides which request is computed when, on which cores, and which is refused. A state machine that is told the
// time: it has no threads and no clock, and knows requests by number alone.
//
// A slot is some of the machine's cores. A start occupies one slot (narrow) or all of them (wide). One request alone
// is computed wide, because that is sooner; of several, each slot computes one, because that is the most work in the
// same time, unless the measured times of the model say otherwise. Requests begin in the order of their arrival;
// neither batches nor wide starts let a slot wait for a request that might come.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mete::serve {

using Nanoseconds = int64_t;  // of a steady clock

struct QueueLimits {
  int slots = 1;
  // The requests that may wait, for each slot. More are refused. Four: with one under way, an accepted request takes
  // five times that of one alone at most, however many are refused.
  int waiting_per_slot = 4;
};

// What is known of a version of a model on this machine. Times are measured when it is loaded, and follow its runs.
struct ModelTimes {
  Nanoseconds wide = 0, narrow = 0;  // of one request; 0: not known
  int most_in_batch = 1;             // 1: batches take no less time for each request, or the model has no batch
};

struct Arrival {
  uint64_t request = 0;
  int model = 0;                       // as AddModel() numbered it
  Nanoseconds deadline = 0;            // of the answer; 0: none
  uint64_t batch_key = 0;              // requests of one model and key may be computed together; 0: with no other
  int rows = 1;                        // of the batch that the request has itself
};

// Why a request is not accepted, or is given up.
enum class Refusal { kNone, kFull, kTooLate, kDraining };

struct Admission {
  Refusal refusal = Refusal::kNone;
  Nanoseconds retry_after = 0;  // of kFull: until a request has probably begun
  Nanoseconds wait = 0;         // predicted, until the request begins
};

// Requests of one model that are computed as one batch.
struct Start {
  int slot = 0;  // of a wide start 0: it occupies all
  bool wide = false;
  int model = 0;
  std::vector<uint64_t> requests;
};

class Scheduler {
 public:
  explicit Scheduler(const QueueLimits& limits);

  int AddModel(const ModelTimes& times);
  void SetTimes(int model, const ModelTimes& times);
  void RemoveModel(int model);  // which no request has any more

  Admission Arrive(const Arrival& arrival, Nanoseconds now);
  // The caller has gone. Returns false if the request does not wait (any more).
  bool Cancel(uint64_t request);
  // Returns waiting requests whose deadline cannot be met, which are given up: they wait no more.
  std::vector<uint64_t> TakeLate(Nanoseconds now);
  // Returns what begins now; nothing: no slot is free, or no request waits. To be asked until it returns nothing.
  std::optional<Start> Next(Nanoseconds now);
  // A start has ended after `compute` of computing (without decoding and scaling); 0: it failed, and says nothing
  // about the model's times.
  void Done(const Start& start, Nanoseconds compute, Nanoseconds now);

  void Drain();  // refuses all that arrive from now on

  int waiting() const;
  int waiting(int model) const;
  int under_way() const;  // requests
  // Of a request that arrived now, until it begins: what is told to callers as this server's load.
  Nanoseconds PredictedWait(Nanoseconds now) const;

 private:
};

}  // namespace mete::serve
