// A hand-written description of several real devices: the addresses of the workers and the way in which the
// workers authenticate this device. A TOML file:
//
//     name = "Two boards and a laptop"
//     # certificate and key of this device, made by `mete keys make`; a path relative to this file
//     keys = "keys/laptop"
//     # token = "token"                # or: a file with the token that all devices of a closed network share
//     # insecure = true                # or: no authentication
//     [[device]]
//     name = "laptop"                  # the first device is the caller's own and has no address
//     [[device]]
//     name = "pi-1"                    # the name in its certificate
//     address = "192.168.1.20:7077"    # HOST:PORT
//     # optional, for plans with the least energy, for all devices or none: the power that the device takes
//     # from its socket or battery while it is on and without work, the additional power while it computes,
//     # and, if known, the energy per byte on its link
//     idle_w = { value = 2.5, source = "..." }
//     compute_w = { value = 3.5, source = "..." }
//     sent_nj_per_byte = { value = 5, source = "..." }
//     received_nj_per_byte = { value = 5, source = "..." }
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/file.h"

namespace mete {

struct HostPower {
  Figure idle_w, compute_w;                       // compute_w is in addition to idle_w
  Figure sent_nj_per_byte, received_nj_per_byte;  // 0 without a source if the file has no such key
};

struct HostEntry {
  std::string name;
  std::string address;             // empty: this device
  std::optional<HostPower> power;  // nothing: unknown
};

struct HostsFile {
  std::string name;
  std::string keys, token;  // paths that can be opened as they are; empty: none
  bool insecure = false;
  std::vector<HostEntry> devices;  // the first device is the caller's own
};

// Returns whether the file describes devices with addresses, not with machine files (devices_file.h). Throws
// Error if the file is not TOML.
bool IsHostsFile(const std::string& path);
// Returns whether the file describes several devices, of either kind, not one machine. Throws Error if the
// file is not TOML.
bool DescribesDevices(const std::string& path);

// Throws one Error that lists all problems of the file.
HostsFile ReadHostsFile(const std::string& path);

}  // namespace mete
