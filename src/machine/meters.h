// What the kernel shows that measures energy or power.
#pragma once

#include <vector>

#include "machine/machine.h"
#include "machine/sysfs.h"

namespace mete {

// Where they are looked for.
inline constexpr const char* kMeterFolders[] = {"/sys/class/powercap", "/sys/class/power_supply",
                                                "/sys/class/hwmon", "/sys/bus/i2c/drivers/INA231"};

std::vector<Meter> ReadMeters(Sysfs& sysfs);

}  // namespace mete
