#include "machine/frequency_signals.h"

#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "base/error.h"

namespace mete {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<FrequencySignals*> g_current = nullptr;
std::atomic_flag g_busy = ATOMIC_FLAG_INIT;  // somebody changes frequencies; held by a thread only while the signals are masked there
std::atomic<bool> g_interrupted = false, g_put_back = false;
struct sigaction g_before[std::size(kSignals)];

void Acquire() {
  while (g_busy.test_and_set(std::memory_order_acquire)) {
  }
}
void Release() { g_busy.clear(std::memory_order_release); }

sigset_t AllThree() {
  sigset_t set;
  sigemptyset(&set);
  for (int s : kSignals) sigaddset(&set, s);
  return set;
}

void Call(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  if (action.sa_flags & SA_SIGINFO) action.sa_sigaction(signal, info, context);
  else action.sa_handler(signal);
}

// What would have happened without us. Where that is the end, g_busy is never released: no thread changes frequencies after they were put
// back.
void PassOn(int signal, siginfo_t* info, void* context) {
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] != signal) continue;
    const struct sigaction& before = g_before[i];
    if (!(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL) {
      sigaction(signal, &before, nullptr);
      raise(signal);  // comes when the handler has returned
    } else {
      Release();
      Call(before, signal, info, context);
    }
  }
}

}  // namespace

FrequencySignals::FrequencySignals() {
  FrequencySignals* none = nullptr;
  if (!g_current.compare_exchange_strong(none, this))
    Fail(Code::kFailedPrecondition, "frequency", "something else in this process sets frequencies; expected one at a time");
  g_interrupted = g_put_back = false;
}

void FrequencySignals::Arm(const std::vector<FrequencyRestorer>& restorers, const std::string& lock_path, WriteFrequencyFile write) {
  restorers_ = &restorers, lock_path_ = lock_path.c_str(), write_ = write;
  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  action.sa_mask = AllThree();
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &g_before[i]);
    if (g_before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);  // ignored under nohup: stays so
  }
}

FrequencySignals::~FrequencySignals() {
  Disarm();
  g_current = nullptr;
}

void FrequencySignals::Disarm() {
  if (!restorers_) return;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction now;
    sigaction(kSignals[i], nullptr, &now);
    if (now.sa_sigaction == OnSignal) sigaction(kSignals[i], &g_before[i], nullptr);  // else somebody has taken it since
  }
  const Quiet quiet;  // a handler that has begun on another thread comes to its end, or finds nothing to do
  restorers_ = nullptr;
}

// Async-signal-safe: atomics that need no lock, open, read, write, close, unlink, sigaction and raise.
void FrequencySignals::OnSignal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  Acquire();
  const FrequencySignals* current = g_current;
  if (current && current->restorers_ && !g_put_back)
    g_put_back = !PutBackAll(*current->restorers_, current->lock_path_, current->write_);
  g_interrupted = true;
  PassOn(signal, info, context);
  errno = error;
}

FrequencySignals::Quiet::Quiet() {
  const sigset_t set = AllThree();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
  Acquire();
}

FrequencySignals::Quiet::~Quiet() {
  Release();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool FrequencySignals::Quiet::interrupted() const { return g_interrupted; }
bool FrequencySignals::Quiet::put_back() const { return g_put_back; }
void FrequencySignals::Quiet::SetPutBack() const { g_put_back = true; }

}  // namespace mete
