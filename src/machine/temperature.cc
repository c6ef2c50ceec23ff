#include "machine/temperature.h"

#include <algorithm>

#include "base/error.h"
#include "machine/sysfs.h"

namespace mete {
namespace {

// Returns whether a cooling device of this type lowers the upper limit of a policy. The names are those in
// Linux of drivers/thermal/cpufreq_cooling.c (newer and older kernels) and of
// drivers/acpi/processor_thermal.c.
bool LowersClocks(const std::string& type) {
  return type.starts_with("cpufreq-") || type.starts_with("thermal-cpufreq-") || type == "Processor";
}

}  // namespace

double ReadCelsius(const std::string& root) {
  constexpr int64_t kMostMilli = 200'000;  // this value is a guess: no processor works above 200 degrees
  Sysfs sysfs(root);
  const std::string folder = "sys/class/thermal/";
  int64_t hottest = 0;
  for (const std::string& zone : sysfs.Folder(folder))
    if (zone.starts_with("thermal_zone"))
      hottest = std::max(hottest, sysfs.Number(folder + zone + "/temp", kMostMilli).value_or(0));
  return double(hottest) * 1e-3;
}

std::string WhatCools(const std::string& root) {
  constexpr int64_t kMostStates = 100'000;  // this value is a guess: a device has one state per frequency
  Sysfs sysfs(root);
  const std::string folder = "sys/class/thermal/";
  for (const std::string& device : sysfs.Folder(folder)) {
    if (!device.starts_with("cooling_device")) continue;
    const std::string type = sysfs.Line(folder + device + "/type").value_or("");
    const int64_t state = sysfs.Number(folder + device + "/cur_state", kMostStates).value_or(0);
    if (state > 0 && LowersClocks(type))
      return fmt::format("{} ({}) in state {}", device, Printable(type.substr(0, 40)), state);
  }
  return "";
}

}  // namespace mete
