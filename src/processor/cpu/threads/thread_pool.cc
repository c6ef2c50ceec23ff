#include "processor/cpu/threads/thread_pool.h"

#include <fmt/ranges.h>
#include <pthread.h>

#include <algorithm>
#include <system_error>

#include "base/clock.h"
#include "base/error.h"
#include "base/unpinned.h"
#include "processor/cpu/threads/stretch.h"

namespace mete {
namespace {

inline void Relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A worker spins at least this often before it sleeps. A thread that another process kept from its core has
// not spun for all of the elapsed time, and waking it would cost the caller some microseconds per region.
// This value is a guess: 50 us where a pause takes 140 cycles.
constexpr int kLeastSpins = 1024;

bool Pin(pthread_t thread, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (core < CPU_SETSIZE) CPU_SET(core, &set);
  return pthread_setaffinity_np(thread, sizeof(set), &set) == 0;
}

}  // namespace

ThreadPool::ThreadPool(int threads, std::vector<int> cores, std::string_view policy,
                       std::vector<double> speeds, std::vector<WorkerSpeed> workers)
    : threads_(threads),
      cores_(std::move(cores)),
      speeds_(std::move(speeds)),
      policy_name_(policy),
      called_(size_t(threads), true),
      taking_part_(threads),
      step_threads_(threads),
      wake_(std::make_unique<std::condition_variable[]>(size_t(threads))) {
  if (!speeds_.empty() && int(speeds_.size()) != threads)
    Invalid("speeds", "got {}, expected one for each of {} threads", speeds_.size(), threads);
  if (workers.empty())
    workers = WorkersOf(speeds_.empty() ? std::vector<double>(size_t(threads), 1) : speeds_);
  expected_ = std::move(workers);
  for (const WorkerSpeed& worker : expected_) dealt_by_.push_back(policy == "equal" ? 1 : worker.speed);
  policy_ = MakePolicy(policy, expected_);
  try {
    for (int w = 1; w < threads_; ++w) {
      workers_.emplace_back(Unpinned([this, w] { WorkerMain(w); }));
      if (!cores_.empty() && !Pin(workers_.back().native_handle(), cores_[size_t(w)]))
        refused_.push_back(cores_[size_t(w)]);
    }
  } catch (const std::system_error& e) {
    const size_t started = workers_.size() + 1;
    Stop();
    Fail(Code::kResourceExhausted, "threads", "cannot start thread {} of {}: {}; try fewer", started,
         threads_, e.what());
  }
}

ThreadPool::~ThreadPool() { Stop(); }

std::vector<int> ThreadPool::refused_cores() const {
  std::vector<int> cores = refused_;
  if (caller_refused_) cores.insert(cores.begin(), cores_[0]);
  return cores;
}

std::string ThreadPool::settings() const {
  if (step_threads_ == 1 && speeds_.empty()) return "threads 1";
  std::vector<double> of_step;
  for (int w = 0; w < step_threads_; ++w) of_step.push_back(worker(w).speed);
  const bool alike =
      std::all_of(of_step.begin(), of_step.end(), [&](double speed) { return speed == of_step[0]; });
  const std::string speeds =
      speeds_.empty() && alike ? "" : fmt::format("speeds {}, ", fmt::join(of_step, " and "));
  return fmt::format("threads {}, {}{}{}", step_threads_, speeds_.empty() ? "" : "emulated ", speeds,
                     policy_name_);
}

std::vector<int> ThreadPool::FirstOfClusters() const {
  std::vector<int> firsts;
  for (int w = 0; w < step_threads_; ++w) {
    const auto same = [&](int first) { return worker(first).cluster == worker(w).cluster; };
    if (std::none_of(firsts.begin(), firsts.end(), same)) firsts.push_back(w);
  }
  return firsts;
}

void ThreadPool::ReserveScratch(int64_t bytes) {
  scratch_bytes_ = std::max(scratch_bytes_, bytes);
  scratch_.resize(size_t(threads_));
  for (size_t w = 1; w < scratch_.size(); ++w) Reserve(scratch_[w], bytes);
  Reserve(CallerScratch(), scratch_bytes_);
}

Tensor& ThreadPool::CallerScratch() {
  thread_local Tensor scratch;
  return scratch;
}

void ThreadPool::Reserve(Tensor& memory, int64_t bytes) {
  if (!memory.has_value() || int64_t(memory.bytes()) < bytes) memory = Tensor(DType::kU8, Shape{bytes});
}

void ThreadPool::Stop() {
  stop_.store(true);
  called_.assign(size_t(threads_), true);
  Announce(NextRegion(threads_));
  for (std::thread& t : workers_) t.join();
}

class ThreadPool::Asking {
 public:
  explicit Asking(std::atomic_flag& flag) : flag_(flag) {
    for (int spins = 0;
         flag_.test(std::memory_order_relaxed) || flag_.test_and_set(std::memory_order_acquire); ++spins) {
      Relax();
      // where there are fewer cores than threads, the holder of the lock may not be running
      if (spins % 4096 == 4095) sched_yield();
    }
  }
  ~Asking() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& flag_;
};

bool ThreadPool::NextBlock(int w, uint64_t region, BlockRange* range) {
  const Asking asking(asking_);
  // a worker that comes late asks for a region that is already done
  return region == open_ && policy_->NextBlock(w, NowNs(), range);
}

bool ThreadPool::Work(int w, uint64_t region) {
  const double speed = speeds_.empty() ? 1 : speeds_[size_t(w)];
  BlockRange range;
  for (bool computed = false;; computed = true) {
    const int64_t done = range.size();
    // the policy must know of the finished blocks before the next region can begin
    const bool any = NextBlock(w, region, &range);
    if (done > 0) unfinished_.fetch_sub(done, std::memory_order_acq_rel);
    if (!any) return computed;
    const int64_t start = speed < 1 || record_spans_ ? NowNs() : 0;
    fn_(context_, w, range.begin, range.end);
    if (speed < 1) Stretch(start, speed, NowNs);
    if (record_spans_) Record(w, start);
  }
}

void ThreadPool::RecordSpans(bool on) {
  record_spans_ = on;
  spans_.assign(size_t(threads_), {});
}

void ThreadPool::Record(int w, int64_t start_ns) {
  Span& span = spans_[size_t(w)];
  if (span.end_ns == 0) span.start_ns = start_ns;
  span.end_ns = NowNs();
}

std::vector<ThreadPool::Span> ThreadPool::TakeSpans() {
  std::vector<Span> taken;
  for (int w = 0; w < int(spans_.size()); ++w) {
    Span& span = spans_[size_t(w)];
    if (span.end_ns > 0) taken.push_back({w, span.start_ns, span.end_ns});
    span = {};
  }
  return taken;
}

void ThreadPool::RunAlone(int64_t blocks, BlockFn fn, void* context) {
  const bool all = stand_in_ == kNobody || first_region_ == 0;
  const int w = stand_in_ == kNobody ? 0 : stand_in_;
  const int64_t start = NowNs();
  if (blocks > 0) fn(context, w, 0, all ? blocks : (blocks + step_threads_ - 1) / step_threads_);
  if (!speeds_.empty() && speeds_[size_t(w)] < 1) Stretch(start, speeds_[size_t(w)], NowNs);
}

void ThreadPool::Run(int64_t blocks, int64_t run, BlockFn fn, void* context) {
  if (scratch_bytes_ > 0) Reserve(CallerScratch(), scratch_bytes_);  // the thread may be another one
  const int64_t region = first_region_ == 0 ? 0 : first_region_ + std::min(regions_++, kRegionsOfAStep - 1);
  if (taking_part_ == 1 || blocks <= 1 || stand_in_ != kNobody) return RunAlone(blocks, fn, context);
  const uint64_t next = NextRegion(taking_part_);
  {
    const Asking asking(asking_);  // late workers of the region before may be asking
    policy_->Begin({region, blocks, run, taking_part_}, NowNs());
    fn_ = fn;
    context_ = context;
    open_ = next;
    unfinished_.store(blocks, std::memory_order_relaxed);
    for (int w = 1; w < taking_part_; ++w) called_[size_t(w)] = policy_->Takes(w);
  }
  Announce(next);
  Work(0, next);
  if (unfinished_.load(std::memory_order_acquire) == 0) return;
  const int64_t start = NowNs();
  for (int spins = 0; unfinished_.load(std::memory_order_acquire) != 0; ++spins) {
    Relax();
    if (spins % 4096 == 4095) sched_yield();  // needed where there are fewer cores than threads
  }
  wait_ns_ += NowNs() - start;
}

uint64_t ThreadPool::NextRegion(int workers) const {
  // only the caller writes region_
  return (region_.load(std::memory_order_relaxed) / kRegion + 1) * kRegion + uint64_t(workers);
}

void ThreadPool::Announce(uint64_t region) {
  // seq_cst, paired with the worker's accesses to sleeping_ and region_: either the worker sees the new
  // region, or this function sees that the worker sleeps. An exchange instead of a store, which is the same
  // instruction on x86: QEMU 7.2 lets a load-acquire pass a store-release to another address, which Arm
  // forbids, and then one run in some hundreds never ends in QEMU.
  region_.exchange(region, std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst) == 0) return;
  std::lock_guard lock(mutex_);
  for (uint64_t w = 1; w < region % kRegion; ++w)
    if (called_[w]) wake_[w].notify_one();
}

