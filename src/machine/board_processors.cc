#include "machine/board_processors.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/problems.h"
#include "machine/gpu_entry.h"

namespace mete {
namespace {

ProcessorEntry EntryOf(const std::string& name, const MachineFile& machine) {
  if (name == "cpu") return {.name = name};
  const std::optional<GpuEntry> gpu = ParseGpu(name);
  if (!gpu || gpu->device != GpuEntry().device)
    Invalid("--processors", "is no processor of a machine file; got '{}', expected cpu, gpu or gpu:f16",
            Printable(name.substr(0, 80)));
  if (machine.gpus.empty())
    Invalid("--processors",
            "the machine file of '{}' describes no GPU; got '{}', expected cpu; try to add [[gpu]]",
            Printable(machine.machine.name), Printable(name));
  ProcessorEntry entry{.name = name};
  SetGpu(entry, *gpu);
  return entry;
}

}  // namespace

PoolFile PoolOfBoard(const std::string& path, const std::string& list) {
  PoolFile pool;
  pool.machines.push_back(ReadMachineFile(path));
  const MachineFile& machine = pool.machines[0];
  pool.name = machine.machine.name;
  DeviceInPool device{.name = "board", .described = DescribedDevice{}};
  Problems problems;
  std::set<std::string> names;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    problems.Try([&] {
      const ProcessorEntry entry = EntryOf(list.substr(at, end - at), machine);
      if (at == 0 && entry.kind != "cpu")
        Invalid("--processors", "begins with another processor; got '{}', expected cpu", entry.name);
      if (!names.insert(entry.name).second)
        Invalid("--processors", "has a processor twice; got '{}' again", entry.name);
      if (const std::string why = WhyTwice(entry, device.processors); !why.empty())
        Invalid("--processors", "'{}' {}", entry.name, why);
      device.processors.push_back(entry);
    });
    at = end + 1;
  }
  problems.ThrowIfAny();
  pool.devices.push_back(std::move(device));
  return pool;
}

}  // namespace mete
