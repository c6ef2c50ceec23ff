// How much of a core the kernel lets real-time threads have. Read, never written: it holds for the whole
// machine.
#pragma once

#include <string>

#include "tools/slowcore/control/pacer.h"

namespace mete::slowcore {

// From sched_rt_runtime_us and sched_rt_period_us in proc/sys/kernel below `root` (a folder laid out alike
// serves tests). 1 where there is no limit, or no such file.
double RealTimeShare(const std::string& root = "/");

// Throws FAILED_PRECONDITION, with what to set, where the kernel would stop a thread that keeps others to
// this pace.
void CheckRealTimeShare(const Pace& pace, const std::string& root = "/");

}  // namespace mete::slowcore
