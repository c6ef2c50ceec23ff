#include "network/worker/ready_cache.h"

#include <algorithm>

#include "base/error.h"
#include "processor/memory/memory_plan.h"

namespace mete {
namespace {

// Threads of all kept sessions, without the threads that call them. This value is a guess: systemd gives a
// service on small boards 4915.
constexpr int kMostThreads = 4096;
// Threads of the unused sessions, which only sleep. This value is a guess: a plan of 85 shares on four cores.
constexpr int kMostUnusedThreads = 256;

// A session and its memory, which live equally long.
struct Made {
  std::shared_ptr<Ready> ready;
  MemoryBudget::Part memory;
};

// Returns an estimate of the memory that a share will take once it is ready: its activations, and its
// constants a second time, in kernel order. Passes may change both. Values whose shape depends on data are
// left out.
int64_t ReadyBytes(const Graph& graph) {
  int64_t bytes = PlanMemory(graph).arena_bytes;
  for (const Value& value : graph.values)
    if (value.is_constant()) bytes += int64_t(value.constant.bytes());
  return bytes;
}

double MiB(int64_t bytes) { return double(bytes) / (1 << 20); }
int ThreadsOf(const Ready& ready) { return ready.threads() - 1; }  // one is the caller's
bool Unused(const auto& ready) { return ready.use_count() == 1; }

}  // namespace

std::shared_ptr<Ready> ReadyCache::Fresh(Processor& processor, const Graph& graph) {
  const std::string what = "a share";
  MemoryBudget::Part memory = Take(ReadyBytes(graph), what);
  const auto made = std::make_shared<Made>(Made{processor.Prepare(graph), std::move(memory)});
  const int64_t bytes = made->ready->memory_bytes();  // now it is known
  if (bytes > made->memory.bytes()) made->memory.Join(Take(bytes - made->memory.bytes(), what));
  made->memory.Shrink(bytes);
  return {made, made->ready.get()};
}

std::shared_ptr<Ready> ReadyCache::Of(Processor& processor, const Graph& graph) {
  const Digest digest = DigestOfText(PackGraph(graph).bytes);
  std::lock_guard making(making_);
  if (std::shared_ptr<Ready> known = Find(processor, digest)) return known;
  std::shared_ptr<Ready> ready = Fresh(processor, graph);
  std::lock_guard lock(mutex_);
  known_.push_front({&processor, digest, ready});
  while (Threads() > kMostThreads)
    if (!DropUnused())
      Fail(Code::kResourceExhausted, "worker",
           "has no threads for more shares; got {}, expected {} at most; try fewer --threads of the worker",
           Threads(), kMostThreads);
  return ready;
}

std::shared_ptr<Ready> ReadyCache::Find(const Processor& processor, const Digest& digest) {
  std::lock_guard lock(mutex_);
  const auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& k) {
    return k.processor == &processor && k.digest == digest;
  });
  if (known == known_.end()) return nullptr;
  known_.splice(known_.begin(), known_, known);
  return known->ready;
}

MemoryBudget::Part ReadyCache::Take(int64_t bytes, const std::string& what) {
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

void ReadyCache::Trim() {
  std::lock_guard lock(mutex_);
  while (UnusedThreads() > kMostUnusedThreads && DropUnused()) {}
}

void ReadyCache::KeepLast(const Processor& processor, std::shared_ptr<const Ready> ready) {
  std::lock_guard lock(mutex_);
  last_[&processor] = std::move(ready);
}

bool ReadyCache::DropUnused() {
  for (auto& [processor, last] : last_)
    if (last && Unused(last)) {
      last.reset();
      return true;
    }
  const auto last =
      std::find_if(known_.rbegin(), known_.rend(), [](const Known& k) { return Unused(k.ready); });
  if (last == known_.rend()) return false;
  known_.erase(std::next(last).base());
  return true;
}

int ReadyCache::Threads() const {
  int threads = 0;
  for (const Known& k : known_) threads += ThreadsOf(*k.ready);
  return threads;
}

int ReadyCache::UnusedThreads() const {
  int threads = 0;
  for (const Known& k : known_)
    if (Unused(k.ready)) threads += ThreadsOf(*k.ready);
  return threads;
}

}  // namespace mete
