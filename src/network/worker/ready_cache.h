// A cache of the sessions of shares, by the bytes of their graphs: a plan that changes a little has most
// shares of the plan before. The memory and the threads of the sessions are bounded. Sessions that no
// deployment uses are deleted first, the least recently used one before others.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "network/wire/wire.h"
#include "network/worker/memory_budget.h"
#include "processor/processor.h"

namespace mete {

class ReadyCache {
 public:
  // Keeps references to both.
  ReadyCache(Processor& processor, MemoryBudget& memory) : processor_(processor), memory_(memory) {}

  // Makes it where it is not here: takes as long as preparing a model, one after the other.
  // RESOURCE_EXHAUSTED where those in use, and whatever else has memory, leave too little.
  std::shared_ptr<Ready> Of(const Graph& graph);

  // One that nobody keeps.
  std::shared_ptr<Ready> Fresh(const Graph& graph);

  // Keeps it until another one comes or memory is needed; it goes before all others.
  void KeepLast(std::shared_ptr<const Ready> ready);

  // Takes memory for another purpose and deletes unused sessions for it as needed. `what`: as in "no memory
  // for <what>". Error RESOURCE_EXHAUSTED.
  MemoryBudget::Part Take(int64_t bytes, const std::string& what);

  // Deletes unused sessions until the remaining unused ones have few threads.
  void Trim();

 private:
  struct Known {
    Digest digest;
    std::shared_ptr<Ready> ready;
  };

  std::shared_ptr<Ready> Find(const Digest& digest);
  // mutex_ is locked.
  // the last one that was to be kept, or else the longest unused one; false: there is none
  bool DropUnused();
  int Threads(bool unused) const;

  Processor& processor_;
  MemoryBudget& memory_;
  std::mutex making_;  // held while a session is made that other callers may need too; locked before mutex_
  std::mutex mutex_;
  std::list<Known> known_;  // the one used last first
  std::shared_ptr<const Ready> last_;
};

}  // namespace mete
