// The choice of the instruction set (the target) of the fast kernels, and measurements of what a core reaches
// on it.
//
// A kernel's plan (PlanGemm, PlanConv, ...) holds the code of the target that is active when the plan is
// made. Packing and running follow the plan, so a later ForceTarget() cannot mix layouts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mete {

// Returns the targets that are compiled in and that this processor supports, best first: some of "avx512",
// "avx2", "sse4", "neon", "scalar".
std::vector<std::string> AvailableTargets();

const char* ActiveTarget();

// Makes all later plans of the process use the target `name`; "" or "best" selects the best one. Throws
// FAILED_PRECONDITION, with a list of the available targets. No other thread may make plans during the call.
void ForceTarget(std::string_view name);

// Measures what one core reaches on the active target: f32 GFLOP/s of independent multiply-adds in registers
// (a multiply-add counts as two). Returns the best of several short runs; takes about 20 ms.
double MeasurePeakFlops();

// Measures the GB/s that one core reads from a buffer of `bytes` (the default is larger than one core's slice
// of most last-level caches). Allocates the buffer; takes about 50 ms.
double MeasureReadBandwidth(size_t bytes = size_t{64} << 20);

// Evicts these bytes from all caches on x86. Does nothing on processors without such an instruction.
void EvictFromCaches(const void* data, size_t bytes);

}  // namespace mete
