// The threads that compute a server's requests, one for each slot, and the queue before them.
//
// The scheduler decides (serve/queue/scheduler.h); this class has its mutex, its clock and its threads. Work
// is a function that a slot's thread calls once, or an outcome if the request is given up before.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "serve/queue/scheduler.h"

namespace mete::serve {

// A request on its way: what is to be computed, and what its caller gets.
struct Job {
  virtual ~Job() = default;
  virtual void GiveUp(Refusal why) = 0;  // no lock is held
};

struct Computed {
  Nanoseconds time = 0;               // of computing; 0: it failed
  std::shared_ptr<const void> model;  // which the scheduler knows until the end of the start
};

// Computes jobs of one model as one batch in a slot, or in all. No lock is held. It throws nothing.
using Compute = std::function<Computed(const Start&, std::vector<std::unique_ptr<Job>>)>;

class Slots {
 public:
  Slots(const QueueLimits& limits, Compute compute, Clock& clock = Clock::Steady());
  ~Slots();  // drains

  int AddModel(const ModelTimes& times);
  void RemoveModel(int model);

  // Takes the job and sets `arrival.request`, or returns why not, and then the caller still has the job.
  Admission Submit(Arrival& arrival, std::unique_ptr<Job>& job);

  // Takes own work of the server (serve/queue/scheduler.h), whose number is set here. False: a drain has
  // begun, and the job is no more.
  bool Submit(OwnWork work, std::unique_ptr<Job> job);

  // Gives up a job whose caller has gone, if it still waits.
  void Cancel(uint64_t request);

  // Why a job of this model would find no place now; Refusal::kNone: Submit() decides.
  Admission Refuse(int model);

  // Refuses what comes from now on, gives up own work that waits, and returns when all accepted jobs have
  // ended, or at `until`; true: all.
  bool Drain(Clock::Time until);

  // Gives up the jobs that wait, which their callers are told as if they had come now; what is being computed
  // is computed to its end. For a drain that takes too long.
  void GiveUpWaiting();

  bool draining() const;         // whether a drain has begun
  int waiting() const;           // requests
  int waiting(int model) const;  // requests for this model, which AddModel() has returned
  int under_way() const;         // requests
  Nanoseconds PredictedWait() const;

 private:
  struct Slot {
    std::condition_variable begin;
    std::optional<Start> start;
    std::vector<std::unique_ptr<Job>> jobs;
  };

  using Jobs = std::vector<std::unique_ptr<Job>>;

  Jobs Dispatch();                       // with the lock: gives starts to their slots
  void GiveUp(Jobs given, Refusal why);  // without the lock
  void Work(size_t slot);
  void GiveUpLate();  // a thread's: requests that wait until it is too late

  const Compute compute_;
  Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;  // jobs have ended
  std::condition_variable late_;   // next_late_ has changed, or the end has come
  Scheduler scheduler_;
  std::map<uint64_t, std::unique_ptr<Job>> jobs_;  // that wait
  std::optional<Nanoseconds> next_late_;           // the scheduler's NextLate()
  uint64_t next_ = 1;
  int accepted_ = 0;  // jobs that have not ended
  bool ending_ = false;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::thread> threads_;
};

}  // namespace mete::serve
