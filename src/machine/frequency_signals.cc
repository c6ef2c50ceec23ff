#include "machine/frequency_signals.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/error.h"

namespace mete {
namespace {

// The signals with which a terminal, a service manager or the reader of a pipe ends a program.
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

std::atomic<FrequencySignals*> g_current = nullptr;
// A spin lock around changes of frequencies; a thread holds it only while the signals are masked there.
std::atomic_flag g_busy = ATOMIC_FLAG_INIT;
std::atomic<bool> g_interrupted = false, g_put_back = false;
// The process that may restore: a forked child inherits the handlers, but must not touch its parent's
// frequencies.
std::atomic<pid_t> g_owner = 0;
struct sigaction g_before[std::size(kSignals)];

void Acquire() {
  while (g_busy.test_and_set(std::memory_order_acquire)) {}
}
void Release() { g_busy.clear(std::memory_order_release); }

sigset_t AllOfThem() {
  sigset_t set;
  sigemptyset(&set);
  for (int s : kSignals) sigaddset(&set, s);
  return set;
}

void Call(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  if (action.sa_flags & SA_SIGINFO) action.sa_sigaction(signal, info, context);
  else action.sa_handler(signal);
}

void SetDefault(int signal) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
}

// Does what would have happened without this handler.
void PassOn(int signal, siginfo_t* info, void* context) {
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] != signal) continue;
    const struct sigaction& before = g_before[i];
    const bool is_default = !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL;
    if (is_default || (before.sa_flags & SA_RESETHAND)) SetDefault(signal);
    // The signal arrives when the handler has returned; the first process of a container survives it.
    if (is_default) raise(signal);
    else Call(before, signal, info, context);
  }
}

// Returns the flags with which an interrupted system call continues as it would have without this handler.
int FlagsAs(const struct sigaction& before) {
  if (before.sa_handler == SIG_DFL) return SA_SIGINFO | SA_RESTART;
  return SA_SIGINFO | (before.sa_flags & (SA_RESTART | SA_ONSTACK));
}

}  // namespace

FrequencySignals::FrequencySignals() {
  FrequencySignals* none = nullptr;
  if (!g_current.compare_exchange_strong(none, this))
    Fail(Code::kFailedPrecondition, "frequency",
         "something else in this process sets frequencies; expected one at a time");
  g_interrupted = g_put_back = false;
  g_owner = getpid();
}

void FrequencySignals::Arm(const std::vector<FrequencyRestorer>& restorers, const std::string& lock_path,
                           WriteFrequencyFile write) {
  restorers_ = &restorers;
  lock_path_ = lock_path.c_str();
  write_ = write;
  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  action.sa_mask = AllOfThem();
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction now;
    sigaction(kSignals[i], nullptr, &now);
    const bool is_ignored = now.sa_handler == SIG_IGN;  // under nohup: the signal stays ignored
    // OnSignal is installed already if other code has reinstalled it after Disarm(); g_before is still right.
    if (is_ignored || now.sa_sigaction == OnSignal) continue;
    g_before[i] = now;
    action.sa_flags = FlagsAs(now);
    sigaction(kSignals[i], &action, nullptr);
  }
}

FrequencySignals::~FrequencySignals() {
  Disarm();
  const Quiet quiet;  // no handler still uses this object
  g_current = nullptr;
}

void FrequencySignals::Disarm() {
  if (!restorers_) return;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction now;
    sigaction(kSignals[i], nullptr, &now);
    // A handler that other code has installed since stays.
    if (now.sa_sigaction == OnSignal) sigaction(kSignals[i], &g_before[i], nullptr);
  }
  const Quiet quiet;  // a handler that runs on another thread ends first, or finds nothing to restore
  restorers_ = nullptr;
}

bool FrequencySignals::is_owner() { return g_owner == getpid(); }

// The handler uses only async-signal-safe operations: lock-free atomics, getpid, open, read, write, close,
// unlink, sigaction and raise.
void FrequencySignals::OnSignal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (is_owner()) PutBackNow();
  PassOn(signal, info, context);
  errno = error;
}

// Restores the frequencies and sets interrupted(), which a thread that waits to change frequencies then sees.
void FrequencySignals::PutBackNow() {
  Acquire();
  const FrequencySignals* current = g_current;
  if (current && current->restorers_ && !g_put_back)
    g_put_back = !PutBackAll(*current->restorers_, current->lock_path_, current->write_);
  g_interrupted = true;
  Release();
}

FrequencySignals::Quiet::Quiet() {
  const sigset_t set = AllOfThem();
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
