// Reductions of f32 over any axes. Neighbouring axes that are all kept or all reduced are one, so that a few
// dimensions remain, and the innermost ones decide the inner loop (fold.h).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/fast/epilogue.h"

namespace mete {

// As the operators Reduce... of ONNX.
enum class ReduceFunction : uint8_t {
  kMean,
  kSum,
  kMax,
  kMin,
  kProd,
  kL1,
  kL2,
  kSumSquare,
  kLogSum,
  kLogSumExp,
};

struct ReduceDim {
  int64_t size = 1, step = 1;  // step: elements of the input
};

// The kept dimensions are `kept`, then `columns` contiguous elements; the reduced ones are `reduced`, then
// `rows`. Where the innermost dimension is reduced, there is one column, and a row is an element. The lists
// begin with the outermost dimension. There are elements in the input.
struct ReduceShape {
  ReduceFunction function = ReduceFunction::kMean;
  std::vector<ReduceDim> kept, reduced;
  int64_t rows = 1, row_step = 1;
  int64_t columns = 1;

  int64_t terms() const;    // the elements that become one
  int64_t outputs() const;  // those of the output
};

// `reduced` has one element for each size; no size is 0.
ReduceShape MakeReduceShape(ReduceFunction function, const std::vector<int64_t>& sizes,
                            const std::vector<bool>& reduced);

// A unit is the least that is computed at a time: an output of runs, or some columns.
int64_t ReduceUnits(const ReduceShape& shape);
// Whether several parts of the terms may be reduced apart. A logarithm of exponentials needs the maximum of
// all terms first.
bool ReducesInParts(ReduceFunction function);

void RunReduce(const ReduceShape& shape, const float* input, Range units, float* output);

// Folds the terms in `terms` alone, to the places in `part` that the outputs have in the output.
void RunReducePart(const ReduceShape& shape, const float* input, Range units, Range terms, float* part);
// Makes the outputs of `parts` such parts, which cover all terms and lie one after another.
void JoinReduceParts(const ReduceShape& shape, const float* input, const float* part, int64_t parts,
                     float* output);

}  // namespace mete
