// A load's turn among requests: while it lasts, nothing else computes in its slots. Runs and measurements of
// a load are computed in such turns; what its thread does beside them is said in docs/design.md, "Versions".
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
  // of the constructor, also where a drain has begun and nobody waits, and then the turn has ended.
  bool Pause();

 private:
  void Take();
  void Give();

  Slots& slots_;
  const int slot_;
  Clock& clock_;
  Clock::Time began_, looked_;    // the turn, and the piece of work that is under way
  Clock::Duration next_ = kTurn;  // how long the next turn lasts, as foreseen
  std::promise<void> ended_;
  bool is_taken_ = false;
};

// Lets a load have its turn, if this start is one; true: the turn has ended.
bool LetLoadCompute(const std::vector<std::unique_ptr<Job>>& jobs);

}  // namespace mete::serve
