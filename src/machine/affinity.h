// Which cores this process can use.
#pragma once

#include "machine/machine.h"
#include "machine/sysfs.h"

namespace mete {

// `allowed` has at least one core. Of a recorded tree the process's mask is what proc/self/status has.
Affinity ReadAffinity(Sysfs& sysfs);

}  // namespace mete
