// The arenas of one CPU's shares.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "mete/engine.h"
#include "processor/cpu/executor.h"

namespace mete {

// An arena holds the values that the steps of a share pass to each other within one run. The shares of a
// model that run in turn on one CPU use the same arena, which stays in the core's cache from one share to the
// next: a model in 33 groups has one arena instead of 33. Shares that run at once have an arena each. All
// arenas are as large as the largest share that is ready needs; the memory goes with the shares. Thread-safe.
class Arenas {
 public:
  // A share that is ready and needs `bytes` bytes, for the object's life.
  class Need {
   public:
    Need(std::shared_ptr<Arenas> arenas, int64_t bytes);
    ~Need();
    Need(const Need&) = delete;
    Need& operator=(const Need&) = delete;

   private:
    friend class Arenas;

    const std::shared_ptr<Arenas> arenas_;
    const int64_t bytes_;
  };

  // Lends an arena to the share's executor, which may run during the object's life. A run allocates an arena
  // only where more shares run at once than before.
  class Loan {
   public:
    // `need`: null if the executor has an arena of its own.
    Loan(const Need* need, Executor& executor);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

   private:
    Arenas* const arenas_;
    Executor& executor_;
    Tensor arena_;
  };

 private:
  void Add(int64_t bytes);
  void Remove(int64_t bytes);
  void DropFree();
  Tensor Take();
  void Return(Tensor arena);

  std::mutex mutex_;
  std::multiset<int64_t> needs_;  // of the shares that are ready, in bytes
  int64_t bytes_ = 0;             // of an arena
  size_t made_ = 0;               // arenas of this size, free and lent
  std::vector<Tensor> free_;      // the one that was used last at the end; has room for all that were made
};

}  // namespace mete
