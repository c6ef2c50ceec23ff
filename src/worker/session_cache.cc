#include "worker/session_cache.h"

#include <algorithm>

#include "base/error.h"
#include "engine/model.h"

namespace mete {
namespace {

int64_t BytesOf(const Session& session) { return session.stats().arena_bytes + session.stats().packed_bytes; }

}  // namespace

Session SessionCache::Fresh(Graph graph) const { return Session(ModelOf(std::move(graph)), options_); }

std::shared_ptr<Session> SessionCache::Of(const Graph& graph) {
  std::lock_guard lock(mutex_);
  const Digest digest = DigestOfText(PackGraph(graph).bytes);
  const auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& k) { return k.digest == digest; });
  if (known != known_.end()) {
    known_.splice(known_.begin(), known_, known);
    return known_.front().session;
  }
  auto session = std::make_shared<Session>(Fresh(graph));
  known_.push_front({digest, session, BytesOf(*session)});
  MakeRoom();
  return session;
}

void SessionCache::MakeRoom() {
  int64_t all = 0;
  for (const Known& k : known_) all += k.bytes;
  for (auto at = known_.end(); at != known_.begin() && all > most_bytes_;) {
    --at;
    if (at->session.use_count() > 1) continue;
    all -= at->bytes;
    at = known_.erase(at);
  }
  if (all > most_bytes_)
    Fail(Code::kResourceExhausted, "worker", "has no memory for more shares; got {} MiB, expected {} at most; try --memory-gib of "
         "the worker", all >> 20, most_bytes_ >> 20);
}

}  // namespace mete
