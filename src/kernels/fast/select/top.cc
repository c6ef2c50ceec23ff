#include "kernels/fast/select/top.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/select/top.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/vector-inl.h"

#ifndef METE_TOP_ONCE
#define METE_TOP_ONCE
namespace mete {
namespace {

// Returns a number by which elements are ordered as the answer is: the first has the largest. `x` is negated
// where the smallest are asked for; a NaN is then the last.
uint64_t KeyOf(float x, uint32_t index, bool largest) {
  constexpr uint32_t kSign = 0x80000000u;
  const auto bits = std::bit_cast<uint32_t>(x + 0.0f);  // -0 equals 0
  uint32_t order = bits & kSign ? ~bits : bits | kSign;
  if (x != x) order = largest ? ~uint32_t{0} : 0;
  return uint64_t{order} << 32 | (~uint32_t{0} - index);
}

}  // namespace

struct TopLine {
  const float* from;
  size_t length;
  bool largest;
};

}  // namespace mete
#endif  // METE_TOP_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Elements are negated where the smallest are asked for.
HWY_INLINE V32 SignOf(const TopLine& line) { return line.largest ? hn::Zero(F32()) : hn::SignBit(F32()); }

// Element i belongs to group i modulo `groups`, which is a multiple of kLanes. Writes the maxima of the
// groups, without NaN; what is behind the last whole vector belongs to none.
void GroupMaxima(const TopLine& line, size_t groups, float* maxima) {
  const F32 d;
  const V32 sign = SignOf(line);
  std::fill_n(maxima, groups, -std::numeric_limits<float>::infinity());
  for (size_t i = 0, g = 0; i + kLanes <= line.length;
       i += kLanes, g = g + kLanes == groups ? 0 : g + kLanes) {
    const V32 v = hn::Xor(hn::LoadU(d, line.from + i), sign), best = hn::LoadU(d, maxima + g);
    hn::StoreU(hn::IfThenElse(hn::Gt(v, best), v, best), d, maxima + g);
  }
}

// Returns a number that k maxima are not below: the k-th largest, or less where some are equal.
float BoundOfFew(const float* maxima, size_t groups, size_t k) {
  const F32 d;
  const V32 none = hn::Set(d, -std::numeric_limits<float>::infinity());
  constexpr size_t kMostVectors = 8;
  V32 left[kMostVectors], most = none;
  const size_t vectors = groups / kLanes;
  for (size_t v = 0; v < vectors; ++v) left[v] = hn::LoadU(d, maxima + v * kLanes);
  for (size_t round = 0; round < k; ++round) {
    most = left[0];
    for (size_t v = 1; v < vectors; ++v) most = hn::Max(most, left[v]);
    most = hn::MaxOfLanes(d, most);
    for (size_t v = 0; v < vectors; ++v) left[v] = hn::IfThenElse(hn::Eq(left[v], most), none, left[v]);
  }
  return hn::GetLane(most);
}

// Writes the indices of the elements that are not below the bound; returns their number. What is written
// behind them, up to a vector, has no meaning.
size_t CollectIndices(const TopLine& line, float bound, uint32_t* indices) {
  const F32 d;
  const hn::RebindToUnsigned<F32> du;
  const V32 sign = SignOf(line), least = hn::Set(d, bound);
  size_t count = 0, i = 0;
  for (; i + kLanes <= line.length; i += kLanes) {
    const V32 v = hn::Xor(hn::LoadU(d, line.from + i), sign);
    const auto found = hn::Not(hn::Lt(v, least));  // true of a NaN
    if (hn::AllFalse(d, found)) continue;
    count += hn::CompressStore(hn::Iota(du, static_cast<uint32_t>(i)), hn::RebindMask(du, found), du,
                               indices + count);
  }
  for (; i < line.length; ++i) {
    indices[count] = static_cast<uint32_t>(i);
    count += !((line.largest ? line.from[i] : -line.from[i]) < bound);
  }
  return count;
}

size_t LanesOfTop() { return kLanes; }

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(GroupMaxima);
HWY_EXPORT(BoundOfFew);
HWY_EXPORT(CollectIndices);
HWY_EXPORT(LanesOfTop);

