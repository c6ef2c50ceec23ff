#include "kernels/fast/reduce/fold.h"

#include <algorithm>
#include <limits>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/reduce/fold.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/math/math-inl.h"

#ifndef METE_FOLD_ONCE
#define METE_FOLD_ONCE
namespace mete {

// The elements of a block of a run. With 4 chains, a lane adds 64 of them on AVX-512 and 1024 without
// vectors.
inline constexpr size_t kFoldBlock = 4096;
inline constexpr int64_t kFoldChains = 4;

struct FoldedRuns {
  const float* from;
  int64_t count, step;
  size_t length;
  const float* shift;
};

struct FoldedRows {
  const float* from;
  int64_t rows, step;
  size_t columns;
  const float* shift;
};

}  // namespace mete
#endif  // METE_FOLD_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// The maximum, in which a NaN on either side stays.
HWY_INLINE V32 MostOf(V32 best, V32 v) { return hn::IfThenElse(hn::Eq(v, v), AtLeast(v, best), v); }

template <FoldKind kKind>
HWY_INLINE V32 Join(V32 a, V32 b) {
  return kKind == FoldKind::kMax ? MostOf(a, b) : hn::Add(a, b);
}

// Folds the term of x. `other` is the shift, or the bits.
template <FoldKind kKind>
HWY_INLINE V32 Into(V32 sum, V32 x, V32 other) {
  if constexpr (kKind == FoldKind::kSum) return hn::Add(sum, hn::And(x, other));
  if constexpr (kKind == FoldKind::kSquares) return hn::MulAdd(x, x, sum);
  if constexpr (kKind == FoldKind::kExp) return hn::Add(sum, ExpBelow0(hn::Sub(x, other)));
  return MostOf(sum, hn::Xor(x, other));
}

template <FoldKind kKind>
HWY_INLINE float JoinLanes(V32 v) {
  const F32 d;
  if constexpr (kKind != FoldKind::kMax) return hn::GetLane(hn::SumOfLanes(d, v));
  if (!hn::AllTrue(d, hn::Eq(v, v))) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(hn::MaxOfLanes(d, v));
}

HWY_INLINE V32 BitsOf(const Folding& folding) {
  const F32 d;
  return hn::BitCast(d, hn::Set(hn::RebindToUnsigned<F32>(), folding.bits));
}

template <FoldKind kKind>
HWY_INLINE float FoldBlock(const float* from, size_t length, V32 other, V32 start) {
  const F32 d;
  V32 s0 = start, s1 = start, s2 = start, s3 = start;
  size_t i = 0;
  for (; i + 4 * kLanes <= length; i += 4 * kLanes) {
    s0 = Into<kKind>(s0, hn::LoadU(d, from + i), other);
    s1 = Into<kKind>(s1, hn::LoadU(d, from + i + kLanes), other);
    s2 = Into<kKind>(s2, hn::LoadU(d, from + i + 2 * kLanes), other);
    s3 = Into<kKind>(s3, hn::LoadU(d, from + i + 3 * kLanes), other);
  }
  for (; i + kLanes <= length; i += kLanes) s0 = Into<kKind>(s0, hn::LoadU(d, from + i), other);
  if (i < length)
    s1 =
        hn::IfThenElse(hn::FirstN(d, length - i), Into<kKind>(s1, LoadN(d, from + i, length - i), other), s1);
  return JoinLanes<kKind>(Join<kKind>(Join<kKind>(s0, s1), Join<kKind>(s2, s3)));
}

template <FoldKind kKind>
HWY_NOINLINE void Runs(const Folding& folding, const FoldedRuns& runs, double* total) {
  const V32 bits = BitsOf(folding), start = Num(folding.start());
  for (int64_t i = 0; i < runs.count; ++i) {
    const float* from = runs.from + i * runs.step;
    const V32 other = kKind == FoldKind::kExp ? Num(runs.shift[i]) : bits;
    for (size_t at = 0; at < runs.length; at += kFoldBlock) {
      const double x = FoldBlock<kKind>(from + at, std::min(kFoldBlock, runs.length - at), other, start);
      if constexpr (kKind != FoldKind::kMax) total[i] += x;
      else total[i] = x > total[i] || x != x ? x : total[i];
    }
  }
}

void FoldRunsOf(const Folding& folding, const FoldedRuns& runs, double* total) {
  switch (folding.kind) {
    case FoldKind::kSum: return Runs<FoldKind::kSum>(folding, runs, total);
    case FoldKind::kSquares: return Runs<FoldKind::kSquares>(folding, runs, total);
    case FoldKind::kExp: return Runs<FoldKind::kExp>(folding, runs, total);
    case FoldKind::kMax: return Runs<FoldKind::kMax>(folding, runs, total);
  }
}

