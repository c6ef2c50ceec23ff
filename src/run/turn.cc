#include "run/turn.h"

#include <chrono>

namespace mete {
namespace {

constexpr std::chrono::milliseconds kCheckEvery{20};  // guess: less than anybody notices, and next to no work

}  // namespace

Turn::Taken::Taken(Turn& turn, const std::function<void()>& check) : turn_(turn) {
  std::unique_lock lock(turn_.mutex_);
  place_ = turn_.queue_.insert(turn_.queue_.end(), this);
  const auto first = [&] { return place_ == turn_.queue_.begin(); };
  try {
    while (!turn_.changed_.wait_for(lock, kCheckEvery, first)) {
      lock.unlock();
      check();
      lock.lock();
    }
  } catch (...) {
    turn_.Leave(place_);
    throw;
  }
}

void Turn::Leave(std::list<const Taken*>::iterator place) {
  {
    std::lock_guard lock(mutex_);
    queue_.erase(place);
  }
  changed_.notify_all();
}

}  // namespace mete
