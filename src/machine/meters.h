// What the kernel shows that measures energy or power.
#pragma once

#include <vector>

#include "machine/machine.h"
#include "machine/sysfs.h"

namespace mete {

std::vector<Meter> ReadMeters(Sysfs& sysfs);

}  // namespace mete
