// Loads and stores of partial vectors, which never access memory beyond `count` elements.
#if defined(METE_VECTOR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_VECTOR_INL_H
#undef METE_VECTOR_INL_H
#else
#define METE_VECTOR_INL_H
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using V32 = hn::Vec<F32>;
constexpr size_t kLanes = HWY_LANES(float);

// Copies fewer than 2 kPart elements. A call of memcpy, which GCC makes of a loop, would put the vectors that
// are in use on the stack.
template <size_t kPart, class T>
HWY_INLINE void CopyFewer(const T* from, T* to, size_t count) {
  if constexpr (kPart > 0) {
    const size_t part = count & kPart;
    if (part) std::memcpy(to, from, kPart * sizeof(T));
    CopyFewer<kPart / 2>(from + part, to + part, count);
  }
}

// Loads min(count, kLanes) elements; the other lanes are zero.
HWY_INLINE V32 LoadN(F32 d, const float* p, size_t count) {
  if (count >= kLanes) return hn::LoadU(d, p);
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(d, count), d, p);
#else
  HWY_ALIGN float lanes[kLanes] = {};
  CopyFewer<kLanes / 2>(p, lanes, count);
  return hn::Load(d, lanes);
#endif
}

HWY_INLINE void StoreN(V32 v, F32 d, float* p, size_t count) {
  if (count >= kLanes) return hn::StoreU(v, d, p);
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  hn::BlendedStore(v, hn::FirstN(d, count), d, p);
#else
  HWY_ALIGN float lanes[kLanes];
  hn::Store(v, d, lanes);
  CopyFewer<kLanes / 2>(lanes, p, count);
#endif
}

// AtLeast() returns the larger and AtMost() the smaller of a bound and v; a NaN in v stays. The code depends
// on the target: if one operand is NaN, x86 returns the second operand, and Highway's scalar code returns the
// first. Arm's FMAX returns the NaN, but Highway uses Arm's FMAXNM, which returns the number.
HWY_INLINE V32 AtLeast(V32 bound, V32 v) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::IfThenElse(hn::Lt(v, bound), bound, v);
#elif HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64
  return V32(vmaxq_f32(bound.raw, v.raw));
#else
  return hn::Max(bound, v);
#endif
}
HWY_INLINE V32 AtMost(V32 bound, V32 v) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::IfThenElse(hn::Lt(bound, v), bound, v);
#elif HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64
  return V32(vminq_f32(bound.raw, v.raw));
#else
  return hn::Min(bound, v);
#endif
}
HWY_INLINE V32 Clamp(V32 v, V32 low, V32 high) { return AtMost(high, AtLeast(low, v)); }

// Computes to[i] = f(from[i]) for i in [0, count); `from` and `to` may be the same array.
template <class F>
HWY_INLINE void MapRow(const float* from, size_t count, float* to, const F& f) {
  const F32 d;
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) hn::StoreU(f(hn::LoadU(d, from + i)), d, to + i);
  if (i < count) StoreN(f(LoadN(d, from + i, count - i)), d, to + i, count - i);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
