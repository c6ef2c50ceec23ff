#include "profile/energy/thread_load.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <csignal>
#include <new>
#include <system_error>

#include "base/error.h"
#include "kernels/fast/reuse/reuse.h"

namespace mete {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kInCache = 16 << 10;  // half of the smallest usual L1 (32 KiB)
constexpr int64_t kUntold = 64 * kMiB;  // the same size as in MeasureReadBandwidth
// This value is a guess: a pass takes 1 ms at 1 GFLOP/s, so that the count of passes is never much older.
constexpr double kFlopsPerPass = 1e6;
// This value is a guess, for passes that wait for memory: half a millisecond at 0.5 GB/s.
constexpr int64_t kBytesPerPass = 1 << 18;
constexpr float kFill = 0.5f;

bool PinThis(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (core < CPU_SETSIZE) CPU_SET(core, &set);
  return pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0;
}

// Starts a thread that receives no signals: they are for the thread that restores the frequencies.
std::thread QuietThread(auto&& body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread(body);
  } catch (const std::system_error& e) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    Fail(Code::kResourceExhausted, "energy", "cannot start a thread; {}", e.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

// Returns a buffer of `count` numbers; nullptr if there is not enough memory. Filling it makes every page
// present.
std::unique_ptr<float[]> Filled(size_t count) {
  std::unique_ptr<float[]> data(new (std::nothrow) float[count]);
  if (data) std::fill_n(data.get(), count, kFill);
  return data;
}

size_t Steps(int64_t numbers) { return std::max<size_t>(size_t(numbers) / kReuseStep, 1) * kReuseStep; }

double FlopsPerNumber(const ReuseLoad& load) { return ReuseRate(load.multiply_adds) * sizeof(float); }
size_t NumbersPerPass(const ReuseLoad& load) {
  return Steps(
      std::min(int64_t(kFlopsPerPass / FlopsPerNumber(load)), kBytesPerPass / int64_t{sizeof(float)}));
}

}  // namespace

int64_t BytesPerThread(const Machine& machine, int cores) {
  int64_t largest = 0;
  for (const Cluster& c : machine.clusters)
    for (const Cache& cache : c.caches) largest = std::max(largest, cache.bytes);
  if (largest == 0) return kUntold;
  return std::clamp(std::min(largest, 512 * kMiB) * 4 / std::max(cores, 1), 16 * kMiB, 512 * kMiB);
}

void ThreadLoad::Start(const std::vector<int>& cores, const ReuseLoad& load) {
  Stop();
  const int64_t bytes = load.in_cache ? kInCache : BytesPerThread(machine_, int(cores.size()));
  for (int core : cores) {
    workers_.push_back(std::make_unique<Worker>());
    Worker& worker = *workers_.back();
    worker.flops_per_pass = double(NumbersPerPass(load)) * FlopsPerNumber(load);
    worker.thread = QuietThread([this, &worker, core, load, bytes] { Work(worker, core, load, bytes); });
  }
  for (const auto& worker : workers_)
    while (worker->passes == 0 && !worker->refused) std::this_thread::yield();
  for (size_t i = 0; i < cores.size(); ++i)
    if (workers_[i]->refused)
      Fail(Code::kUnavailable, "energy",
           "no thread can compute on core {}: it cannot be pinned there, or has no memory", cores[i]);
}

// Each pass reads a piece of the buffer, or the whole buffer several times if it is smaller than a piece.
void ThreadLoad::Work(Worker& worker, int core, const ReuseLoad& load, int64_t bytes) {
  const size_t piece = NumbersPerPass(load), count = Steps(bytes / int64_t{sizeof(float)});
  const auto data = PinThis(core) ? Filled(count) : nullptr;
  if (!data) {
    worker.refused = true;
    return;
  }
  volatile float keep = 0;
  size_t at = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    for (size_t done = 0; done < piece;) {
      const size_t next = std::min(piece - done, count - at);
      keep = keep + ReadAndCompute(data.get() + at, next, load.multiply_adds);
      done += next;
      at = at + next == count ? 0 : at + next;
    }
    worker.passes.fetch_add(1, std::memory_order_release);
  }
}

double ThreadLoad::Flops() {
  double flops = 0;
  for (const auto& w : workers_)
    flops += double(w->passes.load(std::memory_order_relaxed)) * w->flops_per_pass;
  return flops;
}

void ThreadLoad::Stop() {
  stop_ = true;
  for (const auto& w : workers_)
    if (w->thread.joinable()) w->thread.join();
  workers_.clear();
  stop_ = false;
}

}  // namespace mete
