// Several devices on one network as somebody wrote them down: a TOML file (boards/rk3399x6.toml), for
// planning and simulating what is not here. The devices' machines have files of their own (file.h). Every
// figure says where it comes from:
//
//     name = "Two boards"
//     [[device]]                                       # the first one is the caller's own
//     name = "board"                                   # of several alike: board-1, board-2
//     count = 2                                        # may be left out
//     machine = "rk3399.toml"                          # beside this file
//     # until a message that is sent begins to arrive, half of a ping
//     latency_us = { value = 200, source = "..." }
//     message_us = { value = 100, source = "..." }     # of each message, what sender and receiver do for it
//     up_mbit_per_s = { value = 94, source = "..." }   # what programs get of the link
//     down_mbit_per_s = { value = 94, source = "..." }
//     # These may be left out: what the whole board takes without work, else its clusters' idle_w; what a
//     # byte costs on its link.
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
  std::optional<Figure> idle_w;                   // nothing: what its machine's clusters take
  Figure sent_nj_per_byte, received_nj_per_byte;  // 0, without a source, where they are left out
};

struct DevicesFile {
  std::string name;
  std::vector<MachineFile> machines;  // each once
  std::vector<DeviceEntry> devices;   // several alike one by one
};

inline constexpr int kMostDevices = 1000;       // guess: hundreds are simulated
inline constexpr double kMostWatts = 1000;      // guess, as of a machine file
inline constexpr double kMostNanojoules = 1e6;  // of a byte; guess: radios of sensors take some thousands

// Throws Error with all problems of the file at once, and with those of a machine's file.
DevicesFile ReadDevicesFile(const std::string& path);

}  // namespace mete
