// Runs a fused program of element-wise steps (base/fused.h) in f32 over any range of its output. It processes
// a few hundred elements at a time, so that intermediate results never leave the first-level cache.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/fused.h"
#include "kernels/fast/elementwise/broadcast.h"
#include "kernels/fast/epilogue.h"

namespace mete {

struct ElementwisePlan {
  static constexpr int kSlots = 24;       // working vectors, which take 24 KiB of the caller's stack
  static constexpr int64_t kChunk = 256;  // elements of a working vector
  FusedProgram program;
  std::array<BroadcastInput, FusedProgram::kMaxInputs> inputs{};
  // The working vector of each register (inputs first), or -1 for a kFull input, which is read in place.
  std::array<int8_t, FusedProgram::kMaxInputs + FusedProgram::kMaxSteps> slot{};
  // Of the inputs that are repeated as a whole, if it is short and they share it; 0: of none.
  int64_t period = 0;
};

// Plans a program. Returns false if the program needs more than kSlots values at once; the caller must then
// run it in another way. Requires program.steps > 0 and inputs.size() == program.inputs.
bool PlanElementwise(const FusedProgram& program, std::span<const BroadcastInput> inputs,
                     ElementwisePlan* plan);

// Computes the output elements [range.begin, range.end). `inputs` and `output` point at the first elements of
// the whole tensors; the output may be one of the kFull inputs.
void RunElementwise(const ElementwisePlan& plan, const float* const* inputs, Range range, float* output);

}  // namespace mete
