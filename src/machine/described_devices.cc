#include "machine/described_devices.h"

#include <fmt/ranges.h>

#include <filesystem>

namespace mete {

DescribedDevice DescribedDevices::Read(TomlKeys& keys) {
  DescribedDevice device;
  device.machine = MachineOf(keys.Text("machine"));
  ReadLink(keys, device);
  if (keys.Find("idle_w")) device.idle_w = keys.TakeFigure("idle_w", 0, kMostWatts);
  if (keys.Find("sent_nj_per_byte"))
    device.sent_nj_per_byte = keys.TakeFigure("sent_nj_per_byte", 0, kMostNanojoules);
  if (keys.Find("received_nj_per_byte"))
    device.received_nj_per_byte = keys.TakeFigure("received_nj_per_byte", 0, kMostNanojoules);
  return device;
}

// Estimates need the whole link: a device without one could not be reached.
void DescribedDevices::ReadLink(TomlKeys& keys, DescribedDevice& device) {
  std::vector<std::string> missing;
  const auto read = [&](const char* key, double least, double most, Figure& figure) {
    if (keys.Find(key)) figure = keys.TakeFigure(key, least, most);
    else missing.push_back(key);
  };
  read("latency_us", 0, 1e7, device.latency_us);
  read("message_us", 0, 1e7, device.message_us);
  read("up_mbit_per_s", 0.001, 1e6, device.up_mbit_per_s);
  read("down_mbit_per_s", 0.001, 1e6, device.down_mbit_per_s);
  if (!missing.empty())
    keys.Problem(nullptr,
                 "has no link to the other devices, or a part of one; got no {}, expected latency_us, "
                 "message_us, up_mbit_per_s and down_mbit_per_s, each {{ value = ..., source = \"...\" }}",
                 fmt::join(missing, ", "));
}

// Returns the index of the machine file `name`. The file is read when it is first named.
int DescribedDevices::MachineOf(const std::string& name) {
  const auto [at, is_new] = numbers_.try_emplace(name, int(machines_.size()));
  if (is_new && !name.empty())
    problems_.Try([&] {
      machines_.push_back(ReadMachineFile((std::filesystem::path(path_).parent_path() / name).string()));
    });
  return at->second;
}

}  // namespace mete
