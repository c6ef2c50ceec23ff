#include "run/turn.h"

#include <chrono>

namespace mete {
namespace {

constexpr std::chrono::milliseconds kCheckEvery{20};  // guess: less than a user notices, and next to no work

}  // namespace

Turn::Taken::Taken(Turn& turn, const std::function<void()>& check) : turn_(turn) {
  std::unique_lock lock(turn_.mutex_);
  turn_.queue_.push_back(this);
  const auto first = [&] { return turn_.queue_.front() == this; };
  try {
    while (!turn_.changed_.wait_for(lock, kCheckEvery, first)) {
      lock.unlock();
      check();
      lock.lock();
    }
  } catch (...) {
    turn_.Leave(this);
    throw;
  }
}

void Turn::Leave(const Taken* taken) {
  {
    std::lock_guard lock(mutex_);
    std::erase(queue_, taken);
  }
  changed_.notify_all();
}

}  // namespace mete
