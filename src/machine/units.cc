// Which processors of a pool are the same hardware.
#include <map>

#include "base/error.h"
#include "machine/gpu_entry.h"
#include "machine/pool_file.h"

namespace mete {
namespace {

std::string UnitOf(const DeviceInPool& device, const ProcessorEntry& entry) {
  const std::string unit = device.address.empty() ? entry.unit : UnitOfName(entry.name);
  return unit.empty() ? "" : device.name + "/" + unit;
}

const GpuEntry* GpuOf(const ProcessorEntry& entry) { return std::any_cast<GpuEntry>(&entry.settings); }

}  // namespace

std::vector<std::string> UnitsOf(const PoolFile& pool) {
  std::vector<std::string> units;
  for (const DeviceInPool& device : pool.devices) {
    if (device.processors.empty()) units.emplace_back();
    for (const ProcessorEntry& entry : device.processors) units.push_back(UnitOf(device, entry));
  }
  std::map<std::string, int> count;
  for (const std::string& unit : units) ++count[unit];
  for (std::string& unit : units)
    if (count[unit] < 2) unit.clear();
  return units;
}

std::string WhyTwice(const ProcessorEntry& entry, std::span<const ProcessorEntry> others) {
  const GpuEntry* const gpu = GpuOf(entry);
  for (const ProcessorEntry& other : others) {
    const GpuEntry* const known = GpuOf(other);
    if (gpu && known && gpu->device == known->device && gpu->type == known->type)
      return fmt::format(
          "is the same GPU as '{}', in the same type; got {} twice, expected each type of a GPU once; try "
          "f32 "
          "for one of them and f16 for the other",
          Printable(other.name), gpu->device);
  }
  return "";
}

}  // namespace mete
