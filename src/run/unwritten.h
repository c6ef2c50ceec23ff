// Counts the messages that a lane has sent and the network has not yet written. A lane that did not wait for
// them would fill the memory while a peer does not read.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

namespace mete {

class Unwritten : public std::enable_shared_from_this<Unwritten> {
 public:
  // Belongs to a message: the message counts as unwritten while its mark lives.
  using Mark = std::shared_ptr<const void>;
  Mark Add() {
    std::lock_guard lock(mutex_);
    ++messages_;
    return {nullptr, [self = shared_from_this()](const void*) { self->Remove(); }};
  }

  // Waits until all messages are written or Stop() was called.
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stop_ || messages_ == 0; });
  }

  void Stop() {
    std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }

 private:
  void Remove() {
    std::lock_guard lock(mutex_);
    --messages_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int messages_ = 0;
  bool stop_ = false;
};

}  // namespace mete
