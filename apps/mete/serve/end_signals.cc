#include "end_signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "context.h"

namespace mete::cli {
namespace {

// Globals, because a signal handler reaches nothing else.
std::atomic<bool> g_accepting{false}, g_asked{false};

extern "C" void OnEnd(int signal) {
  if (!g_accepting) _exit(signal == SIGINT ? kCancelled : kOk);
  g_asked = true;
  if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);
}

}  // namespace

EndSignals::EndSignals() {
  std::signal(SIGTERM, OnEnd);
  std::signal(SIGINT, OnEnd);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &ends, nullptr);
}

void EndSignals::Accepting() { g_accepting = true; }

bool EndSignals::asked() const { return g_asked; }

}  // namespace mete::cli
