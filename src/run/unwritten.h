// Counts the messages that a lane has sent and the network has not yet written. A lane that did not wait for
// them would fill the memory while a peer does not read.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

namespace mete {

class Unwritten : public std::enable_shared_from_this<Unwritten> {
 public:
  // Belongs to a message: the message counts as unwritten while its mark, or a copy of it, lives.
  class Mark {
   public:
    Mark() = default;  // of no message
    explicit Mark(std::shared_ptr<Unwritten> of) : of_(std::move(of)) {
      if (of_) of_->Count(1);
    }
    Mark(const Mark& other) : Mark(other.of_) {}
    Mark(Mark&& other) noexcept = default;
    Mark& operator=(Mark other) noexcept {
      of_.swap(other.of_);
      return *this;
    }
    ~Mark() {
      if (of_) of_->Count(-1);
    }

   private:
    std::shared_ptr<Unwritten> of_;
  };
  Mark Add() { return Mark(shared_from_this()); }

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
  void Count(int messages) {
    std::lock_guard lock(mutex_);
    messages_ += messages;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int messages_ = 0;
  bool stop_ = false;
};

}  // namespace mete
