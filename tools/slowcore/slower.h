// The thread that keeps others off a core. While an object of this class lives, its thread has a real-time
// priority and that core; both go with it.
#pragma once

#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "tools/slowcore/control/pacer.h"
#include "tools/slowcore/control/phases.h"

namespace mete::slowcore {

// What the thread did since it was made.
struct Account {
  int64_t slow_ns = 0;  // time in which the core was meant to be slow
  int64_t lost_ns = 0;  // of it, what was not others', as far as our own clock can tell
  int64_t held_ns = 0;  // of that, between waking up and going to sleep
  // the thread's own processor time: less than held_ns where somebody else had the core all the same
  int64_t cpu_ns = 0;
  int64_t periods = 0;
};

// Goes off once a period. The kernel sets it again by itself, when it goes off: a thread that sleeps until a
// time sets a timer each time on its way, which others pay. (Measured on a virtual machine: 9 to 12 us from
// the end of a busy part until others go on, against 2 to 3.)
class Timer {
 public:
  Timer();  // throws UNAVAILABLE where there is none to be had
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void Start(int64_t first_ns, int64_t period_ns) const;
  void Stop() const;
  void Wait() const;  // for the next time since the last one that was waited for

 private:
  const int fd_;
};

class Slower {
 public:
  enum class Mode { kFree, kSlow, kPhases, kEnd };

  // The core is free at first. Throws UsageError where the core is not for us, and Error where the priority
  // is refused.
  Slower(int core, const Pace& pace, const std::optional<PhaseSettings>& phases);
  ~Slower();
  Slower(const Slower&) = delete;
  Slower& operator=(const Slower&) = delete;

  void Set(Mode mode) { mode_.store(mode, std::memory_order_relaxed); }
  void SetOverheadNs(double ns) { overhead_ns_.store(ns, std::memory_order_relaxed); }
  Account account();

 private:
  void Main(int core, std::promise<void>& ready);
  void Loop();
  bool WantsSlow(int64_t now_ns);
  void Begin(int64_t now_ns);
  void Period();

  const Pace pace_;
  const Timer timer_;
  Pacer pacer_;
  std::optional<Phases> phases_;
  int64_t phases_start_ns_ = 0;  // 0: they have not begun
  int64_t free_until_ns_ = 0;
  int64_t counted_ns_ = 0;  // up to here time is in slow_ns_
  std::atomic<Mode> mode_{Mode::kFree};
  std::atomic<double> overhead_ns_{0};
  std::atomic<int64_t> slow_ns_{0}, lost_ns_{0}, held_ns_{0}, periods_{0};
  std::thread thread_;
};

}  // namespace mete::slowcore
