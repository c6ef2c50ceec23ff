// The share of a core that the kernel lets real-time threads use. slowcore only reads this limit, because it
// is a setting of the whole machine.
#pragma once

#include <string>

#include "tools/slowcore/control/pacer.h"

namespace mete::slowcore {

// Returns the share by sched_rt_runtime_us and sched_rt_period_us in proc/sys/kernel below `root` (tests use
// a folder with the same layout); 1 if there is no limit or no such file.
double RealTimeShare(const std::string& root = "/");

// Throws FAILED_PRECONDITION, with the setting to change, if the kernel would stop a thread that keeps other
// threads to this pace.
void CheckRealTimeShare(const Pace& pace, const std::string& root = "/");

}  // namespace mete::slowcore
