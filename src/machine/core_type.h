// Which kind of core each one is: Arm's part numbers, Intel's hybrid types.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "machine/sysfs.h"

namespace mete {

inline constexpr const char* kPerformanceCore = "P-core";
inline constexpr const char* kEfficientCore = "E-core";
inline constexpr const char* kLowPowerCore = "LP-E-core";  // of those processors that have a third kind

// By core; those that are not told are missing.
std::map<int, std::string> ReadCoreTypes(Sysfs& sysfs, const std::vector<int>& cores);

// "Cortex-A72" of 0x41, 0xd08; "" where the table lacks it.
std::string ArmCoreName(int64_t implementer, int64_t part);

// What the registers of cpuid, read on a core, say about it: EDX of leaf 7 and EAX of leaf 0x1a. "" where the
// processor is not hybrid.
std::string HybridTypeOf(uint32_t leaf7_edx, uint32_t leaf1a_eax);

}  // namespace mete
