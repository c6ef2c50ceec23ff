#include "network/worker/session_cache.h"

#include <algorithm>

#include "base/error.h"
#include "engine/model.h"
#include "run/memory_plan.h"

namespace mete {
namespace {

// Threads of all kept sessions, without the threads that call them. This value is a guess: systemd gives a
// service on small boards 4915.
constexpr int kMostThreads = 4096;
// Threads of the unused sessions, which only sleep. This value is a guess: a plan of 85 shares on four cores.
constexpr int kMostUnusedThreads = 256;

// A session and its memory, which live equally long.
struct Made {
  Session session;
  MemoryBudget::Part memory;
};

// Returns an estimate of the bytes that a session will take: its constants once more, in kernel order, and
// its activations. Passes may change both; values whose shape depends on data are left out.
int64_t SessionBytes(const Graph& graph) {
  int64_t bytes = PlanMemory(graph).arena_bytes;
  for (const Value& value : graph.values)
    if (value.is_constant()) bytes += int64_t(value.constant.bytes());
  return bytes;
}

double MiB(int64_t bytes) { return double(bytes) / (1 << 20); }
int ThreadsOf(const Session& session) { return session.stats().threads - 1; }  // one more is the caller's
bool Unused(const auto& session) { return session.use_count() == 1; }

}  // namespace

std::shared_ptr<Session> SessionCache::Fresh(Graph graph) {
  const std::string what = "a share";
  MemoryBudget::Part memory = Take(SessionBytes(graph), what);
  const auto made =
      std::make_shared<Made>(Made{Session(ModelOf(std::move(graph)), options_), std::move(memory)});
  // the true size is known now
  const int64_t bytes = made->session.stats().arena_bytes + made->session.stats().packed_bytes;
  if (bytes > made->memory.bytes()) made->memory.Join(Take(bytes - made->memory.bytes(), what));
  made->memory.Shrink(bytes);
  return {made, &made->session};
}

std::shared_ptr<Session> SessionCache::Of(const Graph& graph) {
  const Digest digest = DigestOfText(PackGraph(graph).bytes);
  std::lock_guard making(making_);
  if (std::shared_ptr<Session> known = Find(digest)) return known;
  std::shared_ptr<Session> session = Fresh(graph);
  std::lock_guard lock(mutex_);
  known_.push_front({digest, session});
  while (Threads(false) > kMostThreads)
    if (!DropUnused())
      Fail(Code::kResourceExhausted, "worker",
           "has no threads for more shares; got {}, expected {} at most; try fewer --threads of the worker",
           Threads(false), kMostThreads);
  return session;
}

std::shared_ptr<Session> SessionCache::Find(const Digest& digest) {
  std::lock_guard lock(mutex_);
  const auto known =
      std::find_if(known_.begin(), known_.end(), [&](const Known& k) { return k.digest == digest; });
  if (known == known_.end()) return nullptr;
  known_.splice(known_.begin(), known_, known);
  return known->session;
}

MemoryBudget::Part SessionCache::Take(int64_t bytes, const std::string& what) {
  std::lock_guard lock(mutex_);
  for (;;) {
    if (auto part = memory_.TryTake(bytes)) return std::move(*part);
    if (!DropUnused())
      Fail(Code::kResourceExhausted, "worker",
           "has no memory for {}; got {:.1f} MiB beside {:.1f} MiB in use, expected {:.1f} MiB together at "
           "most; try a larger --memory-gib of "
           "the worker",
           what, MiB(bytes), MiB(memory_.taken()), MiB(memory_.most()));
  }
}

void SessionCache::Trim() {
  std::lock_guard lock(mutex_);
  while (Threads(true) > kMostUnusedThreads && DropUnused()) {}
}

void SessionCache::KeepLast(std::shared_ptr<const Session> session) {
  std::lock_guard lock(mutex_);
  last_ = std::move(session);
}

bool SessionCache::DropUnused() {
  if (Unused(last_)) {
    last_.reset();
    return true;
  }
  const auto last =
      std::find_if(known_.rbegin(), known_.rend(), [](const Known& k) { return Unused(k.session); });
  if (last == known_.rend()) return false;
  known_.erase(std::next(last).base());
  return true;
}

int SessionCache::Threads(bool unused) const {
  int threads = 0;
  for (const Known& k : known_)
    if (!unused || Unused(k.session)) threads += ThreadsOf(*k.session);
  return threads;
}

}  // namespace mete
