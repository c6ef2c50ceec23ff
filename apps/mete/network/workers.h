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

// A device of a file, with the answer of its worker.
struct HostState {
  DeviceInPool host;
  RemoteHello hello;
  double round_trip_ms = 0;  // the shortest of several
  std::string state;         // "there", "no connection", ...
  std::string why_not;       // why the worker is not there; empty: it is, or the device is this one
};
// Asks all workers of the file at the same time.
std::vector<HostState> AskHosts(const PoolFile& file, std::chrono::milliseconds timeout,
                                const Context& context);

}  // namespace mete::cli
