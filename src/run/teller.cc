#include "run/teller.h"

namespace mete {

void Teller::Add(std::string note) {
  std::lock_guard lock(mutex_);
  untold_.push_back(std::move(note));
}

// One thread at a time tells the notes. Another thread that comes meanwhile leaves its notes to it. This also
// holds if the user's function calls the session.
void Teller::TellAll() {
  std::unique_lock lock(mutex_);
  if (telling_) return;
  telling_ = true;
  while (!untold_.empty()) {
    const std::string note = std::move(untold_.front());
    untold_.pop_front();
    lock.unlock();
    tell_(note);
    lock.lock();
  }
  telling_ = false;
}

}  // namespace mete
