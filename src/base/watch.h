// Looks again and again whether something has happened that tells nobody, and then does something about it,
// once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace mete {

class Watch {
 public:
  // Both by another thread, as long as this lives.
  Watch(std::function<bool()> happened, std::function<void()> then)
      : thread_([happened = std::move(happened), then = std::move(then)](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any never;
          std::unique_lock lock(mutex);
          while (!happened())
            if (never.wait_for(lock, stop, kEvery, [&] { return stop.stop_requested(); })) return;
          then();
        }) {}

 private:
  static constexpr std::chrono::milliseconds kEvery{50};  // guess: sooner than somebody is called again

  std::jthread thread_;
};

}  // namespace mete
