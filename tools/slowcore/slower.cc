#include "tools/slowcore/slower.h"

#include <pthread.h>
#include <sched.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "tools/slowcore/core.h"

namespace mete::slowcore {
namespace {

// The sleep of the thread while the core is free, and therefore its longest delay after Set(). This value is
// a guess.
constexpr int64_t kNapNs = 10'000'000;

timespec ToTimespec(int64_t ns) { return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000}; }

void SleepUntil(int64_t ns) {
  const timespec at = ToTimespec(ns);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {}
}

int64_t CpuNs(pthread_t thread) {
  clockid_t clock;
  timespec t = {};
  if (pthread_getcpuclockid(thread, &clock) == 0) clock_gettime(clock, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

void BecomeRealTime() {
  // The lowest real-time priority is above every normal thread and below interrupt threads.
  const sched_param param{.sched_priority = sched_get_priority_min(SCHED_FIFO)};
  const int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
  if (error == 0) return;
  Fail(Code::kUnavailable, "SCHED_FIFO",
       "the kernel refuses a real-time priority; got '{}', expected the right to it: CAP_SYS_NICE, or a "
       "limit of 1 or more in 'ulimit -r'; "
       "try 'sudo setcap cap_sys_nice+ep slowcore', or sudo; where control groups ration real-time threads, "
       "also cpu.rt_runtime_us",
       std::strerror(error));
}

void Grow(std::atomic<int64_t>& sum, int64_t by) {
  sum.store(sum.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

}  // namespace

Timer::Timer() : fd_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {
  if (fd_ < 0)
    Fail(Code::kUnavailable, "slowcore", "no timer; got '{}' from timerfd_create", std::strerror(errno));
}

Timer::~Timer() { close(fd_); }

void Timer::Start(int64_t first_ns, int64_t period_ns) const {
  const itimerspec times{.it_interval = ToTimespec(period_ns), .it_value = ToTimespec(first_ns)};
  timerfd_settime(fd_, TFD_TIMER_ABSTIME, &times, nullptr);
}

void Timer::Stop() const {
  const itimerspec never = {};
  timerfd_settime(fd_, 0, &never, nullptr);
}

void Timer::Wait() const {
  uint64_t times = 0;
  while (read(fd_, &times, sizeof(times)) < 0 && errno == EINTR) {}
}

Slower::Slower(int core, const Pace& pace, const std::optional<PhaseSettings>& phases)
    : pace_(pace), pacer_(pace) {
  if (phases) phases_.emplace(*phases);
  std::promise<void> ready;
  std::future<void> is_ready = ready.get_future();
  thread_ = std::thread([this, core, &ready] { Main(core, ready); });
  try {
    is_ready.get();
  } catch (...) {
    thread_.join();
    throw;
  }
}

Slower::~Slower() {
  Set(Mode::kEnd);
  thread_.join();
}

Account Slower::account() { return {slow_ns_, lost_ns_, held_ns_, CpuNs(thread_.native_handle()), periods_}; }

void Slower::Main(int core, std::promise<void>& ready) {
  try {
    PinTo(core);
    BecomeRealTime();
  } catch (...) {
    ready.set_exception(std::current_exception());
    return;
  }
  ready.set_value();
  Loop();
}

void Slower::Loop() {
  bool slow = false;
  while (mode_.load(std::memory_order_relaxed) != Mode::kEnd) {
    const int64_t now = NowNs();
    const bool was_slow = std::exchange(slow, WantsSlow(now));
    if (slow && !was_slow) Begin(now);
    if (!slow && was_slow) timer_.Stop();
    if (slow) Period();
    else SleepUntil(free_until_ns_);
  }
}

void Slower::Begin(int64_t now_ns) {
  pacer_.Restart(now_ns);
  timer_.Start(pacer_.wake_ns(), pace_.period_ns);
  counted_ns_ = now_ns;
}

bool Slower::WantsSlow(int64_t now_ns) {
  const Mode mode = mode_.load(std::memory_order_relaxed);
  free_until_ns_ = now_ns + kNapNs;
  if (mode != Mode::kPhases || !phases_) return mode == Mode::kSlow || mode == Mode::kPhases;
  if (phases_start_ns_ == 0) phases_start_ns_ = now_ns;
  const bool slow = phases_->SlowAt(now_ns - phases_start_ns_);
  free_until_ns_ = std::min(free_until_ns_, phases_start_ns_ + phases_->end_ns());
  return slow;
}

void Slower::Period() {
  do timer_.Wait();
  while (NowNs() < pacer_.wake_ns());  // the timer may expire for a period that the pacer has skipped
  pacer_.SetOverheadNs(overhead_ns_.load(std::memory_order_relaxed));
  const int64_t woke = NowNs();
  const int64_t until = pacer_.BusyUntil(woke);
  int64_t now = woke;
  while (now < until) now = NowNs();
  Grow(lost_ns_, std::llround(pacer_.Ended(now)));
  Grow(held_ns_, now - woke);
  Grow(slow_ns_, now - std::exchange(counted_ns_, now));
  Grow(periods_, 1);
}

}  // namespace mete::slowcore
