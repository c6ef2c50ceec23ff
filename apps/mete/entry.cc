#include "entry.h"

#include <csignal>
#include <cstdlib>

#include "commands.h"
#include "program.h"

namespace mete::cli {
namespace {

CancelToken g_cancel;  // a global, because a signal handler reaches nothing else

extern "C" void OnInterrupt(int signal) {
  g_cancel.Cancel();
  std::signal(signal, SIG_DFL);  // the next interrupt kills the process
}

}  // namespace

int RunMete(int argc, char** argv) {
  std::signal(SIGINT, OnInterrupt);
  // Mete's errors already say what gRPC would print on stderr; 0: a value that the user has set stays.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  Context context;
  context.cancel = &g_cancel;
  return RunProgram({"mete", BuildCli}, context, argc, argv);
}

}  // namespace mete::cli
