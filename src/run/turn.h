// Orders the threads that compute on a processor: one at a time has all of its cores, because two at a time
// would only delay each other.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "base/clock.h"

namespace mete {

class Turn {
 public:
  explicit Turn(Clock& clock = Clock::Steady()) : clock_(clock) {}

  // guess: less than a user notices, and next to no work
  static constexpr std::chrono::milliseconds kCheckEvery{20};

  // An object of this class has the turn for as long as it lives.
  class Taken {
   public:
    // Waits for the turn, in the order of the calls. A thread that waits calls `check` every kCheckEvery; a
    // `check` that throws ends the waiting.
    Taken(Turn& turn, const std::function<void()>& check);
    ~Taken() { turn_.Leave(this); }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;

   private:
    Turn& turn_;
  };

  int waiting();  // threads that wait for the turn now

 private:
  void Leave(const Taken* taken);

  Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<const Taken*> queue_;  // the first has the turn
};

}  // namespace mete
