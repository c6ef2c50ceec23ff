// Orders the threads that compute on a processor: one at a time has all of its cores, because two at a time
// would only delay each other.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

namespace mete {

class Turn {
 public:
  // Has the turn for as long as it lives.
  class Taken {
   public:
    // Waits for the turn, in the order of the calls. A thread that waits calls `check` now and then, which
    // gives up by throwing.
    Taken(Turn& turn, const std::function<void()>& check);
    ~Taken() { turn_.Leave(this); }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;

   private:
    Turn& turn_;
  };

 private:
  void Leave(const Taken* taken);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<const Taken*> queue_;  // the first has the turn
};

}  // namespace mete
