// One pool of threads, pinned where asked, made once. Worker 0 is the thread that calls Run(). Workers that
// have nothing to do, or no part in what others do, spin for a bounded time and then sleep.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "mete/tensor.h"
#include "schedule/policy.h"

namespace mete {

class ThreadPool {
 public:
  // Blocks [begin, end) of a region, computed by worker w. Must not throw.
  using BlockFn = void (*)(void* context, int w, int64_t begin, int64_t end);

  // `cores` empty: not pinned; else one CPU number a thread. The calling thread is pinned only inside Run().
  // `policy`: of PolicyNames(). `speeds` empty: as they are; else of each thread, above 0 and at most 1:
  // emulated, by stretching the time of what it computes. `workers`: what the policy shall expect of each
  // thread until it has seen it; empty: alike, but for `speeds`.
  explicit ThreadPool(int threads, std::vector<int> cores = {}, std::string_view policy = "equal",
                      std::vector<double> speeds = {}, std::vector<WorkerSpeed> workers = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }
  // Cores that a thread could not be pinned to, as they went away or the kernel refused; it runs on any then.
  std::vector<int> refused_cores() const;

  // The step that is prepared next will run on the first so many threads: what grids are made for, and what
  // is measured runs on. All until this is called.
  void PrepareStep(int workers) { step_threads_ = std::clamp(workers, 1, threads_); }
  int step_threads() const { return step_threads_; }
  // Of its threads: what they are dealt out by before the policy has seen them.
  std::span<const double> step_speeds() const { return std::span(dealt_by_).first(size_t(step_threads_)); }
  // As the policy expects it.
  const WorkerSpeed& worker(int w) const { return expected_[size_t(w)]; }
  // Of the step that is prepared next: a worker of each cluster, the first one.
  std::vector<int> FirstOfClusters() const;
  // What times of that step depend on, but for which cores these are; for people and as a key: "threads 2,
  // emulated speeds 1 and 0.4, adaptive".
  std::string settings() const;

  // A number for a step, or for one way to compute it that is measured.
  int64_t NewStep() { return ++steps_; }
  // The regions that follow are those of this step: what the policy saw of them in an earlier run serves this
  // one. 0: of none; nothing serves later ones. The first `workers` threads compute them, and the others are
  // left asleep; with 1 the caller alone. 0: all threads.
  void BeginStep(int64_t number, int workers = 0) {
    first_region_ = number * kRegionsOfAStep, regions_ = 0;
    taking_part_ = workers > 0 ? std::min(workers, threads_) : threads_;
  }

  // for (b = 0; b < blocks; ++b) fn(context, w, b, b + 1), ranges joined, in parallel; returns when all are
  // done. Not reentrant; one region at a time. `run`: of Region.
  void Run(int64_t blocks, int64_t run, BlockFn fn, void* context);

  template <class F>
  void For(int64_t blocks, F&& f, int64_t run = 1) {  // f(int worker, int64_t begin, int64_t end)
    Run(
        blocks, run,
        [](void* c, int w, int64_t b, int64_t e) { (*static_cast<std::remove_reference_t<F>*>(c))(w, b, e); },
        &f);
  }

  // Working memory of a worker, aligned to 64 bytes: the same for all steps, so that it stays in the worker's
  // cache from one to the next; nothing in it survives a region. ReserveScratch makes it at least so large;
  // not while a region runs, and addresses change.
  void ReserveScratch(int64_t bytes);
  std::byte* scratch(int w) { return static_cast<std::byte*>(scratch_[size_t(w)].mutable_view().data); }

  // Working memory of all workers: what they leave there in a region, they may read in the next one of the
  // step.
  void ReserveShared(int64_t bytes) { Reserve(shared_, bytes); }
  std::byte* shared() { return static_cast<std::byte*>(shared_.mutable_view().data); }

  // Of the regions since the last call: Policy::Times.
  Policy::Times TakeTimes();
  // Time that the calling thread waited for the other workers, summed over regions since the last call.
  int64_t TakeWaitNs();

  // What each worker computed in the regions of the steps that follow: from the first of its blocks to the
  // last. Costs two clock reads a range of blocks; off until it is asked for.
  struct Span {
    int worker = 0;
    int64_t start_ns = 0, end_ns = 0;  // of the clock of NowNs()
  };
  void RecordSpans(bool on);
  // Of the region since the last call, or of several in a row joined; nothing for those who computed none.
  std::vector<Span> TakeSpans();

