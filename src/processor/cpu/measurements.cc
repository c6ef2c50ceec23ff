#include "processor/cpu/measurements.h"

#include "mete/error.h"

namespace mete {

void Measurements::MeasureOrPrepare() {
  if (!waiting_) {
    waiting_ = executor_.PrepareByTimes(step());
    if (!waiting_) ++done_;
    return;
  }
  waiting_->contest.Step();
  if (!waiting_->contest.done()) return;
  tuner_.Add(*waiting_);
  waiting_.reset();
}

void Measurements::Step() {
  const ThreadPool::CallerPin pin(pool_);
  pool_.PrepareStep(executor_.step_threads(step()));
  try {
    MeasureOrPrepare();
  } catch (const Error& error) {
    problem_ = std::string(error.what()) + "; the kernel of this node stays that of the estimate";
    waiting_.reset();
    ++done_;
  }
  pool_.TakeTimes();  // which are not those of a run
  if (done()) tuner_.Save();
}

void Measurements::Resume() {
  const ThreadPool::CallerPin pin(pool_);
  if (waiting_) waiting_->contest.Resume();
}

}  // namespace mete
