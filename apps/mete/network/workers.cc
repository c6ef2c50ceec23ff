#include "network/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "mete/network.h"
#include "network/pool/security.h"
#include "pool.h"
#include "stopwatch.h"
#include "terminal.h"

namespace mete::cli {
namespace {

constexpr int kHellos = 5;  // of which the shortest counts: what is longer is others' doing

const char* StateOf(Code code) {
  switch (code) {
    case Code::kUnavailable: return "no connection";
    case Code::kDeadlineExceeded: return "no answer";
    case Code::kFailedPrecondition: return "refuses";
    default: return "an error";
  }
}

// The first call connects, which is no round trip.
void AskHost(RemoteDevice& remote, std::chrono::milliseconds timeout, HostState& state) {
  try {
    state.hello = remote.Hello(timeout);
    state.round_trip_ms = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kHellos; ++i) {
      const Stopwatch watch;
      (void)remote.Hello(timeout);
      state.round_trip_ms = std::min(state.round_trip_ms, watch.ms());
    }
    state.state = "there";
  } catch (const Error& error) {
    state.state = StateOf(error.code());
    state.why_not = error.what();
  }
}

}  // namespace

Security ReadSecurity(const std::string& keys_folder, const std::string& token_file, const Context& context) {
  return mete::ReadSecurity(keys_folder, token_file,
                            [&context](const std::string& note) { PrintNote(context, note); });
}

std::vector<HostState> AskHosts(const PoolFile& file, std::chrono::milliseconds timeout,
                                const Context& context) {
  const bool workers = std::any_of(file.devices.begin(), file.devices.end(),
                                   [](const DeviceInPool& device) { return !device.address.empty(); });
  const Security security = workers ? ReadSecurity(file.keys, file.token, context) : Security{};
  std::vector<std::unique_ptr<RemoteDevice>> remotes;
  for (const DeviceInPool& host : file.devices)
    remotes.push_back(host.address.empty()
                          ? nullptr
                          : std::make_unique<RemoteDevice>(RemoteAddress{host.name, host.address}, security));
  std::vector<HostState> states(remotes.size());
  std::vector<std::thread> asking;
  for (size_t d = 0; d < remotes.size(); ++d) {
    states[d].host = file.devices[d];
    if (remotes[d]) asking.emplace_back([&, d] { AskHost(*remotes[d], timeout, states[d]); });
    else {
      states[d].state = "this device";
      states[d].hello.version = METE_VERSION;
    }
  }
  for (std::thread& thread : asking) thread.join();
  return states;
}

std::shared_ptr<const Network> NetworkOfProgram() { return OpenNetwork(); }

}  // namespace mete::cli