  // Pins the calling thread to the core of worker w, the first one as a rule, for the object's life and
  // restores its old mask after.
  class CallerPin {
   public:
    explicit CallerPin(const ThreadPool& pool, int w = 0);
    ~CallerPin();
    bool pinned() const { return pinned_; }

   private:
    cpu_set_t saved_;
    bool pinned_ = false;
  };

  // For the object's life the calling thread stands in for worker w, on its core, and nobody else computes:
  // of each region of a step it does the share of one thread of step_threads(), the first blocks; of those
  // outside of steps, such as packing, all. For measuring what suits that worker.
  class StandIn {
   public:
    StandIn(ThreadPool& pool, int w) : pool_(pool), pin_(pool, w) { pool_.stand_in_ = w; }
    ~StandIn() { pool_.stand_in_ = kNobody; }
    StandIn(const StandIn&) = delete;
    StandIn& operator=(const StandIn&) = delete;
    bool there() const { return pool_.cores_.empty() || pin_.pinned(); }  // else the kernel refused the core
    // What times depend on, as settings(): "alone at speed 0.4".
    std::string settings() const;

   private:
    ThreadPool& pool_;
    const CallerPin pin_;
  };

 private:
  void WorkerMain(int w);
  void RunAlone(int64_t blocks, BlockFn fn, void* context);
  void Record(int w, int64_t start_ns);
  void Stop();
  class Asking;                       // holds the policy's lock
  bool Work(int w, uint64_t region);  // whether there was something for the worker
  static void Reserve(Tensor& memory, int64_t bytes);
  bool NextBlock(int w, uint64_t region, BlockRange* range);
  uint64_t NextRegion(int workers) const;
  void Announce(uint64_t region);
  uint64_t Await(int w, uint64_t seen, int64_t computed_ns);

  static constexpr int64_t kRegionsOfAStep = 4;  // 3 today, of Winograd in stages; any beyond share a number

  const int threads_;
  const std::vector<int> cores_;
  const std::vector<double> speeds_;
  std::vector<WorkerSpeed> expected_;  // of each thread
  std::vector<double> dealt_by_;       // their speeds, or 1 where the policy takes no notice of them
  const std::string policy_name_;
  std::unique_ptr<Policy> policy_;
  // held for 0.2 us with two workers, 0.5 with sixteen (measured, adaptive)
  alignas(64) std::atomic_flag asking_ = ATOMIC_FLAG_INIT;
  int64_t steps_ = 0;
  int64_t first_region_ = 0, regions_ = 0;  // of the step; 0 outside of steps
  // the region that the policy deals out; beside its lock, and not beside what idle workers look at
  uint64_t open_ = 0;
  BlockFn fn_ = nullptr;
  void* context_ = nullptr;
  // of each thread: the region has, or may have, something for it, so that it is woken
  std::vector<bool> called_;
  int taking_part_;  // threads in the regions of this step, the caller included
  int step_threads_;
  static constexpr int kNobody = -1;
  int stand_in_ = kNobody;
  // Which region it is and how many take part in it, in one number, so that a worker that looks late, or that
  // is not in it, cannot take the one of one region and the other of the next: count x kRegion + workers.
  // more threads than a plan may have; 2^48 regions of a us last nine years
  static constexpr uint64_t kRegion = uint64_t{1} << 16;
  alignas(64) std::atomic<uint64_t> region_{0};
  // A region is over when its blocks are, not when all have asked for some: a worker that has none and is not
  // running just now, as another process has its core, is not waited for.
  alignas(64) std::atomic<int64_t> unfinished_{0};
  std::atomic<bool> stop_{false};
  std::atomic<int> sleeping_{0};
  std::mutex mutex_;
  // of each thread: those who do not take part shall not be woken
  std::unique_ptr<std::condition_variable[]> wake_;
  std::vector<std::thread> workers_;
  std::vector<int> refused_;  // by our own threads
  mutable std::atomic<bool> caller_refused_{false};
  std::vector<Tensor> scratch_;  // a thread's each
  Tensor shared_;
  int64_t wait_ns_ = 0;
  bool record_spans_ = false;
  std::vector<Span> spans_;  // of each worker, which alone writes its own while a region runs; end_ns 0: none
};

}  // namespace mete
