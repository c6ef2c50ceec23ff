// The step of a product of bf16: two products are added to each sum of f32, that of the odd elements first.
// Each product is exact in f32, and each addition rounds once, so that all forms have the error of a sum in
// f32 (vdpbf16ps also takes denormal numbers for zero).
#if defined(METE_HALF_DOT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_HALF_DOT_INL_H
#undef METE_HALF_DOT_INL_H
#else
#define METE_HALF_DOT_INL_H
#endif

#include "kernels/fast/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

using U32 = hn::ScalableTag<uint32_t>;
using VU32 = hn::Vec<U32>;

// kMostVectors and kMostRows: the largest tiles that leave registers for weights and inputs. Narrow tiles
// have fewer rows than registers permit, because each number of rows is code of its own.

// A bf16 is the upper half of an f32. Four rows of every width suffice: this form is no faster than f32, and
// serves processors that save memory by it.
struct WideningHalfDot {
#if HWY_TARGET == HWY_AVX3
  static constexpr int kMostVectors = 4;
  static constexpr int kMostRows[] = {0, 4, 4, 4, 4};
#else
  static constexpr int kMostVectors = 2;
  static constexpr int kMostRows[] = {0, 4, 4};
#endif
  static constexpr const char* kName = "";

  // Constructors are written out: those that GCC makes lack the target of this copy of the code.
  struct Pair {
    HWY_INLINE Pair() {}
    HWY_INLINE explicit Pair(VU32 pairs)
        : even(hn::BitCast(F32(), hn::ShiftLeft<16>(pairs))),
          odd(hn::BitCast(F32(), hn::And(pairs, hn::Set(U32(), 0xffff0000u)))) {}
    V32 even, odd;
  };

  static HWY_INLINE Pair Split(VU32 pairs) { return Pair(pairs); }
  static HWY_INLINE void Add(const Pair& x, const Pair& w, V32& sums) {
    sums = hn::MulAdd(x.even, w.even, hn::MulAdd(x.odd, w.odd, sums));
  }
};

#if HWY_TARGET == HWY_AVX3
// vdpbf16ps, in assembly as vpdpbusd (kernels/fast/bytes/dot-inl.h).
struct Bf16Dot {
  static constexpr int kMostVectors = 4;
  static constexpr int kMostRows[] = {0, 6, 8, 8, 6};
  static constexpr const char* kName = " bf16";

  using Pair = VU32;

  static HWY_INLINE Pair Split(VU32 pairs) { return pairs; }
  static HWY_INLINE void Add(Pair x, Pair w, V32& sums) {
    auto sum = sums.raw;  // a variable of its own, so that the array of sums stays in registers
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(x.raw), "v"(w.raw));
    sums.raw = sum;
  }
};
#endif

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
