// The type of each core: Arm's part numbers, Intel's hybrid types.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "machine/sysfs.h"

namespace mete {

inline constexpr const char* kPerformanceCore = "P-core";
inline constexpr const char* kEfficientCore = "E-core";
inline constexpr const char* kLowPowerCore = "LP-E-core";  // a third type that some processors have

// Returns the type of each core, by core number; cores of unknown type are missing.
std::map<int, std::string> ReadCoreTypes(Sysfs& sysfs, const std::vector<int>& cores);

// Returns the name of an Arm core, for example "Cortex-A72" for 0x41 and 0xd08; "" if the table lacks it.
std::string ArmCoreName(int64_t implementer, int64_t part);

// Returns whether a core of this name issues its instructions in the order of the program; false if unknown.
bool IsInOrder(std::string_view core);

// Returns the type of an Intel core from the cpuid registers that were read on it: EDX of leaf 7 and EAX of
// leaf 0x1a. "" if the processor is not hybrid.
std::string HybridTypeOf(uint32_t leaf7_edx, uint32_t leaf1a_eax);

}  // namespace mete
