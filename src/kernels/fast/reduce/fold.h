// The inner loops of reductions in f32: contiguous runs become one number each, and rows are folded into one
// row. Terms of the same kind from several calls are folded together.
#pragma once

#include <cstdint>

namespace mete {

enum class FoldKind : uint8_t {
  kSum,      // of the elements, or of their magnitudes
  kSquares,  // the sum of the squares
  kExp,      // the sum of e^(x - shift), where no x is above its shift
  kMax,      // of the elements, or of their negatives; a NaN stays
};

// `bits` are kept of each element of a sum, and flipped of each of a maximum.
struct Folding {
  static constexpr uint32_t kSign = 0x80000000u, kAll = 0xffffffffu;

  FoldKind kind = FoldKind::kSum;
  uint32_t bits = kAll;

  float start() const;  // the fold of no elements
  // Returns what folds the results of this fold.
  Folding joining() const;
};

// `count` runs of `length` elements, `step` elements apart. total[i] receives the fold of itself and of run
// i. shift[i] is that of run i; only kExp has them. A long run is folded in blocks, whose sums are added in
// double: the error is that of as many terms as a lane has in a block, whatever the length.
void FoldRuns(const Folding& folding, const float* from, int64_t count, int64_t step, int64_t length,
              const float* shift, double* total);

// The most terms that follow one another in a lane of a sum by FoldRuns().
int64_t TermsOfRunLane();

// `rows` rows of `columns` elements, `step` elements apart. total[c] receives the fold of itself and of
// column c. shift[c] is that of column c; only kExp has them. Rows are added one after another, so the caller
// divides long sums.
void FoldRows(const Folding& folding, const float* from, int64_t rows, int64_t step, int64_t columns,
              const float* shift, float* total);

// Returns how many rows FoldRows() folds at a time if they lie one behind the other: narrow ones are one row.
int64_t RowsAtATime(const Folding& folding, int64_t step, int64_t columns);

}  // namespace mete
