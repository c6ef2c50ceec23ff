// The step of a product of bytes: four products of an input with a signed weight are added to each 32-bit
// sum. All forms give the exact sum. Inputs are seen as unsigned, or with kSeesSigned as signed.
//
// A quad is four neighbouring bytes of the sum's length K. Packed weights have a quad for each column.
#if defined(METE_DOT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_DOT_INL_H
#undef METE_DOT_INL_H
#else
#define METE_DOT_INL_H
#endif

#include "kernels/fast/bytes/dot_arm-inl.h"
#include "kernels/fast/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

using I32 = hn::ScalableTag<int32_t>;
using VI32 = hn::Vec<I32>;

// kCell: the neighbouring bytes of a tap that lie together in a panel, a quad or an octet.
// kMostVectors and kMostRows: the largest tiles that leave registers for weights and inputs. Narrow tiles
// have fewer rows than registers permit, because each number of rows is code of its own.

#if HWY_TARGET == HWY_SCALAR
struct PlainDot {
  static constexpr size_t kCell = 4;
  static constexpr int kMostVectors = 1;
  static constexpr int kMostRows[] = {0, 4};
  static constexpr const char* kName = "";
  static constexpr bool kSeesSigned = false;

  using Inputs = uint32_t;
  using Weights = const int8_t*;
  using Sums = int32_t;

  static Sums Zero() { return 0; }
  static Inputs Split(VI32 quads) { return static_cast<uint32_t>(hn::GetLane(quads)); }
  static Weights Load(const int8_t* weights) { return weights; }
  static void Add(Inputs x, Weights w, Sums& sums) {
    for (int i = 0; i < 4; ++i) sums += int32_t(x >> 8 * i & 0xff) * w[i];
  }
  static VI32 Total(Sums sums) { return hn::Set(I32(), sums); }
};
#else

// Widens bytes to 16 bits, which no product and no sum of two products overflows: (255 + 255) * 128 needs 17
// bits, and the instruction adds pairs in 32 bits. The bytes at even and at odd places are separate, because
// that takes no permutation.
struct WideDot {
  static constexpr size_t kCell = 4;
#if HWY_TARGET == HWY_AVX3
  static constexpr int kMostVectors = 2;
  static constexpr int kMostRows[] = {0, 6, 8};
#elif HWY_TARGET == HWY_NEON
  static constexpr int kMostVectors = 2;
  static constexpr int kMostRows[] = {0, 6, 4};
#else
  static constexpr int kMostVectors = 2;
  static constexpr int kMostRows[] = {0, 4, 4};
#endif
  static constexpr const char* kName = "";
  static constexpr bool kSeesSigned = false;

  using I16 = hn::Repartition<int16_t, I32>;
  using U16 = hn::Repartition<uint16_t, I32>;
  using VI16 = hn::Vec<I16>;
  // Constructors are written out: those that GCC makes lack the target of this copy of the code.
  struct Inputs {
    HWY_INLINE Inputs() {}
    HWY_INLINE Inputs(VI16 even, VI16 odd) : even(even), odd(odd) {}
    VI16 even, odd;
  };
  using Weights = Inputs;

  static HWY_INLINE Inputs Split(VI32 quads) {
    const I16 d;
    const auto x = hn::BitCast(d, quads);
    return {hn::And(x, hn::Set(d, 0xff)), hn::BitCast(d, hn::ShiftRight<8>(hn::BitCast(U16(), x)))};
  }
  static HWY_INLINE Weights Load(const int8_t* weights) {
    const auto w = hn::BitCast(I16(), hn::LoadU(hn::Repartition<int8_t, I32>(), weights));
    return {hn::ShiftRight<8>(hn::ShiftLeft<8>(w)), hn::ShiftRight<8>(w)};
  }
#if HWY_ARCH_X86
  using Sums = VI32;
  static HWY_INLINE Sums Zero() { return hn::Zero(I32()); }
  static HWY_INLINE void Add(const Inputs& x, const Weights& w, Sums& sums) {
    VI32 unused = sums;
    const VI32 even = hn::ReorderWidenMulAccumulate(I32(), x.even, w.even, sums, unused);
    sums = hn::ReorderWidenMulAccumulate(I32(), x.odd, w.odd, even, unused);
  }
  static HWY_INLINE VI32 Total(Sums sums) { return sums; }
#else
  // The instruction keeps the products of the halves of a vector apart.
  struct Sums {
    HWY_INLINE Sums() {}
    HWY_INLINE Sums(VI32 lower, VI32 upper) : lower(lower), upper(upper) {}
    VI32 lower, upper;
  };
  static HWY_INLINE Sums Zero() { return {hn::Zero(I32()), hn::Zero(I32())}; }
  static HWY_INLINE void Add(const Inputs& x, const Weights& w, Sums& sums) {
    sums.lower = hn::ReorderWidenMulAccumulate(I32(), x.even, w.even, sums.lower, sums.upper);
    sums.lower = hn::ReorderWidenMulAccumulate(I32(), x.odd, w.odd, sums.lower, sums.upper);
  }
  static HWY_INLINE VI32 Total(const Sums& sums) {
    return hn::RearrangeToOddPlusEven(sums.lower, sums.upper);
  }
#endif
};
#endif

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
// vpdpbusd. The instruction is in assembly because the target of this copy of the code does not include it,
// and because GCC 12 copies sums where the intrinsic is used.
struct VnniDot {
  static constexpr size_t kCell = 4;
#if HWY_TARGET == HWY_AVX3
  static constexpr int kMostVectors = 4;
  static constexpr int kMostRows[] = {0, 6, 8, 8, 6};
#else
  static constexpr int kMostVectors = 2;
  static constexpr int kMostRows[] = {0, 6, 6};
#endif
  static constexpr const char* kName = " vnni";
  static constexpr bool kSeesSigned = false;

  using Inputs = VI32;
  using Weights = VI32;
  using Sums = VI32;

  static HWY_INLINE Sums Zero() { return hn::Zero(I32()); }
  static HWY_INLINE Inputs Split(VI32 quads) { return quads; }
  static HWY_INLINE Weights Load(const int8_t* weights) {
    return hn::BitCast(I32(), hn::LoadU(hn::Repartition<int8_t, I32>(), weights));
  }
  static HWY_INLINE void Add(Inputs x, Weights w, Sums& sums) {
    auto sum = sums.raw;  // a variable of its own, so that the array of sums stays in registers
#if HWY_TARGET == HWY_AVX3
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x.raw), "v"(w.raw));
#else
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(x.raw), "x"(w.raw));
#endif
    sums.raw = sum;
  }
  static HWY_INLINE VI32 Total(Sums sums) { return sums; }
};
#endif

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
