#include "network/protocol/write_queue.h"

#include "base/unpinned.h"

namespace mete {

WriteQueue::WriteQueue(std::function<void()> broken)
    : broken_(std::move(broken)), thread_(Unpinned([this] { Do(); })) {}

WriteQueue::~WriteQueue() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void WriteQueue::Push(Write write) {
  {
    std::lock_guard lock(mutex_);
    writes_.push_back(std::move(write));
  }
  changed_.notify_one();
}

void WriteQueue::Do() {
  bool broken = false;
  for (;;) {
    Write write;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || !writes_.empty(); });
      if (stop_) return;
      write = std::move(writes_.front());
      writes_.pop_front();
    }
    if (broken || write()) continue;
    broken = true;  // later writes are dropped
    broken_();
  }
}

}  // namespace mete
