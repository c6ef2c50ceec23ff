// The meters of energy and power that the kernel shows.
#pragma once

#include <vector>

#include "machine/machine.h"
#include "machine/sysfs.h"

namespace mete {

// The folders in which ReadMeters() looks for meters.
inline constexpr const char* kMeterFolders[] = {"/sys/class/powercap", "/sys/class/power_supply",
                                                "/sys/class/hwmon", "/sys/bus/i2c/drivers/INA231"};

std::vector<Meter> ReadMeters(Sysfs& sysfs);

}  // namespace mete
