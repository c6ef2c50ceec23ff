#include "kernels/fast/elementwise/compare.h"

#include <algorithm>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/elementwise/compare.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/vector-inl.h"

#ifndef METE_COMPARE_ONCE
#define METE_COMPARE_ONCE
namespace mete {
namespace {

template <class T>
uint8_t CompareOne(CompareOp op, T a, T b) {
  switch (op) {
    case CompareOp::kEqual: return a == b;
    case CompareOp::kLess: return a < b;
    case CompareOp::kLessOrEqual: return a <= b;
    case CompareOp::kAnd: return a != 0 && b != 0;
    case CompareOp::kOr: return a != 0 || b != 0;
  }
  return 0;
}

// Compares one by one: what is fewer than a vector, and everything where there are no vectors.
template <class T>
[[gnu::noinline]] void CompareFew(CompareOp op, const T* a, const T* b, size_t count, uint8_t* to) {
  for (size_t i = 0; i < count; ++i) to[i] = CompareOne(op, a[i], b[i]);
}

}  // namespace
}  // namespace mete
#endif  // METE_COMPARE_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Computes vectors of `step` elements, the last of which overlaps the one before it if the row has no whole
// number of them: it gives the same bytes again.
template <class F>
HWY_INLINE void ForVectors(size_t count, size_t step, const F& f) {
  for (size_t i = 0; i + step < count; i += step) f(i);
  f(count - step);
}

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
using I32 = hn::RebindToSigned<F32>;
using VI32 = hn::Vec<I32>;

// Highway has no Le of integers on all instruction sets: a is at most b where b is not less than a.
template <CompareOp kOp, class D, class V = hn::Vec<D>>
HWY_INLINE hn::Vec<hn::Repartition<int32_t, D>> Lanes32(D d, V a, V b) {
  const hn::Repartition<int32_t, D> d32;
  if constexpr (kOp == CompareOp::kEqual) return hn::BitCast(d32, hn::VecFromMask(d, hn::Eq(a, b)));
  if constexpr (kOp == CompareOp::kLess) return hn::BitCast(d32, hn::VecFromMask(d, hn::Lt(a, b)));
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) return hn::BitCast(d32, hn::VecFromMask(d, hn::Le(a, b)));
  else return hn::Not(hn::BitCast(d32, hn::VecFromMask(d, hn::Lt(b, a))));
}

// Returns lanes of -1 where the comparison of kLanes elements holds.
template <CompareOp kOp>
HWY_INLINE VI32 CompareVector(const float* a, const float* b) {
  const F32 d;
  return Lanes32<kOp>(d, hn::LoadU(d, a), hn::LoadU(d, b));
}
template <CompareOp kOp>
HWY_INLINE VI32 CompareVector(const int64_t* a, const int64_t* b) {
  const hn::Repartition<int64_t, I32> d;
  constexpr size_t kHalf = kLanes / 2;
  const VI32 low = Lanes32<kOp>(d, hn::LoadU(d, a), hn::LoadU(d, b));
  const VI32 high = Lanes32<kOp>(d, hn::LoadU(d, a + kHalf), hn::LoadU(d, b + kHalf));
  return hn::ConcatEven(I32(), high, low);
}

template <CompareOp kOp, class T>
HWY_NOINLINE void CompareRow(const T* a, const T* b, size_t count, uint8_t* to) {
  ForVectors(count, kLanes, [=](size_t i) HWY_ATTR {
    const hn::Rebind<uint8_t, I32> bytes;
    const VI32 ones = hn::And(CompareVector<kOp>(a + i, b + i), hn::Set(I32(), 1));
    hn::StoreU(hn::DemoteTo(bytes, ones), bytes, to + i);
  });
}

template <class T>
void Compare(CompareOp op, const T* a, const T* b, size_t count, uint8_t* to) {
  if (count < kLanes) return CompareFew(op, a, b, count, to);
  if (op == CompareOp::kEqual) CompareRow<CompareOp::kEqual>(a, b, count, to);
  else if (op == CompareOp::kLess) CompareRow<CompareOp::kLess>(a, b, count, to);
  else CompareRow<CompareOp::kLessOrEqual>(a, b, count, to);
}

template <bool kAnd>
HWY_NOINLINE void LogicRow(const uint8_t* a, const uint8_t* b, size_t count, uint8_t* to) {
  const hn::ScalableTag<uint8_t> d;
  ForVectors(count, hn::Lanes(d), [=](size_t i) HWY_ATTR {
    const auto one = hn::Set(d, 1);
    const auto x = hn::Min(hn::LoadU(d, a + i), one), y = hn::Min(hn::LoadU(d, b + i), one);
    hn::StoreU(kAnd ? hn::And(x, y) : hn::Or(x, y), d, to + i);
  });
}

void Compare(CompareOp op, const uint8_t* a, const uint8_t* b, size_t count, uint8_t* to) {
  if (count < hn::Lanes(hn::ScalableTag<uint8_t>())) return CompareFew(op, a, b, count, to);
  if (op == CompareOp::kAnd) LogicRow<true>(a, b, count, to);
  else LogicRow<false>(a, b, count, to);
}
#else
template <class T>
void Compare(CompareOp op, const T* a, const T* b, size_t count, uint8_t* to) {
  CompareFew(op, a, b, count, to);
}
#endif

void CompareFloats(CompareOp op, const float* a, const float* b, size_t count, uint8_t* to) {
  Compare(op, a, b, count, to);
}
void CompareIntegers(CompareOp op, const int64_t* a, const int64_t* b, size_t count, uint8_t* to) {
  Compare(op, a, b, count, to);
}
void CompareBools(CompareOp op, const uint8_t* a, const uint8_t* b, size_t count, uint8_t* to) {
  Compare(op, a, b, count, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(CompareFloats);
HWY_EXPORT(CompareIntegers);
HWY_EXPORT(CompareBools);

namespace {

// The elements of a chunk, as in elementwise.h: chunks of two operands of i64 take 4 KiB of the stack.
constexpr int64_t kChunk = 256;

template <class T>
void RunChunks(const ComparePlan& plan, void (*row)(CompareOp, const T*, const T*, size_t, uint8_t*),
               const void* a, const void* b, Range range, uint8_t* output) {
  BroadcastChunks<T, kChunk> left(plan.a, static_cast<const T*>(a), range.begin);
  BroadcastChunks<T, kChunk> right(plan.b, static_cast<const T*>(b), range.begin);
  for (int64_t begin = range.begin; begin < range.end; begin += kChunk) {
    const int64_t count = std::min(kChunk, range.end - begin);
    row(plan.op, left.Next(begin, count), right.Next(begin, count), static_cast<size_t>(count),
        output + begin);
  }
}

}  // namespace

void RunCompare(const ComparePlan& plan, const void* a, const void* b, Range range, uint8_t* output) {
  if (plan.type == DType::kF32) RunChunks(plan, HWY_DYNAMIC_DISPATCH(CompareFloats), a, b, range, output);
  else if (plan.type == DType::kI64)
    RunChunks(plan, HWY_DYNAMIC_DISPATCH(CompareIntegers), a, b, range, output);
  else RunChunks(plan, HWY_DYNAMIC_DISPATCH(CompareBools), a, b, range, output);
}

}  // namespace mete
#endif  // HWY_ONCE
