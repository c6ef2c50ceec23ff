// Tells the user of a session what happens to its processors, in a line each.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>

namespace mete {

class Teller {
 public:
  // `tell` gets one note at a time, from any thread, and may use the session.
  explicit Teller(std::function<void(const std::string&)> tell) : tell_(std::move(tell)) {}

  // Keeps a note until TellAll(). Callers that hold a lock use this function.
  void Add(std::string note);
  // Tells what was added, in order. The caller holds no lock.
  void TellAll();
  void Tell(std::string note) {
    Add(std::move(note));
    TellAll();
  }

 private:
  const std::function<void(const std::string&)> tell_;
  std::mutex mutex_;
  std::deque<std::string> untold_;
  bool telling_ = false;
};

}  // namespace mete