// Returns the next region after `seen` in which worker w takes part. Other regions do not count: they may
// begin and end unseen, and they do not keep the worker awake. While others still compute the region in which
// the worker has taken part, the time until it sleeps does not run, except for kUselessNs: the next region
// follows at once, and waking the worker for it costs the caller some 20 us (measured: GoogLeNet beside an
// emulated core of 0.4 on a virtual machine, 3 times a run before, at most once since; 2.8 +- 0.8 % of a
// run).
uint64_t ThreadPool::Await(int w, uint64_t seen, int64_t computed_ns) {
  uint64_t region = seen;
  const auto due = [&](std::memory_order order) {
    region = region_.load(order);
    return region != seen && uint64_t(w) < region % kRegion;
  };
  int64_t start = NowNs();
  for (int spins = 0; !due(std::memory_order_acquire); ++spins) {
    Relax();
    if (spins % 64 != 63) continue;
    const int64_t now = NowNs();
    // the other workers still compute the region
    if (uint64_t(w) < region % kRegion && unfinished_.load(std::memory_order_relaxed) != 0) {
      start = now;
      // where there are fewer cores than threads, other threads need this core
      if (now - computed_ns > kSpinNs) sched_yield();
    }
    if ((spins < kLeastSpins || now - start < kSpinNs) && now - computed_ns < kUselessNs) continue;
    std::unique_lock lock(mutex_);
    sleeping_.fetch_add(1, std::memory_order_seq_cst);
    wake_[size_t(w)].wait(lock, [&] { return due(std::memory_order_seq_cst); });
    sleeping_.fetch_sub(1, std::memory_order_seq_cst);
    break;
  }
  return region;
}

