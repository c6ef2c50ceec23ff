// Replaces network/ if METE_NETWORK is off: there are no network commands, and --processors refuses files
// with hosts that would have to be reached.
#include "commands.h"
#include "pool.h"

namespace mete::cli {

void AddDevices(CLI::App&, Context&) {}
void AddKeys(CLI::App&, Context&) {}
void AddWorker(CLI::App&, Context&) {}

std::shared_ptr<const Network> NetworkOfProgram() { return nullptr; }

}  // namespace mete::cli
