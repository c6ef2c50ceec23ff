// A clock that a test moves: nothing expires unless the test says so, however busy the machine is.
#pragma once

#include <list>
#include <thread>

#include "base/clock.h"

namespace mete {

class FakeClock : public Clock {
 public:
  Time Now() const override {
    std::lock_guard lock(mutex_);
    return now_;
  }

  void Wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, Time until) override {
    const auto sleeper = Register(changed, until);
    if (sleeper == sleepers_.end()) return;
    changed.wait(lock);
    std::lock_guard own(mutex_);
    sleepers_.erase(sleeper);
  }

  // Moves the time on, and returns when all threads whose time has come are awake. The caller holds no lock
  // of these threads.
  void Advance(Duration by) {
    {
      std::lock_guard lock(mutex_);
      now_ += by;
    }
    // A sleeper that has registered may not sleep yet, so that one notification is not enough. It does not
    // leave while mutex_ is held, so that its condition variable lives.
    while (NotifyDue()) std::this_thread::yield();
  }

  // Moves the time on in steps until done() is true. A step is made only while a thread sleeps that is due
  // within the step, so that threads with later deadlines do not expire meanwhile.
  template <class Done>
  void AdvanceUntil(Duration step, Done done) {
    while (!done()) {
      if (HasSleeper(Duration::zero(), step)) Advance(step);
      else std::this_thread::yield();
    }
  }

  // Moves the time on in steps until a thread sleeps whose time comes `least` to `most` from then on: one
  // that looks for a while, by this clock, before it sleeps.
  void AdvanceToSleeper(Duration step, Duration least, Duration most) {
    for (; !HasSleeper(least, most); std::this_thread::yield()) Advance(step);
  }

  // Waits until a thread sleeps whose time comes `least` to `most` from now on.
  void AwaitSleeper(Duration least, Duration most) const {
    while (!HasSleeper(least, most)) std::this_thread::yield();
  }

 private:
  struct Sleeper {
    std::condition_variable* changed;
    Time until;
  };

  std::list<Sleeper>::iterator Register(std::condition_variable& changed, Time until) {
    std::lock_guard lock(mutex_);
    if (now_ >= until) return sleepers_.end();
    return sleepers_.insert(sleepers_.end(), {&changed, until});
  }
  bool NotifyDue() {
    std::lock_guard lock(mutex_);
    bool any = false;
    for (const Sleeper& sleeper : sleepers_) {
      if (sleeper.until > now_) continue;
      sleeper.changed->notify_all();
      any = true;
    }
    return any;
  }
  bool HasSleeper(Duration least, Duration most) const {
    std::lock_guard lock(mutex_);
    for (const Sleeper& sleeper : sleepers_)
      if (sleeper.until - now_ >= least && sleeper.until - now_ <= most) return true;
    return false;
  }

  mutable std::mutex mutex_;
  Time now_{std::chrono::hours(1)};
  std::list<Sleeper> sleepers_;
};

}  // namespace mete
