#include "kernels/fast/reduce/reduce.h"

#include <algorithm>
#include <cmath>

#include "kernels/fast/reduce/fold.h"

namespace mete {
namespace {

// The columns of a unit: their totals are two times 4 KiB of the stack, which stay in the first cache.
constexpr int64_t kColumns = 1024;
// Outputs of runs that are folded in one call.
constexpr int64_t kRuns = 256;
// Rows that are added in f32 before their sum is added to the total. Sums of n terms have the error of 512 +
// n / 512 additions.
constexpr int64_t kRowsOfBlock = 512;
// Below this sum of squares some squares may have been too small for f32, and their error counts.
constexpr float kLeastSquares = 0x1p-100f;

int64_t SizeOfAll(const std::vector<ReduceDim>& dims) {
  int64_t size = 1;
  for (const ReduceDim& dim : dims) size *= dim.size;
  return size;
}

// Returns the offset of an index over all the dimensions, of which the last one is the innermost.
int64_t OffsetOf(const std::vector<ReduceDim>& dims, int64_t index) {
  int64_t offset = 0;
  for (size_t i = dims.size(); i-- > 0; index /= dims[i].size) offset += index % dims[i].size * dims[i].step;
  return offset;
}

int64_t ChunksOf(const ReduceShape& s) { return (s.columns + kColumns - 1) / kColumns; }

Folding FoldingOf(ReduceFunction function) {
  switch (function) {
    case ReduceFunction::kMax: return {FoldKind::kMax, 0};
    case ReduceFunction::kMin: return {FoldKind::kMax, Folding::kSign};
    case ReduceFunction::kL1: return {FoldKind::kSum, Folding::kAll ^ Folding::kSign};
    case ReduceFunction::kL2:
    case ReduceFunction::kSumSquare: return {FoldKind::kSquares};
    default: return {FoldKind::kSum};
  }
}

// Calls f(offset, rows) for the rows of the terms that lie at equal distances.
template <class F>
void ForRows(const ReduceShape& s, Range terms, const F& f) {
  for (int64_t at = terms.begin, n; at < terms.end; at += n) {
    const int64_t row = at % s.rows;
    n = std::min(s.rows - row, terms.end - at);
    f(OffsetOf(s.reduced, at / s.rows) + row * s.row_step, n);
  }
}

// Computes an output in double, element by element, as the reference does: products, and what f32 has no
// range for.
float InDouble(const ReduceShape& s, const float* input, int64_t output) {
  const bool product = s.function == ReduceFunction::kProd;
  const bool squares = s.function == ReduceFunction::kL2 || s.function == ReduceFunction::kSumSquare;
  const bool magnitudes = s.function == ReduceFunction::kL1;
  const float* from = input + OffsetOf(s.kept, output / s.columns) + output % s.columns;
  double total = product ? 1 : 0;
  ForRows(s, {0, s.terms()}, [&](int64_t offset, int64_t rows) {
    for (int64_t r = 0; r < rows; ++r) {
      const double x = from[offset + r * s.row_step];
      if (product) total *= x;
      else total += squares ? x * x : magnitudes ? std::abs(x) : x;
    }
  });
  switch (s.function) {
    case ReduceFunction::kMean: return float(total / double(s.terms()));
    case ReduceFunction::kL2: return float(std::sqrt(total));
    case ReduceFunction::kLogSum: return float(std::log(total));
    default: return float(total);
  }
}

// Makes the output of its total. A sum that f32 has no range for is computed again.
float Finished(const ReduceShape& s, const float* input, int64_t output, float total) {
  switch (s.function) {
    case ReduceFunction::kMax: return total;
    case ReduceFunction::kMin: return -total;
    case ReduceFunction::kL2:
    case ReduceFunction::kSumSquare:
      if (total < kLeastSquares) return InDouble(s, input, output);
      break;
    default: break;
  }
  if (!std::isfinite(total)) return InDouble(s, input, output);
  switch (s.function) {
    case ReduceFunction::kMean: return float(double(total) / double(s.terms()));
    case ReduceFunction::kL2: return std::sqrt(total);
    case ReduceFunction::kLogSum: return std::log(total);
    default: return total;
  }
}

// A part of the outputs of a unit, or of several, that one call folds.
struct Slice {
  int64_t output = 0, count = 0;
  const float* from = nullptr;
  int64_t step = 1;  // between the runs of the outputs
};

template <class F>
void ForSlices(const ReduceShape& s, const float* input, Range units, const F& f) {
  if (s.columns > 1) {
    const int64_t chunks = ChunksOf(s);
    for (int64_t u = units.begin; u < units.end; ++u) {
      const int64_t column = u % chunks * kColumns;
      f(Slice{u / chunks * s.columns + column, std::min(kColumns, s.columns - column),
              input + OffsetOf(s.kept, u / chunks) + column});
    }
    return;
  }
  const ReduceDim inner = s.kept.empty() ? ReduceDim{} : s.kept.back();
  for (int64_t o = units.begin, n; o < units.end; o += n) {
    n = std::min({kRuns, inner.size - o % inner.size, units.end - o});
    f(Slice{o, n, input + OffsetOf(s.kept, o), inner.step});
  }
}

void FoldColumns(const ReduceShape& s, const Folding& folding, const Slice& slice, Range terms,
                 const float* shift, float* total) {
  const int64_t limit = kRowsOfBlock * RowsAtATime(folding, s.row_step, s.columns);
  float block[kColumns];
  int64_t folded = 0;
  std::fill_n(block, slice.count, folding.start());
  const auto end_block = [&] {
    FoldRows(folding.joining(), block, 1, kColumns, slice.count, nullptr, total);
    std::fill_n(block, slice.count, folding.start());
    folded = 0;
  };
  std::fill_n(total, slice.count, folding.start());
  ForRows(s, terms, [&](int64_t offset, int64_t rows) {
    for (int64_t r = 0, n; r < rows; r += n) {
      n = std::min(rows - r, limit - folded);
      FoldRows(folding, slice.from + offset + r * s.row_step, n, s.row_step, slice.count, shift, block);
      folded += n;
      if (folded == limit) end_block();
    }
  });
  if (folded > 0) end_block();
}

// Folds the terms of the slice's outputs to total[0] and so on.
void FoldSlice(const ReduceShape& s, const Folding& folding, const Slice& slice, Range terms,
               const float* shift, float* total) {
  if (s.columns > 1) return FoldColumns(s, folding, slice, terms, shift, total);
  double sums[kRuns];
  std::fill_n(sums, slice.count, double(folding.start()));
  ForRows(s, terms, [&](int64_t offset, int64_t length) {
    FoldRuns(folding, slice.from + offset, slice.count, slice.step, length, shift, sums);
  });
  std::copy_n(sums, slice.count, total);
}

// The largest term is subtracted first, so that no exponential is above 1.
void LogSumExpOf(const ReduceShape& s, const Slice& slice, float* output) {
  static_assert(kRuns <= kColumns);
  float most[kColumns];
  const Range all{0, s.terms()};
  FoldSlice(s, {FoldKind::kMax, 0}, slice, all, nullptr, most);
  FoldSlice(s, {FoldKind::kExp}, slice, all, most, output);
  for (int64_t i = 0; i < slice.count; ++i)
    output[i] = std::isfinite(most[i]) ? float(double(most[i]) + std::log(double(output[i]))) : most[i];
}

}  // namespace

int64_t ReduceShape::terms() const { return SizeOfAll(reduced) * rows; }
int64_t ReduceShape::outputs() const { return SizeOfAll(kept) * columns; }

ReduceShape MakeReduceShape(ReduceFunction function, const std::vector<int64_t>& sizes,
                            const std::vector<bool>& reduced) {
  ReduceShape s;
  s.function = function;
  bool last_reduced = false, first = true;
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0; step *= sizes[i]) {  // from the innermost one
    if (sizes[i] == 1) continue;
    std::vector<ReduceDim>& dims = reduced[i] ? s.reduced : s.kept;
    if (!first && last_reduced == reduced[i]) dims.back().size *= sizes[i];
    else dims.push_back({sizes[i], step});
    last_reduced = reduced[i];
    first = false;
  }
  if (!s.kept.empty() && s.kept.front().step == 1) {
    s.columns = s.kept.front().size;
    s.kept.erase(s.kept.begin());
  }
  if (!s.reduced.empty()) {
    s.rows = s.reduced.front().size;
    s.row_step = s.reduced.front().step;
    s.reduced.erase(s.reduced.begin());
  }
  std::reverse(s.kept.begin(), s.kept.end());
  std::reverse(s.reduced.begin(), s.reduced.end());
  return s;
}

