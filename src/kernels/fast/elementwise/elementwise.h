// Runs a fused program of element-wise steps (base/fused.h) in f32 over any range of its output, a few
// hundred elements at a time, so that what lies between the steps never leaves the first-level cache.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/fused.h"
#include "kernels/fast/epilogue.h"

namespace mete {

// How an input meets the output's elements, in memory order. Other broadcasts are not for this kernel.
enum class Broadcast : uint8_t {
  kFull,     // one element for each
  kScalar,   // one element for all
  kChannel,  // element i % channels: the last axis
};

struct ElementwisePlan {
  static constexpr int kSlots = 24;       // working vectors: 24 KiB of the caller's stack
  static constexpr int64_t kChunk = 256;  // elements in each
  FusedProgram program;
  std::array<Broadcast, FusedProgram::kMaxInputs> spread{};
  int64_t channels = 1;  // the period of kChannel
  // Working vector of each register (inputs first): -1 for a full input, which is read in place.
  std::array<int8_t, FusedProgram::kMaxInputs + FusedProgram::kMaxSteps> slot{};
};

// False if the program needs more than kSlots values at once: run it another way then.
// program.steps > 0, spreads.size() == program.inputs, channels > 0.
bool PlanElementwise(const FusedProgram& program, std::span<const Broadcast> spreads, int64_t channels,
                     ElementwisePlan* plan);

// Output elements [range.begin, range.end). `inputs` and `output` point at the whole tensors' first elements;
// the output may be one of the full inputs.
void RunElementwise(const ElementwisePlan& plan, const float* const* inputs, Range range, float* output);

}  // namespace mete
