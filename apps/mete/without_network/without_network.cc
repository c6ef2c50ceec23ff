// Replaces network/ if METE_NETWORK is off: there are no network commands, and --processors refuses files
// with hosts that would have to be reached.
#include "base/error.h"
#include "commands.h"
#include "pool.h"
#include "top/source.h"

namespace mete::cli {

void AddDevices(CLI::App&, Context&) {}
void AddKeys(CLI::App&, Context&) {}
void AddWorker(CLI::App&, Context&) {}

std::shared_ptr<const Network> NetworkOfProgram() { return nullptr; }

std::unique_ptr<TopSource> MakeWorkerSource(const TopFlags& flags, const Context&) {
  Fail(Code::kUnimplemented, "--worker",
       "this program was built without the network; got '{}', expected a model; try to build with "
       "METE_NETWORK=ON",
       flags.worker);
}

}  // namespace mete::cli