int64_t ReduceUnits(const ReduceShape& s) {
  return s.columns > 1 ? SizeOfAll(s.kept) * ChunksOf(s) : s.outputs();
}

bool ReducesInParts(ReduceFunction function) {
  return function != ReduceFunction::kLogSumExp && function != ReduceFunction::kProd;
}

void RunReducePart(const ReduceShape& s, const float* input, Range units, Range terms, float* part) {
  ForSlices(s, input, units, [&](const Slice& slice) {
    FoldSlice(s, FoldingOf(s.function), slice, terms, nullptr, part + slice.output);
  });
}

void RunReduce(const ReduceShape& s, const float* input, Range units, float* output) {
  ForSlices(s, input, units, [&](const Slice& slice) {
    float* to = output + slice.output;
    if (s.function == ReduceFunction::kLogSumExp) return LogSumExpOf(s, slice, to);
    if (s.function != ReduceFunction::kProd)
      FoldSlice(s, FoldingOf(s.function), slice, {0, s.terms()}, nullptr, to);
    for (int64_t i = 0; i < slice.count; ++i)
      to[i] = s.function == ReduceFunction::kProd ? InDouble(s, input, slice.output + i)
                                                  : Finished(s, input, slice.output + i, to[i]);
  });
}

void JoinReduceParts(const ReduceShape& s, const float* input, const float* part, int64_t parts,
                     float* output) {
  const int64_t outputs = s.outputs();
  std::copy_n(part, outputs, output);
  FoldRows(FoldingOf(s.function).joining(), part + outputs, parts - 1, outputs, outputs, nullptr, output);
  for (int64_t i = 0; i < outputs; ++i) output[i] = Finished(s, input, i, output[i]);
}

}  // namespace mete
