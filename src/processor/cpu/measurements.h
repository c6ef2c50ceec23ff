// What a session that answers first still has to measure: the candidates of the nodes that were prepared by
// estimate. The work is done in steps of one call of a kernel, between the runs of the session.
#pragma once

#include <optional>
#include <string>

#include "processor/cpu/executor.h"
#include "processor/tuning/tuner.h"
#include "processor/cpu/threads/thread_pool.h"

namespace mete {

class Measurements {
 public:
  // Keeps references. `tuner` measures later, and is that of the kernels of `executor`.
  Measurements(Executor& executor, ThreadPool& pool, Tuner& tuner)
      : executor_(executor), pool_(pool), tuner_(tuner) {}

  int64_t left() const { return int64_t(executor_.unmeasured().size() - done_); }  // nodes
  bool done() const { return left() == 0; }
  // Makes or calls one candidate, or prepares a node again by its times. A node whose candidates cannot be
  // made, for want of memory, stays as it is, and problem() says so.
  void Step();
  // To be called before the first Step() after a run.
  void Resume();
  const std::string& problem() const { return problem_; }

 private:
  void MeasureOrPrepare();
  size_t step() const { return executor_.unmeasured()[done_]; }

  Executor& executor_;
  ThreadPool& pool_;
  Tuner& tuner_;
  std::optional<Tuner::Waiting> waiting_;  // of the node that is measured now
  size_t done_ = 0;                        // of executor_.unmeasured()
  std::string problem_;
};

}  // namespace mete
