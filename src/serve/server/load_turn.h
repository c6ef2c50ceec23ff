// A load's turn among requests: while it lasts, nothing else computes in its slots. What a load computes, it
// computes on its own thread in such turns, so that never more threads compute than there are cores.
#pragma once

#include <future>

#include "base/clock.h"
#include "serve/server/slots.h"

namespace mete::serve {

class LoadTurn {
 public:
  // A turn in which requests wait lasts as long as this, or as the piece of work in which it is over. Guess:
  // an answer that is late by it is not noticed, and caches are filled again for it seldom enough.
  static constexpr std::chrono::milliseconds kTurn{5};

  // Waits until the slot, or all of OwnWork::kAllSlots, are the load's. Error UNAVAILABLE if the server ends.
  explicit LoadTurn(Slots& slots, int slot = OwnWork::kAllSlots, Clock& clock = Clock::Steady());
  ~LoadTurn() { Give(); }
  LoadTurn(const LoadTurn&) = delete;
  LoadTurn& operator=(const LoadTurn&) = delete;

  // To be called between two pieces of work, such as runs of the model. If the turn is over and requests
  // wait, they have theirs, and then the load has the next one; true: caches are another's now. Error as that
  // of the constructor, and then the turn has ended.
  bool Pause();

 private:
  void Take();
  void Give();

  Slots& slots_;
  const int slot_;
  Clock& clock_;
  Clock::Time began_;
  Clock::Duration last_ = kTurn;  // how long the turn before this one lasted
  std::promise<void> ended_;
  bool is_taken_ = false;
};

// Lets a load have its turn, if this start is one; true: the turn has ended.
bool LetLoadCompute(const std::vector<std::unique_ptr<Job>>& jobs);

}  // namespace mete::serve
