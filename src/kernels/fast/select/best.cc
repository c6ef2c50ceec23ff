#include "kernels/fast/select/best.h"

#include <algorithm>
#include <limits>

#include "kernels/fast/reduce/fold.h"
#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/select/best.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/vector-inl.h"

#ifndef METE_BEST_ONCE
#define METE_BEST_ONCE
namespace mete {

// Columns of which the best elements and their rows stay in the first cache: 8 KiB.
inline constexpr size_t kBestColumns = 1024;

// `length` rows of `columns` elements, `step` apart.
struct BestColumns {
  const float* from;
  int64_t length, step;
  size_t columns;
  bool largest, last;
};

}  // namespace mete
#endif  // METE_BEST_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Highway's Ne() is false of NaN on some targets.
HWY_INLINE hn::Mask<F32> IsNan(V32 v) { return hn::Not(hn::Eq(v, v)); }

// Returns the place of the first element of a line, or the last one, that equals `best`, or is a NaN.
int64_t PlaceInLine(const BestColumns& line, float best) {
  const F32 d;
  const V32 wanted = hn::Set(d, best);
  const auto length = static_cast<size_t>(line.length);
  const auto is_best = [&](float x) { return x == best || x != x; };
  size_t from = 0, to = length;  // where it is searched one by one
  for (size_t i = 0; i + kLanes <= length; i += kLanes) {
    const size_t at = line.last ? length - i - kLanes : i;
    const V32 v = hn::LoadU(d, line.from + at);
    from = line.last ? 0 : at;
    to = line.last ? at + kLanes : length;
    if (!hn::AllFalse(d, hn::Or(hn::Eq(v, wanted), IsNan(v)))) break;
    if (line.last) to = at;
    else from = at + kLanes;
  }
  if (line.last) {
    while (to > 1 && !is_best(line.from[to - 1])) --to;
    return static_cast<int64_t>(to) - 1;
  }
  while (from + 1 < length && !is_best(line.from[from])) ++from;
  return static_cast<int64_t>(from);
}

// Goes through the rows with the best element of each column so far and its place.
template <bool kLast>
HWY_NOINLINE void PlacesInColumns(const BestColumns& c, int64_t* output) {
  using I32 = hn::RebindToSigned<F32>;
  const F32 d;
  const I32 di;
  const V32 sign = c.largest ? hn::Zero(d) : hn::SignBit(d);
  HWY_ALIGN float best[kBestColumns];
  HWY_ALIGN int32_t place[kBestColumns];
  const size_t padded = (c.columns + kLanes - 1) / kLanes * kLanes;
  std::fill_n(best, padded, -std::numeric_limits<float>::infinity());
  std::fill_n(place, padded, 0);
  for (int64_t r = 0; r < c.length; ++r) {
    const float* row = c.from + r * c.step;
    const auto here = hn::Set(di, static_cast<int32_t>(r));
    for (size_t i = 0; i < c.columns; i += kLanes) {
      const V32 v = hn::Xor(LoadN(d, row + i, c.columns - i), sign), old = hn::Load(d, best + i);
      const auto nan = IsNan(v);
      const auto better =
          kLast ? hn::Or(hn::Ge(v, old), nan) : hn::Or(hn::Gt(v, old), hn::And(nan, hn::Eq(old, old)));
      hn::Store(hn::IfThenElse(better, v, old), d, best + i);
      hn::Store(hn::IfThenElse(hn::RebindMask(di, better), here, hn::Load(di, place + i)), di, place + i);
    }
  }
  std::copy_n(place, c.columns, output);
}

void PlacesOf(const BestColumns& columns, int64_t* output) {
  if (columns.last) PlacesInColumns<true>(columns, output);
  else PlacesInColumns<false>(columns, output);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(PlaceInLine);
HWY_EXPORT(PlacesOf);

namespace {

int64_t ChunksOf(const BestShape& s) { return (s.inner + int64_t(kBestColumns) - 1) / int64_t(kBestColumns); }

}  // namespace

int64_t BestUnits(const BestShape& s) { return s.outer * ChunksOf(s); }

void RunBest(const BestShape& s, const float* input, Range units, int64_t* output) {
  const Folding folding{FoldKind::kMax, s.largest ? 0 : Folding::kSign};
  const int64_t chunks = ChunksOf(s);
  for (int64_t u = units.begin; u < units.end; ++u) {
    const int64_t outer = u / chunks, column = u % chunks * int64_t(kBestColumns);
    const float* from = input + outer * s.length * s.inner + column;
    const int64_t columns = std::min(int64_t(kBestColumns), s.inner - column);
    const BestColumns part{from, s.length, s.inner, static_cast<size_t>(columns), s.largest, s.last};
    int64_t* to = output + outer * s.inner + column;
    if (s.inner > 1) {
      HWY_DYNAMIC_DISPATCH(PlacesOf)(part, to);
      continue;
    }
    double best = folding.start();
    FoldRuns(folding, from, 1, s.length, s.length, nullptr, &best);
    *to = HWY_DYNAMIC_DISPATCH(PlaceInLine)(part, static_cast<float>(s.largest ? best : -best));
  }
}

}  // namespace mete
#endif  // HWY_ONCE
