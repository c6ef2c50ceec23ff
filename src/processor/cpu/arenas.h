// The arenas of one CPU's shares.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "mete/engine.h"

namespace mete {

class Executor;

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
    // `need` has no value if the executor has an arena of its own.
    Loan(const std::optional<Need>& need, Executor& executor);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

   private:
    Arenas* const arenas_;
    Executor& executor_;
    std::list<Tensor> arena_;  // one; its node moves, so that a run allocates nothing
  };

  int64_t memory_bytes() const;  // of all arenas, also those that are lent

 private:
  void Add(int64_t bytes);
  void Remove(int64_t bytes);
  int64_t bytes() const { return needs_.empty() ? 0 : *needs_.rbegin(); }  // of an arena
  std::list<Tensor> Take();
  void Return(std::list<Tensor> arena);
  void DropUnfit();

  mutable std::mutex mutex_;
  std::multiset<int64_t> needs_;  // of the shares that are ready, in bytes
  std::list<Tensor> free_;        // the one that was used last at the front
  int64_t lent_bytes_ = 0;
};

}  // namespace mete
