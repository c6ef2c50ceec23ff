// Replaces network/ if METE_NETWORK is off: there are no network commands, and --processors refuses files
// with hosts that would have to be reached.
#include "commands.h"
#include "mete/error.h"
#include "pool.h"

namespace mete::cli {
namespace {

[[noreturn]] void Refuse() {
  throw Error(Code::kUnimplemented,
              "[--processors] this program was built without the network; expected one that can reach other "
              "hosts; try to "
              "build with METE_NETWORK=ON, or a file that describes boards (boards/rk3399x6.toml) for plan "
              "and simulate");
}

}  // namespace

void AddDevices(CLI::App&, Context&) {}
void AddKeys(CLI::App&, Context&) {}
void AddWorker(CLI::App&, Context&) {}

std::vector<std::unique_ptr<Member>> OpenWorkers(const PoolFile&, const Context&) { Refuse(); }
void CheckReachesWorkers() { Refuse(); }

}  // namespace mete::cli
