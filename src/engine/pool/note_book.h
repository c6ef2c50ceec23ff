// What a session on a pool tells its caller.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"

namespace mete {

// The notes of a session, for its caller's function, for Notes(), and for the program's log. Thread-safe.
class NoteBook {
 public:
  NoteBook(std::string model, std::function<void(const std::string&)> tell)
      : model_(std::move(model)), tell_(std::move(tell)) {}

  void Add(const std::string& note) {
    {
      std::lock_guard lock(mutex_);
      if (notes_.size() == kMostNotes) notes_.pop_front();
      notes_.push_back(note);
    }
    Log(LogLevel::kInfo, model_, "{}", note);
    if (tell_) tell_(note);
  }
  std::vector<std::string> all() const {
    std::lock_guard lock(mutex_);
    return {notes_.begin(), notes_.end()};
  }

 private:
  static constexpr size_t kMostNotes = 100;  // guess: more than a caller reads; the oldest go

  const std::string model_;
  const std::function<void(const std::string&)> tell_;
  mutable std::mutex mutex_;
  std::deque<std::string> notes_;
};

// Notes that wait until it is known whether the caller should have them. Thread-safe.
class WaitingNotes {
 public:
  explicit WaitingNotes(std::function<void(const std::string&)> tell) : tell_(std::move(tell)) {}

  void Add(const std::string& note) {
    {
      std::lock_guard lock(mutex_);
      if (wait_) return waiting_.push_back(note);
    }
    tell_(note);
  }
  // Tells the notes that wait. From now on Add() tells each note at once.
  void Tell() {
    std::vector<std::string> told;
    {
      std::lock_guard lock(mutex_);
      wait_ = false;
      told.swap(waiting_);
    }
    for (const std::string& note : told) tell_(note);
  }

 private:
  const std::function<void(const std::string&)> tell_;
  std::mutex mutex_;
  bool wait_ = true;
  std::vector<std::string> waiting_;
};

}  // namespace mete
