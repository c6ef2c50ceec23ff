// A cache of the sessions of shares, by the bytes of their graphs: a plan that changes a little has most
// shares of the plan before. The memory and the threads of the sessions are bounded. Sessions that no
// deployment uses are deleted first, the least recently used one before others.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "mete/engine.h"
#include "network/wire/wire.h"
#include "network/worker/memory_budget.h"

namespace mete {

class SessionCache {
 public:
  // Keeps a reference to the budget.
  SessionCache(SessionOptions options, MemoryBudget& memory)
      : options_(std::move(options)), memory_(memory) {}

  // Returns the session of `graph` and makes it where the cache has none, which takes as long as preparing a
  // model; one session is made at a time. RESOURCE_EXHAUSTED where the sessions in use and the other users of
  // the budget leave too little memory.
  std::shared_ptr<Session> Of(const Graph& graph);

  // Makes a session that the cache does not keep.
  std::shared_ptr<Session> Fresh(Graph graph);

  // Keeps this session until the next call of KeepLast() or until memory is needed; it is deleted before all
  // others.
  void KeepLast(std::shared_ptr<const Session> session);

  // Takes memory for another purpose and deletes unused sessions for it as needed. `what`: as in "no memory
  // for <what>". Error RESOURCE_EXHAUSTED.
  MemoryBudget::Part Take(int64_t bytes, const std::string& what);

  // Deletes unused sessions until the remaining unused ones have few threads.
  void Trim();

 private:
  struct Known {
    Digest digest;
    std::shared_ptr<Session> session;
  };

  std::shared_ptr<Session> Find(const Digest& digest);
  // Deletes the session of KeepLast(), or else the least recently used of the unused sessions; false: there
  // is none. mutex_ is locked.
  bool DropUnused();
  int Threads(bool unused) const;

  const SessionOptions options_;
  MemoryBudget& memory_;
  std::mutex making_;  // held while a session is made that other callers may need too; locked before mutex_
  std::mutex mutex_;
  std::list<Known> known_;  // the most recently used one first
  std::shared_ptr<const Session> last_;
};

}  // namespace mete