void ThreadPool::WorkerMain(int w) {
  int64_t computed_ns = NowNs();
  for (uint64_t region = 0;;) {
    region = Await(w, region, computed_ns);
    if (stop_.load()) return;
    if (Work(w, region)) computed_ns = NowNs();
  }
}

Policy::Times ThreadPool::TakeTimes() {
  const Asking asking(asking_);
  return policy_->TakeTimes();
}

int64_t ThreadPool::TakeWaitNs() {
  const int64_t ns = wait_ns_;
  wait_ns_ = 0;
  return ns;
}

ThreadPool::CallerPin::CallerPin(const ThreadPool& pool, int w) {
  if (pool.cores_.empty()) return;
  if (pthread_getaffinity_np(pthread_self(), sizeof(saved_), &saved_) != 0) return;
  // A thread that a processor has adopted is there already.
  if (CPU_COUNT(&saved_) == 1 && CPU_ISSET(pool.cores_[size_t(w)], &saved_)) return;
  pinned_ = Pin(pthread_self(), pool.cores_[size_t(w)]);
  if (w == 0) pool.caller_refused_ = !pinned_;  // refusals of the other workers' cores are in refused_
}

std::string ThreadPool::StandIn::settings() const {
  return fmt::format("{}a thread of {} alone at speed {}", pool_.speeds_.empty() ? "" : "emulated, ",
                     pool_.step_threads_, pool_.worker(pool_.stand_in_).speed);
}

ThreadPool::CallerPin::~CallerPin() {
  if (pinned_) pthread_setaffinity_np(pthread_self(), sizeof(saved_), &saved_);
}

}  // namespace mete
