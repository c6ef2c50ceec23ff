// What is to be written to a stream, by a thread of its own, so that nobody who computes waits for the
// network. It takes whatever is pushed: who pushes sees to it that this has a bound. A caller has one request
// a lane under way, and gives up all of them with the first that fails; a worker's lane waits before its next
// request until the last one is written (network/worker/deployment.h).
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace mete {

class WriteQueue {
 public:
  // `broken` is called once, by the queue's thread, when a write fails.
  explicit WriteQueue(std::function<void()> broken);
  ~WriteQueue();  // what is not yet written is dropped
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  // False where the stream is broken. In the order of the calls; each goes when it has been made, or will not
  // be. Thread-safe.
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
