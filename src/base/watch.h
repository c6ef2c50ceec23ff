// Polls a condition that has no notification, such as whether a caller has cancelled, and calls a function
// once the condition holds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/unpinned.h"

namespace mete {

class Watch {
 public:
  // A thread of this object calls `happened` repeatedly, and `then` once after `happened` has returned true.
  // The destructor stops the thread.
  Watch(std::function<bool()> happened, std::function<void()> then)
      : thread_(
            Unpinned([happened = std::move(happened), then = std::move(then)](const std::stop_token& stop) {
              std::mutex mutex;
              std::condition_variable_any never;
              std::unique_lock lock(mutex);
              while (!happened())
                if (never.wait_for(lock, stop, kEvery, [&] { return stop.stop_requested(); })) return;
              then();
            })) {}

 private:
  static constexpr std::chrono::milliseconds kEvery{50};  // a guess: shorter than the time to the next call

  std::jthread thread_;
};

}  // namespace mete
