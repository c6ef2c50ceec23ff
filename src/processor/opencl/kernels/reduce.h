// Reductions over any axes as text, and the pools over whole images among them.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/fast/reduce/reduce.h"
#include "processor/opencl/kernels/kernel_text.h"

namespace mete::opencl {

struct ReduceSpec {
  ReduceFunction function = ReduceFunction::kMean;
  std::vector<int64_t> sizes;  // of the input, which has no gaps
  std::vector<bool> reduced;   // one for each size; the output has the other sizes in their order
  DType input = DType::kF32, output = DType::kF32;
};

// How the work is dealt to work-items.
struct ReduceTile {
  int vector = 4;  // elements that a work-item reads at once, at most
  int lanes = 1;   // work-items that share an output, a power of two; 1: no local memory is needed
};

// Arguments: input, output. All sums are in f32. The tile's `lanes` become fewer where there are not as many
// elements to reduce.
KernelText ReduceKernel(const ReduceSpec& spec, const ReduceTile& tile);

// Arguments: input, output, whose elements are i64: the index of the largest element along the one axis that
// is reduced, or the smallest. `function` is kMax or kMin. Of equal elements the first one counts, or the
// last; a NaN is above, and below, all numbers.
KernelText ArgKernel(const ReduceSpec& spec, int lanes, bool last);

// Returns a tile for a device: on a CPU an output needs no second work-item, on others work-items share
// outputs where these are few.
ReduceTile ChooseReduceTile(const ReduceSpec& spec, bool is_cpu, int vector);

}  // namespace mete::opencl
