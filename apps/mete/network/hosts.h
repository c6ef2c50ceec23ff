// Devices that are there: workers behind addresses, with what proves who they are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "network/caller/devices_session.h"
#include "network/profile/pool_profile.h"
#include "over_devices.h"

namespace mete::cli {

// What proves who we are, and whom we believe; empty paths: nothing. Prints notes.
Security ReadSecurity(const std::string& keys_folder, const std::string& token_file, const Context& context);

// The devices of a file, with what proves who we are; the first is null.
std::vector<std::unique_ptr<RemoteDevice>> OpenHosts(const HostsFile& file, const Context& context);
std::vector<std::string> NamesOf(const HostsFile& file);

// What a worker of a file says of itself.
struct HostState {
  HostEntry host;
  RemoteHello hello;
  double round_trip_ms = 0;  // the least of some
  std::string state;         // in two words or so
  std::string why_not;       // it is not there; empty: it is, or is this device
};
// Asks all of them at a time.
std::vector<HostState> AskHosts(const HostsFile& file, std::chrono::milliseconds timeout,
                                const Context& context);

// What `mete profile MODEL --devices FILE` keeps; UsageError that says so where there is none that serves.
PoolProfile StoredPoolProfile(const Graph& graph, const HostsFile& file);
std::string StorePoolProfile(const PoolProfile& profile, const HostsFile& file);  // the path

std::unique_ptr<DevicesSession> MakeDevicesSession(const Model& model, const ModelFlags& model_flags,
                                                   const HostsFlags& flags, const Context& context);

}  // namespace mete::cli
