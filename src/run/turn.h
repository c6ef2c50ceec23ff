// Whose turn it is to compute: the cores are one processor, and two that use them at a time only make each
// other late.
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
    // Waits for it, in the order in which it was asked for. Who must wait calls `check` now and then, which
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