// Rows are read in their order, several at a time, so that the totals are read and written less often.
template <FoldKind kKind>
HWY_NOINLINE void Rows(const Folding& folding, const FoldedRows& rows, float* total) {
  constexpr int64_t kAtATime = 4;
  const F32 d;
  const V32 bits = BitsOf(folding), start = Num(folding.start());
  const auto other = [&](size_t c)
                         HWY_ATTR { return kKind == FoldKind::kExp ? hn::LoadU(d, rows.shift + c) : bits; };
  const size_t whole = rows.columns / kLanes * kLanes;
  int64_t r = 0;
  for (; r + kAtATime <= rows.rows; r += kAtATime) {
    const float *r0 = rows.from + r * rows.step, *r1 = r0 + rows.step, *r2 = r1 + rows.step,
                *r3 = r2 + rows.step;
    for (size_t c = 0; c < whole; c += kLanes) {
      const V32 o = other(c), old = hn::LoadU(d, total + c);
      const V32 a = Into<kKind>(Into<kKind>(start, hn::LoadU(d, r0 + c), o), hn::LoadU(d, r1 + c), o);
      const V32 b = Into<kKind>(Into<kKind>(old, hn::LoadU(d, r2 + c), o), hn::LoadU(d, r3 + c), o);
      hn::StoreU(Join<kKind>(a, b), d, total + c);
    }
  }
  for (; r < rows.rows; ++r)
    for (size_t c = 0; c < whole; c += kLanes)
      hn::StoreU(Into<kKind>(hn::LoadU(d, total + c), hn::LoadU(d, rows.from + r * rows.step + c), other(c)),
                 d, total + c);
  if (whole == rows.columns) return;
  const size_t left = rows.columns - whole;
  const V32 o = kKind == FoldKind::kExp ? LoadN(d, rows.shift + whole, left) : bits;
  V32 sum = LoadN(d, total + whole, left);
  for (r = 0; r < rows.rows; ++r)
    sum = Into<kKind>(sum, LoadN(d, rows.from + r * rows.step + whole, left), o);
  StoreN(sum, d, total + whole, left);
}

void FoldRowsOf(const Folding& folding, const FoldedRows& rows, float* total) {
  switch (folding.kind) {
    case FoldKind::kSum: return Rows<FoldKind::kSum>(folding, rows, total);
    case FoldKind::kSquares: return Rows<FoldKind::kSquares>(folding, rows, total);
    case FoldKind::kExp: return Rows<FoldKind::kExp>(folding, rows, total);
    case FoldKind::kMax: return Rows<FoldKind::kMax>(folding, rows, total);
  }
}

int64_t LanesOfFold() { return static_cast<int64_t>(kLanes); }

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(FoldRunsOf);
HWY_EXPORT(FoldRowsOf);
HWY_EXPORT(LanesOfFold);

namespace {

// Contiguous rows of fewer columns are folded as one row of about as many. It has several vectors on each
// target, so that the additions of one do not wait for those of the other.
constexpr int64_t kWideRow = 256;

}  // namespace

float Folding::start() const {
  return kind == FoldKind::kMax ? -std::numeric_limits<float>::infinity() : 0.0f;
}

Folding Folding::joining() const {
  return kind == FoldKind::kMax ? Folding{FoldKind::kMax, 0} : Folding{FoldKind::kSum, kAll};
}

void FoldRuns(const Folding& folding, const float* from, int64_t count, int64_t step, int64_t length,
              const float* shift, double* total) {
  HWY_DYNAMIC_DISPATCH(FoldRunsOf)
  (folding, {from, count, step, static_cast<size_t>(length), shift}, total);
}

int64_t TermsOfRunLane() {
  return static_cast<int64_t>(kFoldBlock) / kFoldChains / HWY_DYNAMIC_DISPATCH(LanesOfFold)();
}

int64_t RowsAtATime(const Folding& folding, int64_t step, int64_t columns) {
  if (step != columns || folding.kind == FoldKind::kExp) return 1;  // each column has its shift
  return std::max<int64_t>(1, kWideRow / columns);
}

void FoldRows(const Folding& folding, const float* from, int64_t rows, int64_t step, int64_t columns,
              const float* shift, float* total) {
  const int64_t group = RowsAtATime(folding, step, columns), groups = rows / group;
  // A single group would be folded twice.
  if (group > 1 && groups > 1) {
    float wide[kWideRow];
    const int64_t width = group * columns;
    std::fill_n(wide, width, folding.start());
    HWY_DYNAMIC_DISPATCH(FoldRowsOf)
    (folding, {from, groups, width, static_cast<size_t>(width), nullptr}, wide);
    HWY_DYNAMIC_DISPATCH(FoldRowsOf)
    (folding.joining(), {wide, group, columns, static_cast<size_t>(columns), nullptr}, total);
    from += groups * width;
    rows -= groups * group;
  }
  HWY_DYNAMIC_DISPATCH(FoldRowsOf)
  (folding, {from, rows, step, static_cast<size_t>(columns), shift}, total);
}

}  // namespace mete
#endif  // HWY_ONCE
