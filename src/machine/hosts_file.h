// Several devices that are there, as somebody wrote them down: where workers are to be reached, and why they
// believe us. A TOML file:
//
//     name = "Two boards and a laptop"
//     # this device's certificate and key, made by `mete keys make`; beside this file
//     keys = "keys/laptop"
//     # token = "token"                # or a file with the token that all share, on a closed network
//     # insecure = true                # or neither
//     [[device]]
//     name = "laptop"                  # the first one is the caller's own: without an address
//     [[device]]
//     name = "pi-1"                    # what its certificate says
//     address = "192.168.1.20:7077"    # HOST:PORT
//     # For plans with the least energy, of every device or none: what it takes from its socket or battery on
//     # and without work, how much
//     # more while it computes, and, if you know it, what a byte costs on its link.
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
  Figure idle_w, compute_w;                       // the latter beyond the former
  Figure sent_nj_per_byte, received_nj_per_byte;  // 0, without a source, where they are left out
};

struct HostEntry {
  std::string name;
  std::string address;             // empty: this device
  std::optional<HostPower> power;  // nothing: not known
};

struct HostsFile {
  std::string name;
  std::string keys, token;  // paths as they are to be opened; empty: none
  bool insecure = false;
  std::vector<HostEntry> devices;  // the first one is the caller's own
};

// Whether the file has devices with addresses, rather than with machine files (devices_file.h). Error where
// it is no TOML.
bool IsHostsFile(const std::string& path);
// Whether the file has several devices, of either kind, rather than one machine. Error where it is no TOML.
bool DescribesDevices(const std::string& path);

// Throws Error with all problems of the file at once.
HostsFile ReadHostsFile(const std::string& path);

}  // namespace mete
