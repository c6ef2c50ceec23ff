// The step of a product of halves: it adds the products of kElements neighbouring elements to each sum of
// f32, that of the last element first. Each product of bf16 is exact in f32, a product of an f16 with an f32
// is rounded with the addition, and each addition rounds once, so that all forms have the error of a sum in
// f32 (vdpbf16ps also takes denormal numbers for zero).
#if defined(METE_HALF_DOT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_HALF_DOT_INL_H
#undef METE_HALF_DOT_INL_H
#else
#define METE_HALF_DOT_INL_H
#endif

#include <cstring>

#include "kernels/fast/tile/octets-inl.h"
#include "kernels/fast/half/round-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Loads a vector of pairs of weights.
HWY_INLINE VU32 LoadPairs(const uint16_t* p) {
#if HWY_TARGET == HWY_SCALAR
  uint32_t pair;
  std::memcpy(&pair, p, sizeof(pair));
  return hn::Set(U32(), pair);
#else
  return hn::BitCast(U32(), hn::LoadU(hn::Repartition<uint16_t, U32>(), p));
#endif
}

// Each lane is the pair of inputs at `p`.
HWY_INLINE VU32 RepeatPair(const uint16_t* p) {
  uint32_t pair;
  std::memcpy(&pair, p, sizeof(pair));
  return hn::Set(U32(), pair);
}

// Of each step:
//   Input         an element of the inputs: a half, or an f32 that is not rounded
//   kElements     elements that it multiplies; weights are stored as [element of K / kElements][width][kElements]
//   kMostVectors, kMostRows
//                 the largest tiles that leave registers for weights and inputs. Narrow tiles have fewer rows
//                 than registers permit, because each number of rows is code of its own.

// A bf16 is the upper half of an f32. Four rows of every width suffice: this form is no faster than f32, and
// serves processors that save memory by it.
struct WideningBf16Dot {
#if HWY_TARGET == HWY_AVX3
  static constexpr int kMostVectors = 4;
  static constexpr int kMostRows[] = {0, 4, 4, 4, 4};
#else
  static constexpr int kMostVectors = 2;
  static constexpr int kMostRows[] = {0, 4, 4};
#endif
  static constexpr const char* kName = "";
  static constexpr int kElements = 2;

  using Input = uint16_t;
  // Constructors are written out: those that GCC makes lack the target of this copy of the code.
  struct Pair {
    HWY_INLINE Pair() {}
    HWY_INLINE explicit Pair(VU32 pairs)
        : even(hn::BitCast(F32(), hn::ShiftLeft<16>(pairs))),
          odd(hn::BitCast(F32(), hn::And(pairs, hn::Set(U32(), 0xffff0000u)))) {}
    V32 even, odd;
  };
  using Elements = Pair;

  static HWY_INLINE Pair Weights(const uint16_t* p) { return Pair(LoadPairs(p)); }
  static HWY_INLINE Pair Inputs(const uint16_t* p) { return Pair(RepeatPair(p)); }
  static HWY_INLINE void Add(const Pair& x, const Pair& w, V32& sums) {
    sums = hn::MulAdd(x.even, w.even, hn::MulAdd(x.odd, w.odd, sums));
  }
};

// Weights of f16 are widened as they are loaded; inputs stay in f32, since a rounded input would have to be
// widened for each row. This form is no faster than f32 either.
struct WideningF16Dot {
#if HWY_TARGET == HWY_AVX3
  static constexpr int kMostVectors = 4;
  static constexpr int kMostRows[] = {0, 4, 4, 4, 6};
#elif HWY_TARGET == HWY_NEON
  static constexpr int kMostVectors = 4;
  static constexpr int kMostRows[] = {0, 8, 8, 7, 5};
#else
  static constexpr int kMostVectors = 2;
  static constexpr int kMostRows[] = {0, 4, 4};
#endif
  static constexpr const char* kName = "";
  static constexpr int kElements = 1;

  using Input = float;
  using Elements = V32;

  static HWY_INLINE V32 Weights(const uint16_t* p) {
    const hn::Rebind<hwy::float16_t, F32> d;
    return hn::PromoteTo(F32(), hn::LoadU(d, reinterpret_cast<const hwy::float16_t*>(p)));
  }
  static HWY_INLINE V32 Inputs(const float* p) { return hn::Set(F32(), *p); }
  static HWY_INLINE void Add(V32 x, V32 w, V32& sums) { sums = hn::MulAdd(x, w, sums); }
};

#if HWY_TARGET == HWY_AVX3
// vdpbf16ps, in assembly as vpdpbusd (kernels/fast/bytes/dot-inl.h).
struct Bf16Dot {
  static constexpr int kMostVectors = 4;
  static constexpr int kMostRows[] = {0, 6, 8, 8, 6};
  static constexpr const char* kName = " bf16";
  static constexpr int kElements = 2;

  using Input = uint16_t;
  using Elements = VU32;

  static HWY_INLINE VU32 Weights(const uint16_t* p) { return LoadPairs(p); }
  static HWY_INLINE VU32 Inputs(const uint16_t* p) { return RepeatPair(p); }
  static HWY_INLINE void Add(VU32 x, VU32 w, V32& sums) {
    auto sum = sums.raw;  // a variable of its own, so that the array of sums stays in registers
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(x.raw), "v"(w.raw));
    sums.raw = sum;
  }
};
#endif

#if HWY_TARGET == HWY_NEON
// BFMMLA, which multiplies blocks of octets (tile/octets-inl.h). It sums the products of a pair and adds
// them, and rounds both to the odd number instead of the nearest, so that its error is at most twice that of
// the other forms. It takes denormal numbers for zero.
struct Bf16Blocks {
  static constexpr int kMostVectors = 4;
  static constexpr const int (&kMostRows)[5] = kMostRowsByOctets;
  static constexpr const char* kName = " bf16";
  static constexpr int kElements = 4;

  using Input = uint16_t;

  static HWY_INLINE void Add(int32x4_t& sums, int32x4_t inputs, int32x4_t weights) {
    asm volatile(".arch armv8.2-a+bf16\n\tbfmmla %0.4s, %1.8h, %2.8h"
                 : "+w"(sums)
                 : "w"(inputs), "w"(weights));
  }
};
#endif

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
