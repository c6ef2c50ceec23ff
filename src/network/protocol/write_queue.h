// A queue of writes to a stream. A thread of the queue writes them, so that a computing thread never waits
// for the network. The queue itself has no bound: the code that pushes must keep one. A caller has one
// request per lane under way and gives up all requests when one fails; a worker's lane waits before its next
// request until the last one is written (run/deployment.h).
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace mete {

class WriteQueue {
 public:
  // The queue's thread calls `broken` once, when a write fails.
  explicit WriteQueue(std::function<void()> broken);
  ~WriteQueue();  // drops what is not yet written
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  // A write returns false where the stream is broken. The queue makes the writes in the order of the calls of
  // Push() and deletes each after it was made or dropped. Thread-safe.
  using Write = std::function<bool()>;
  void Push(Write write);

 private:
  void Do();

  const std::function<void()> broken_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Write> writes_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace mete
