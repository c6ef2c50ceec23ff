// The matrix-vector product y = activation(W x + b + residual) of an x in f32 and weights in 8 or 4 bits. A
// product of one row waits for its weights, so that fewer bits of them take less time.
//
// Weights are rounded in groups of kGroup neighbouring elements of a sum, each with a scale of its own:
//   weight = scale * q, scale = (largest magnitude of the group) / most, q an integer in [-most, most]
// where most is 127 or 7. All arithmetic is in f32.
//
// Weights that a file has as integers (base/few_bit_matrix.h) are packed as these, without a rounding: in
// groups that are the file's blocks, with q in [-most - 1, most] and, where there are zero points, an offset:
//   weight = scale * q + offset
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/few_bit_matrix.h"
#include "kernels/fast/epilogue.h"
#include "kernels/fast/gemm/gemm.h"

namespace mete {

struct FewBitsCode;  // the code of one target

// Elements of a group. This value is a guess, between the error, which grows with the group, and the memory
// of the scales: with 64 they take 1/16 of weights of 8 bits and 1/8 of weights of 4 bits.
inline constexpr int64_t kGroup = 64;

struct FewBitsPlan {
  int64_t n = 0, k = 0;    // outputs; length of the sums
  int bits = 8;            // 8 or 4
  int64_t group = kGroup;  // elements of a sum with one scale
  bool offsets = false;    // each group has an offset, too
  int64_t width = 0;       // outputs of a panel
  int64_t panels = 0;
  const FewBitsCode* code = nullptr;

  int most() const { return bits == 8 ? 127 : 7; }
};

// Requires n > 0, k > 0, and 8 or 4 bits.
FewBitsPlan PlanFewBits(int64_t n, int64_t k, int bits);
// The plan for weights of a file. Requires blocks of a multiple of 16 elements.
FewBitsPlan PlanFewBits(const FewBitMatrix& weights);

const char* TargetOf(const FewBitsPlan& plan);

size_t PackedFewBitsBytes(const FewBitsPlan& plan);

// Rounds and packs the given panels, each at a place that does not depend on the others. `packed` has
// PackedFewBitsBytes() bytes, aligned to 4 bytes.
void PackFewBits(const FewBitsPlan& plan, const GemmWeights& weights, Range panels, void* packed);

// The same for weights of a file, which are those of the plan.
void PackFewBits(const FewBitsPlan& plan, const FewBitMatrix& weights, Range panels, void* packed);

// Returns the weight that is packed for output n and element k of the sum.
float FewBitsWeight(const FewBitsPlan& plan, const void* packed, int64_t n, int64_t k);

// Computes the outputs of the given panels. Pointers are those of whole vectors. The bits do not depend on
// the blocks.
void RunFewBits(const FewBitsPlan& plan, const float* x, const void* packed, const Epilogue& epilogue,
                Range panels, float* y);

}  // namespace mete
