// A hand-written description of several devices on one network: a TOML file (boards/rk3399x6.toml) for
// planning and simulating with devices that are not present. Each device's machine has a file of its own
// (file.h). Every figure names its source:
//
//     name = "Two boards"
//     [[device]]                                       # the first device is the caller's own
//     name = "board"                                   # with count = 2 the names are board-1 and board-2
//     count = 2                                        # optional
//     machine = "rk3399.toml"                          # a path relative to this file
//     # time from sending a message until its first byte arrives: half of a ping
//     latency_us = { value = 200, source = "..." }
//     message_us = { value = 100, source = "..." }     # work of sender and receiver for each message
//     up_mbit_per_s = { value = 94, source = "..." }   # throughput of the link that programs reach
//     down_mbit_per_s = { value = 94, source = "..." }
//     # optional: power of the whole board without work (default: the idle_w of its clusters), and energy per
//     # byte on its link
//     idle_w = { value = 2, source = "..." }
//     sent_nj_per_byte = { value = 5, source = "..." }
//     received_nj_per_byte = { value = 5, source = "..." }
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/file.h"

namespace mete {

struct DeviceEntry {
  std::string name;
  int machine = 0;  // index into DevicesFile::machines
  Figure latency_us, message_us, up_mbit_per_s, down_mbit_per_s;
  std::optional<Figure> idle_w;                   // nothing: the sum of its clusters' idle_w
  Figure sent_nj_per_byte, received_nj_per_byte;  // 0 without a source if the file has no such key
};

struct DevicesFile {
  std::string name;
  std::vector<MachineFile> machines;  // each machine file once
  std::vector<DeviceEntry> devices;   // an entry with a count is expanded to that many devices
};

inline constexpr int kMostDevices = 1000;       // this value is a guess: hundreds are simulated
inline constexpr double kMostWatts = 1000;      // this value is a guess, the same as in machine files
inline constexpr double kMostNanojoules = 1e6;  // per byte; a guess: radios of sensors take some thousands

// Throws one Error that lists all problems of the file and of the machine files it names.
DevicesFile ReadDevicesFile(const std::string& path);

}  // namespace mete
