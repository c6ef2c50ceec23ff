// Sessions of shares, by the bytes of their graphs: a plan that is made again has most shares that were there before. Bounded by the memory
// that they take; those that no deployment uses go first, the longest unused one before others.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "mete/engine.h"
#include "partition/wire/wire.h"

namespace mete {

class SessionCache {
 public:
  SessionCache(SessionOptions options, int64_t most_bytes) : options_(std::move(options)), most_bytes_(most_bytes) {}

  // Makes it where it is not here: takes as long as preparing a model. RESOURCE_EXHAUSTED where those in use take all the memory.
  std::shared_ptr<Session> Of(const Graph& graph);

  // One that nobody keeps.
  Session Fresh(Graph graph) const;

 private:
  void MakeRoom();

  struct Known {
    Digest digest;
    std::shared_ptr<Session> session;
    int64_t bytes;
  };
  const SessionOptions options_;
  const int64_t most_bytes_;
  std::mutex mutex_;
  std::list<Known> known_;  // the one used last first
};

}  // namespace mete
