// A bounded wait by looking again and again, before a thread goes to sleep: a hand-over between two
// processors of one memory then takes well under the time of a wake-up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace mete {

// As long as the threads of a CPU look for the next region (processor/cpu/threads/thread_pool.cc).
inline constexpr std::chrono::microseconds kSpin{100};

// Returns when `done`, which is asked with the lock held, is true, or when kSpin has passed. A thread that
// changes the result of `done` adds to `changes` with the lock held.
template <class Done>
void SpinUntil(std::unique_lock<std::mutex>& lock, const std::atomic<uint32_t>& changes, Done done) {
  const auto until = std::chrono::steady_clock::now() + kSpin;
  while (!done()) {
    const uint32_t seen = changes.load(std::memory_order_acquire);
    lock.unlock();
    bool late = std::chrono::steady_clock::now() >= until;  // also where other changes come all the time
    for (int looks = 0; changes.load(std::memory_order_acquire) == seen && !late; ++looks) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      if (looks % 64 == 63) late = std::chrono::steady_clock::now() >= until;
    }
    lock.lock();
    if (late) return;
  }
}

}  // namespace mete
