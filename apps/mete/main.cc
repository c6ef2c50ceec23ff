// The command line's entry, and its interrupts.
#include <csignal>
#include <cstdlib>

#include "commands.h"
#include "program.h"

namespace {

mete::CancelToken g_cancel;  // a signal handler reaches nothing but a global

extern "C" void OnInterrupt(int signal) {
  g_cancel.Cancel();
  std::signal(signal, SIG_DFL);  // the next one kills
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, OnInterrupt);
  // what it would say on stderr our errors say; 0: a user's own wish comes first
  setenv("GRPC_VERBOSITY", "NONE", 0);
  mete::cli::Context context;
  context.cancel = &g_cancel;
  return mete::cli::RunProgram({"mete", mete::cli::BuildCli}, context, argc, argv);
}
