// The thread that keeps other threads off a core. As long as a Slower lives, its thread runs on this core
// with a real-time priority.
#pragma once

#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "tools/slowcore/control/pacer.h"
#include "tools/slowcore/control/phases.h"

namespace mete::slowcore {

// The times of the thread since it was made.
struct Account {
  int64_t slow_ns = 0;  // time in which the core was meant to be slow
  int64_t lost_ns = 0;  // the part of slow_ns that other threads lost, by the thread's own clock
  int64_t held_ns = 0;  // the part of lost_ns between waking up and going to sleep
  // the thread's own processor time: less than held_ns if another thread had the core nevertheless
  int64_t cpu_ns = 0;
  int64_t periods = 0;
};

// A timer that expires once per period. The kernel rearms it when it expires. A thread that instead sleeps
// until a time sets a timer each time, at the expense of the other threads. (Measured on a virtual machine: 9
// to 12 us from the end of a busy part until other threads run, compared with 2 to 3.)
class Timer {
 public:
  Timer();  // throws UNAVAILABLE if the kernel gives no timer
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void Start(int64_t first_ns, int64_t period_ns) const;
  void Stop() const;
  void Wait() const;  // waits until the timer has expired since the last Wait()

 private:
  const int fd_;
};

class Slower {
 public:
  enum class Mode { kFree, kSlow, kPhases, kEnd };

  // The core is free at first. Throws UsageError if the core is not allowed, and Error if the priority is
  // refused.
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
  int64_t phases_start_ns_ = 0;  // 0: the phases have not begun
  int64_t free_until_ns_ = 0;
  int64_t counted_ns_ = 0;  // the time up to which slow_ns_ counts
  std::atomic<Mode> mode_{Mode::kFree};
  std::atomic<double> overhead_ns_{0};
  std::atomic<int64_t> slow_ns_{0}, lost_ns_{0}, held_ns_{0}, periods_{0};
  std::thread thread_;
};

}  // namespace mete::slowcore
