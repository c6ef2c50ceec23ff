// A cache of the sessions of shares, by the bytes of their graphs: a plan that changes a little has most
// shares of the plan before. The memory and the threads of the sessions are bounded. Sessions that no
// deployment uses are deleted first, the least recently used one before others.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "network/wire/wire.h"
#include "network/worker/memory_budget.h"
#include "processor/processor.h"

namespace mete {

class ReadyCache {
 public:
  explicit ReadyCache(MemoryBudget& memory) : memory_(memory) {}  // keeps a reference

  // Returns the share `graph` of the processor and makes it ready where the cache has none, which takes as
  // long as preparing a model; one share is made ready at a time. RESOURCE_EXHAUSTED where the shares in use
  // and the other users of the budget leave too little memory.
  std::shared_ptr<Ready> Of(Processor& processor, const Graph& graph);

  // Makes a share ready that the cache does not keep.
  std::shared_ptr<Ready> Fresh(Processor& processor, const Graph& graph);

  // Keeps this share, one for each processor, until the next call for the processor or until memory is
  // needed. It is deleted before all others.
  void KeepLast(const Processor& processor, std::shared_ptr<const Ready> ready);

  // Takes memory for another purpose and deletes unused sessions for it as needed. `what`: as in "no memory
  // for <what>". Error RESOURCE_EXHAUSTED.
  MemoryBudget::Part Take(int64_t bytes, const std::string& what);

  // Deletes unused sessions until the remaining unused ones have few threads.
  void Trim();

 private:
  struct Known {
    const Processor* processor;
    Digest digest;
    std::shared_ptr<Ready> ready;
  };

  std::shared_ptr<Ready> Find(const Processor& processor, const Digest& digest);
  // Deletes a share of KeepLast(), or else the least recently used of the unused shares; false: there is
  // none. mutex_ is locked.
  bool DropUnused();
  int Threads() const;
  int UnusedThreads() const;

  MemoryBudget& memory_;
  std::mutex making_;  // held while a session is made that other callers may need too; locked before mutex_
  std::mutex mutex_;
  std::list<Known> known_;  // the one used last first
  std::map<const Processor*, std::shared_ptr<const Ready>> last_;
};

}  // namespace mete
