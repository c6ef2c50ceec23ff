#include "tools/slowcore/signals.h"

#include <algorithm>

namespace mete::slowcore {

Signals::Signals() {
  sigemptyset(&waited_);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&waited_, signal);
  pthread_sigmask(SIG_BLOCK, &waited_, &former_);
  struct sigaction plain = {};
  plain.sa_handler = SIG_DFL;  // if the parent process ignores SIGCHLD, the end of a child is not reported
  sigaction(SIGCHLD, &plain, &former_child_);
}

Signals::~Signals() {
  sigaction(SIGCHLD, &former_child_, nullptr);
  pthread_sigmask(SIG_SETMASK, &former_, nullptr);
}

std::optional<int> Signals::Wait(std::optional<int64_t> timeout_ns) {
  const int64_t ns = std::max<int64_t>(timeout_ns.value_or(0), 0);
  const timespec timeout{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  const int signal = timeout_ns ? sigtimedwait(&waited_, nullptr, &timeout) : sigwaitinfo(&waited_, nullptr);
  if (signal < 0) return std::nullopt;
  return signal;
}

}  // namespace mete::slowcore
