// A pool of threads, made once and pinned to cores if the caller asks. Worker 0 is the thread that calls
// Run(). Workers without work, and those that take no part in the current step, spin for a bounded time and
// then sleep.
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

  // `cores`: one CPU number per thread; empty: not pinned. The calling thread is pinned only by a CallerPin.
  // `policy`: one of PolicyNames(). `speeds`: the speed of each thread, above 0 and at most 1, which the pool
  // emulates by stretching the time of the thread's work; empty: the true speeds. `workers`: what the policy
  // shall assume of each thread until it has measured it; empty: all are alike, but for `speeds`.
  explicit ThreadPool(int threads, std::vector<int> cores = {}, std::string_view policy = "equal",
                      std::vector<double> speeds = {}, std::vector<WorkerSpeed> workers = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }
  // Returns the cores to which a thread could not be pinned, because the core went offline or the kernel
  // refused. Such a thread runs on any core.
  std::vector<int> refused_cores() const;

  // Sets the number of threads on which the step prepared next will run: grids are made for this number, and
  // trials run on it. Until the first call it is the number of all threads.
  void PrepareStep(int workers) { step_threads_ = std::clamp(workers, 1, threads_); }
  int step_threads() const { return step_threads_; }
  // Returns the speeds of these threads, by which blocks are dealt out before the policy has measured the
  // threads.
  std::span<const double> step_speeds() const { return std::span(dealt_by_).first(size_t(step_threads_)); }
  // Returns what the policy assumes of worker w.
  const WorkerSpeed& worker(int w) const { return expected_[size_t(w)]; }
  // Returns the first worker of each cluster among the threads of the step prepared next.
  std::vector<int> FirstOfClusters() const;
  // Returns all that times of that step depend on, without the numbers of its cores; for people and as a key:
  // "threads 2, emulated speeds 1 and 0.4, adaptive".
  std::string settings() const;

  // Returns a new number for a step, or for one way to compute a step that is measured.
  int64_t NewStep() { return ++steps_; }
  // Assigns the following regions to this step: what the policy has learned of the step's regions in an
  // earlier run is used in this run. 0: to no step; later regions then learn nothing from them. The first
  // `workers` threads compute the regions, and the others stay asleep; with 1 the caller computes alone. 0:
  // all threads.
  void BeginStep(int64_t number, int workers = 0) {
    first_region_ = number * kRegionsOfAStep;
    regions_ = 0;
    taking_part_ = workers > 0 ? std::min(workers, threads_) : threads_;
  }

  // Serial equivalent: for (b = 0; b < blocks; ++b) fn(context, w, b, b + 1); ranges are joined, and threads
  // work in parallel. Returns when all blocks are done. Not reentrant; one region at a time. `run`: as
  // Region::run.
  void Run(int64_t blocks, int64_t run, BlockFn fn, void* context);

  template <class F>
  void For(int64_t blocks, F&& f, int64_t run = 1) {  // f(int worker, int64_t begin, int64_t end)
    Run(
        blocks, run,
        [](void* c, int w, int64_t b, int64_t e) { (*static_cast<std::remove_reference_t<F>*>(c))(w, b, e); },
        &f);
  }

  // Working memory of a worker, aligned to 64 bytes. All steps use the same memory, so that it stays in the
  // worker's cache from one step to the next; its content does not survive a region. The memory of worker 0
  // is the calling thread's, and the same in all pools that the thread calls: of a model in several shares,
  // each with a pool, it stays in the cache from one share to the next. ReserveScratch makes the memory at
  // least `bytes` large; it may change the addresses, so it must not be called while a region runs.
  // scratch(0) is to be called by the thread that has called Run(), in a region or after ReserveScratch().
  void ReserveScratch(int64_t bytes);
  std::byte* scratch(int w) {
    return static_cast<std::byte*>((w == 0 ? CallerScratch() : scratch_[size_t(w)]).mutable_view().data);
  }

  // Working memory of all workers: what a worker writes there in a region, all workers may read in the next
  // region of the step.
  void ReserveShared(int64_t bytes) { Reserve(shared_, bytes); }
  std::byte* shared() { return static_cast<std::byte*>(shared_.mutable_view().data); }

  // Returns the number of workers that sleep now.
  int sleeping() const { return sleeping_.load(); }

  // Returns the Policy::Times of the regions since the last call.
  Policy::Times TakeTimes();
  // Returns the time that the calling thread has waited for other workers, summed over the regions since the
  // last call.
  int64_t TakeWaitNs();

  // The time during which a worker computed blocks of a region: from the start of its first block to the end
  // of its last. Recording costs two clock reads per range of blocks and is off by default.
  struct Span {
    int worker = 0;
    int64_t start_ns = 0, end_ns = 0;  // by the clock of NowNs()
  };
  void RecordSpans(bool on);
  // Returns the spans of the region since the last call; spans of several regions in a row are joined.
  // Workers that computed nothing have no span.
  std::vector<Span> TakeSpans();

  // While the object lives, the calling thread is pinned to the core of worker w, usually the first worker;
  // the destructor restores the old mask.
  class CallerPin {
   public:
    explicit CallerPin(const ThreadPool& pool, int w = 0);
    ~CallerPin();
    bool pinned() const { return pinned_; }

   private:
    cpu_set_t saved_;
    bool pinned_ = false;
  };

  // While the object lives, the calling thread takes the place of worker w, on its core, and computes alone.
  // Of each region of a step it computes the share of one of step_threads() threads, the first blocks; of
  // regions outside of steps, such as packing, all blocks. For measuring what is fastest on that worker.
  class StandIn {
   public:
    StandIn(ThreadPool& pool, int w) : pool_(pool), pin_(pool, w) { pool_.stand_in_ = w; }
    ~StandIn() { pool_.stand_in_ = kNobody; }
    StandIn(const StandIn&) = delete;
    StandIn& operator=(const StandIn&) = delete;
    // false: the kernel has refused the core
    bool there() const { return pool_.cores_.empty() || pin_.pinned(); }
    // Returns all that times depend on, as Pool::settings(): "alone at speed 0.4".
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
  bool Work(int w, uint64_t region);  // returns whether the worker has computed any block
  static void Reserve(Tensor& memory, int64_t bytes);
  static Tensor& CallerScratch();  // of the calling thread
  bool NextBlock(int w, uint64_t region, BlockRange* range);
  uint64_t NextRegion(int workers) const;
  void Announce(uint64_t region);
  uint64_t Await(int w, uint64_t seen, int64_t computed_ns);

  // Winograd in stages has 3 regions today; regions beyond the limit share a number
  static constexpr int64_t kRegionsOfAStep = 4;

  const int threads_;
  const std::vector<int> cores_;
  const std::vector<double> speeds_;
  std::vector<WorkerSpeed> expected_;  // what the policy shall assume of each thread
  std::vector<double> dealt_by_;       // the threads' speeds, or 1 where the policy ignores speeds
  const std::string policy_name_;
  std::unique_ptr<Policy> policy_;
  // The lock is held for 0.2 us with two workers, 0.5 us with sixteen (measured, adaptive).
  alignas(64) std::atomic_flag asking_ = ATOMIC_FLAG_INIT;
  int64_t steps_ = 0;
  int64_t first_region_ = 0, regions_ = 0;  // of the current step; 0 outside of steps
  // The region that the policy deals out now. On the cache line of the lock, and not on the one that idle
  // workers read.
  uint64_t open_ = 0;
  BlockFn fn_ = nullptr;
  void* context_ = nullptr;
  // of each thread: the region has, or may have, blocks for it, so that it must be woken
  std::vector<bool> called_;
  int taking_part_;  // threads in the regions of this step, the caller included
  int step_threads_;
  static constexpr int kNobody = -1;
  int stand_in_ = kNobody;
  // The number of the region and the number of workers in it, in one atomic, so that a worker that reads
  // late, or takes no part, cannot combine the values of two regions: count x kRegion + workers. kRegion is
  // more threads than a plan may have; 2^48 regions of a microsecond last nine years.
  static constexpr uint64_t kRegion = uint64_t{1} << 16;
  alignas(64) std::atomic<uint64_t> region_{0};
  // A region is over when its blocks are done, not when all workers have asked for blocks: the caller does
  // not wait for a worker that has no block and does not run just now because another process has its core.
  alignas(64) std::atomic<int64_t> unfinished_{0};
  std::atomic<bool> stop_{false};
  std::atomic<int> sleeping_{0};
  std::mutex mutex_;
  // one per thread, so that threads that take no part are not woken
  std::unique_ptr<std::condition_variable[]> wake_;
  std::vector<std::thread> workers_;
  std::vector<int> refused_;  // by the workers' own threads
  mutable std::atomic<bool> caller_refused_{false};
  std::vector<Tensor> scratch_;  // one per thread; that of worker 0 stays empty
  int64_t scratch_bytes_ = 0;    // that ReserveScratch() has promised
  Tensor shared_;
  int64_t wait_ns_ = 0;
  bool record_spans_ = false;
  // one per worker; only the worker writes its own while a region runs; end_ns 0: no span
  std::vector<Span> spans_;
};

}  // namespace mete
