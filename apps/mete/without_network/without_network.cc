// Replaces network/ if METE_NETWORK is off: there are no network commands, and --devices refuses files with
// hosts that would have to be reached.
#include "commands.h"
#include "mete/error.h"
#include "over_devices.h"

namespace mete::cli {
namespace {

[[noreturn]] void Refuse() {
  throw Error(Code::kUnimplemented,
              "[--devices] this program was built without the network; expected one that can reach other "
              "hosts; try to "
              "build with METE_NETWORK=ON, or a file that describes boards (boards/rk3399x6.toml) for plan "
              "and simulate");
}

}  // namespace

void AddDevices(CLI::App&, Context&) {}
void AddKeys(CLI::App&, Context&) {}
void AddWorker(CLI::App&, Context&) {}

PoolCosts MeasuredCosts(const Graph&, const HostsFile&) { Refuse(); }
std::unique_ptr<SessionOverDevices> MakeSessionOverDevices(const Model&, const ModelFlags&, const HostsFlags&,
                                                           const Context&) {
  Refuse();
}
void BenchHosts(const ModelFlags&, const HostsFlags&, std::vector<std::string>, uint64_t, int, double,
                const Context&) {
  Refuse();
}
void ProfileHosts(const std::vector<std::string>&, const std::string&, const ModelFlags&, const Context&) {
  Refuse();
}

}  // namespace mete::cli