namespace {

constexpr size_t kMostLanes = 16;
// Up to this k the bound is found by taking the largest maximum k times, from at most 8 vectors. More maxima
// are sorted in part.
constexpr size_t kFew = 16;
// Up to so many keys are ordered by their ranks, without branches, which are hard to predict: 256 comparisons
// take as long as some 10 wrong predictions.
constexpr size_t kRanked = 16;

// There are two to four times as many groups as elements that are asked for: few of the other elements are
// then above the k-th largest maximum, and the maxima cost little beside the elements.
size_t GroupsFor(size_t k) {
  const size_t lanes = HWY_DYNAMIC_DISPATCH(LanesOfTop)();
  return std::max(std::bit_ceil(2 * k), lanes);
}

// Returns a number that at least k elements are not below.
float BoundOf(const TopLine& line, size_t k, float* maxima) {
  const size_t groups = GroupsFor(k);
  if (2 * groups > line.length) return -std::numeric_limits<float>::infinity();
  HWY_DYNAMIC_DISPATCH(GroupMaxima)(line, groups, maxima);
  if (k <= kFew && groups <= 8 * HWY_DYNAMIC_DISPATCH(LanesOfTop)())
    return HWY_DYNAMIC_DISPATCH(BoundOfFew)(maxima, groups, k);
  std::nth_element(maxima, maxima + k - 1, maxima + groups, std::greater<>());
  return maxima[k - 1];
}

// Returns the keys of the first k of the elements that were found, in their order.
const uint64_t* FirstKeys(const TopLine& line, size_t k, size_t count, TopScratch& scratch) {
  uint64_t* keys = scratch.keys.data();
  for (size_t i = 0; i < count; ++i) {
    const float x = line.from[scratch.found[i]];
    keys[i] = KeyOf(line.largest ? x : -x, scratch.found[i], line.largest);
  }
  if (count <= kRanked) {
    for (size_t i = 0; i < count; ++i) {
      size_t rank = 0;
      for (size_t j = 0; j < count; ++j) rank += keys[j] > keys[i];
      scratch.ranked[rank] = keys[i];
    }
    return scratch.ranked.data();
  }
  if (count > k) std::nth_element(keys, keys + k, keys + count, std::greater<>());
  std::sort(keys, keys + k, std::greater<>());
  return keys;
}

}  // namespace

TopScratch::TopScratch(const TopShape& shape)
    : line(shape.inner > 1 ? static_cast<size_t>(shape.length) : 0),
      maxima(std::max(std::bit_ceil(2 * static_cast<size_t>(shape.k)), kMostLanes)),
      found(static_cast<size_t>(shape.length) + kMostLanes),
      keys(static_cast<size_t>(shape.length)),
      ranked(kRanked) {}

void RunTop(const TopShape& shape, const float* input, Range lines, TopScratch& scratch, float* values,
            int64_t* indices) {
  const auto k = static_cast<size_t>(shape.k);
  for (int64_t l = lines.begin; l < lines.end; ++l) {
    const int64_t outer = l / shape.inner, inner = l % shape.inner;
    const float* from = input + outer * shape.length * shape.inner + inner;
    if (shape.inner > 1) {
      for (int64_t i = 0; i < shape.length; ++i) scratch.line[size_t(i)] = from[i * shape.inner];
      from = scratch.line.data();
    }
    const TopLine line{from, static_cast<size_t>(shape.length), shape.largest};
    const float bound = BoundOf(line, k, scratch.maxima.data());
    const size_t count = HWY_DYNAMIC_DISPATCH(CollectIndices)(line, bound, scratch.found.data());
    const uint64_t* keys = FirstKeys(line, k, count, scratch);
    for (size_t j = 0; j < k; ++j) {
      const uint32_t index = ~uint32_t{0} - static_cast<uint32_t>(keys[j]);
      const int64_t to = (outer * shape.k + int64_t(j)) * shape.inner + inner;
      if (values) values[to] = from[index];
      if (indices) indices[to] = index;
    }
  }
}

}  // namespace mete
#endif  // HWY_ONCE
