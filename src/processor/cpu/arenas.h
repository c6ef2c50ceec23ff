// The arenas of one CPU's shares.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "mete/engine.h"
#include "processor/cpu/executor.h"

namespace mete {

// An arena holds the values that the steps of a share pass to each other within one run. The shares of a
// model that one thread runs in turn use the same arena, which stays in the core's cache from one share to
// the next: a model in 33 groups has one arena instead of 33. Shares that run at once have an arena each.
// Thread-safe.
class Arenas {
 public:
  // From now on, all arenas have at least `bytes` bytes. To be called when a share has been made ready, so
  // that runs allocate an arena only where more shares run at once than before.
  void Reserve(int64_t bytes);

  // Lends an arena to the executor for the object's life, in which it may run. The arena is as large as the
  // last Reserve() says. Null: the executor has an arena of its own.
  class Loan {
   public:
    Loan(Arenas* arenas, Executor& executor);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

   private:
    Arenas* const arenas_;
    Tensor arena_;
  };

 private:
  Tensor Take();
  void Return(Tensor arena);

  std::mutex mutex_;
  int64_t bytes_ = 0;         // of an arena
  std::vector<Tensor> free_;  // the one that was used last at the end
};

}  // namespace mete
