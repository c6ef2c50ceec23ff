// Which instruction set the fast kernels run on, and what it can do at best.
//
// A kernel's plan (PlanGemm, PlanConv, ...) captures the code of the target that is active when the plan
// is made; packing and running follow the plan, so a later ForceTarget cannot mix layouts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mete {

// Compiled in and supported by this processor, best first: some of "avx512", "avx2", "sse4", "neon",
// "scalar".
std::vector<std::string> AvailableTargets();

const char* ActiveTarget();

// Plans made from now on use `name`; "" or "best" returns to the best one. Throws FAILED_PRECONDITION that
// lists the available ones. Process-wide; not to be called while another thread makes plans.
void ForceTarget(std::string_view name);

// What one core reaches on the active target: f32 GFLOP/s of independent multiply-adds held in registers
// (a multiply-add counts as two). Takes about 20 ms; the best of several short runs.
double MeasurePeakFlops();

// GB/s that one core reads from a buffer of `bytes` (default: larger than most last-level slices of one
// core). Allocates that buffer; about 50 ms.
double MeasureReadBandwidth(size_t bytes = size_t{64} << 20);

// Drops these bytes from all caches, where the processor can (x86); elsewhere they stay.
void EvictFromCaches(const void* data, size_t bytes);

}  // namespace mete
