#include "run/turn.h"

#include <algorithm>

namespace mete {

Turn::Taken::Taken(Turn& turn, const std::function<void()>& check) : turn_(turn) {
  std::unique_lock lock(turn_.mutex_);
  turn_.queue_.push_back(this);
  const auto first = [&] { return turn_.queue_.front() == this; };
  try {
    while (!turn_.clock_.WaitUntil(turn_.changed_, lock, turn_.clock_.Now() + kCheckEvery, first)) {
      lock.unlock();
      check();
      lock.lock();
    }
  } catch (...) {
    turn_.Leave(this);
    throw;
  }
}

int Turn::waiting() {
  std::lock_guard lock(mutex_);
  return std::max(0, int(queue_.size()) - 1);
}

void Turn::Leave(const Taken* taken) {
  {
    std::lock_guard lock(mutex_);
    std::erase(queue_, taken);
  }
  changed_.notify_all();
}

}  // namespace mete
