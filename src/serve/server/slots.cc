#include "serve/server/slots.h"

#include <algorithm>
#include <optional>

namespace mete::serve {
namespace {

Nanoseconds InNanoseconds(Clock::Time time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

Clock::Time AsTime(Nanoseconds time) {
  return Clock::Time(std::chrono::duration_cast<Clock::Duration>(std::chrono::nanoseconds(time)));
}

}  // namespace

Slots::Slots(const QueueLimits& limits, Compute compute, Clock& clock)
    : compute_(std::move(compute)), clock_(clock), scheduler_(limits) {
  for (int i = 0; i < limits.slots; ++i) slots_.push_back(std::make_unique<Slot>());
  for (size_t i = 0; i < slots_.size(); ++i) threads_.emplace_back([this, i] { Work(i); });
  threads_.emplace_back([this] { GiveUpLate(); });
}

Slots::~Slots() {
  Drain(Clock::Time::max());
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    late_.notify_all();
    for (const auto& slot : slots_) slot->begin.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

int Slots::AddModel(const ModelTimes& times) {
  const std::lock_guard lock(mutex_);
  return scheduler_.AddModel(times);
}

void Slots::RemoveModel(int model) {
  const std::lock_guard lock(mutex_);
  scheduler_.RemoveModel(model);
}

Admission Slots::Submit(Arrival& arrival, std::unique_ptr<Job>& job) {
  Jobs late;
  Admission admission;
  {
    const std::lock_guard lock(mutex_);
    arrival.request = next_++;
    admission = scheduler_.Arrive(arrival, InNanoseconds(clock_.Now()));
    if (admission.refusal != Refusal::kNone) return admission;
    ++accepted_;
    jobs_.emplace(arrival.request, std::move(job));
    late = Dispatch();
  }
  GiveUp(std::move(late), Refusal::kTooLate);
  return admission;
}

bool Slots::Submit(OwnWork work, std::unique_ptr<Job> job) {
  Jobs late;
  {
    const std::lock_guard lock(mutex_);
    work.number = next_++;
    if (!scheduler_.Enqueue(work)) return false;
    ++accepted_;
    jobs_.emplace(work.number, std::move(job));
    late = Dispatch();
  }
  GiveUp(std::move(late), Refusal::kTooLate);
  return true;
}

void Slots::Cancel(uint64_t request) {
  Jobs gone;
  {
    const std::lock_guard lock(mutex_);
    if (scheduler_.Cancel(request)) gone.push_back(std::move(jobs_.extract(request).mapped()));
  }
  GiveUp(std::move(gone), Refusal::kGone);
}

Admission Slots::Refuse(int model) {
  const std::lock_guard lock(mutex_);
  return scheduler_.Refuse(model, InNanoseconds(clock_.Now()));
}

// Returns the jobs that are too late, to be given up without the lock.
Slots::Jobs Slots::Dispatch() {
  const Nanoseconds now = InNanoseconds(clock_.Now());
  Jobs late;
  for (const uint64_t request : scheduler_.TakeLate(now))
    late.push_back(std::move(jobs_.extract(request).mapped()));
  while (std::optional<Start> start = scheduler_.Next(now)) {
    Slot& slot = *slots_[size_t(start->slot)];
    for (const uint64_t request : start->requests)
      slot.jobs.push_back(std::move(jobs_.extract(request).mapped()));
    slot.start = std::move(*start);
    slot.begin.notify_one();
  }
  if (scheduler_.NextLate() != next_late_) late_.notify_all();
  next_late_ = scheduler_.NextLate();
  return late;
}

void Slots::GiveUp(Jobs given, Refusal why) {
  if (given.empty()) return;
  const int count = int(given.size());
  for (const auto& job : given) job->GiveUp(why);
  given.clear();  // the last reference removes the model, which takes the lock
  const std::lock_guard lock(mutex_);
  accepted_ -= count;
  ended_.notify_all();
}

void Slots::Work(size_t index) {
  Slot& slot = *slots_[index];
  std::unique_lock lock(mutex_);
  while (true) {
    slot.begin.wait(lock, [&] { return ending_ || slot.start; });
    if (!slot.start) return;
    const Start start = std::move(*slot.start);
    slot.start.reset();
    std::vector<std::unique_ptr<Job>> jobs = std::move(slot.jobs);
    slot.jobs.clear();
    const int count = int(jobs.size());
    lock.unlock();
    Computed computed = compute_(start, std::move(jobs));
    lock.lock();
    scheduler_.Done(start, computed.time);
    accepted_ -= count;
    Jobs late = Dispatch();
    ended_.notify_all();
    lock.unlock();
    GiveUp(std::move(late), Refusal::kTooLate);
    computed.model.reset();  // the last reference removes the model
    lock.lock();
  }
}

void Slots::GiveUpLate() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    clock_.Wait(late_, lock, next_late_ ? AsTime(*next_late_) : Clock::Time::max());
    Jobs late = Dispatch();
    lock.unlock();
    GiveUp(std::move(late), Refusal::kTooLate);
    lock.lock();
  }
}

bool Slots::Drain(Clock::Time until) {
  Jobs own, late;
  {
    const std::lock_guard lock(mutex_);
    for (const uint64_t number : scheduler_.Drain()) own.push_back(std::move(jobs_.extract(number).mapped()));
    late = Dispatch();  // of the requests behind own work some may begin now
  }
  GiveUp(std::move(own), Refusal::kDraining);
  GiveUp(std::move(late), Refusal::kTooLate);
  std::unique_lock lock(mutex_);
  return clock_.WaitUntil(ended_, lock, until, [&] { return accepted_ == 0; });
}

void Slots::GiveUpWaiting() {
  Jobs given;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [request, job] : jobs_) {
      scheduler_.Cancel(request);
      given.push_back(std::move(job));
    }
    jobs_.clear();
  }
  GiveUp(std::move(given), Refusal::kDraining);
}

bool Slots::draining() const {
  const std::lock_guard lock(mutex_);
  return scheduler_.draining();
}

int Slots::waiting() const {
  const std::lock_guard lock(mutex_);
  return scheduler_.waiting();
}

int Slots::waiting(int model) const {
  const std::lock_guard lock(mutex_);
  return scheduler_.waiting(model);
}

int Slots::under_way() const {
  const std::lock_guard lock(mutex_);
  return scheduler_.under_way();
}

Nanoseconds Slots::PredictedWait() const {
  const std::lock_guard lock(mutex_);
  return scheduler_.PredictedWait(InNanoseconds(clock_.Now()));
}

}  // namespace mete::serve
