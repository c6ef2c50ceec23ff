// Monotonic time: in nanoseconds for measurements, and as a clock for code that waits, retries or expires.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace mete {

// Returns the time of the steady clock.
inline int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The time by which something waits or expires. A test has a clock of its own and moves it
// (base/clock_testing.h). Thread-safe.
class Clock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  virtual ~Clock() = default;
  virtual Time Now() const = 0;
  // Waits until `changed` is notified or `until` has come; may return earlier. `lock` is held before and
  // after. Time::max() never comes.
  virtual void Wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, Time until) = 0;

  // Waits until done(), which is asked with the lock held, is true. Returns false if `until` comes before.
  template <class Done>
  bool WaitUntil(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, Time until,
                 Done done) {
    while (!done()) {
      if (Now() >= until) return false;
      Wait(changed, lock, until);
    }
    return true;
  }

  static Clock& Steady();  // the steady clock of this machine
};

}  // namespace mete
