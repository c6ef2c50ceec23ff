// The workers of a file, with the caller's credentials.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "context.h"
#include "machine/pool_file.h"
#include "network/remote/remote_member.h"

namespace mete::cli {

// Returns the caller's credentials, and those that workers must have; none for empty paths. Prints notes.
Security ReadSecurity(const std::string& keys_folder, const std::string& token_file, const Context& context);

// The answer of a worker of a file.
struct HostState {
  DeviceInPool host;
  RemoteHello hello;
  double round_trip_ms = 0;  // the least of some
  std::string state;         // in two words or so
  std::string why_not;       // it is not there; empty: it is, or is this device
};
// Asks all of them at a time.
std::vector<HostState> AskHosts(const PoolFile& file, std::chrono::milliseconds timeout,
                                const Context& context);

}  // namespace mete::cli
