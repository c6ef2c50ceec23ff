// The steps of products of bytes (dot-inl.h) on Arm's processors with SDOT or USDOT, four products added to
// each 32-bit sum, or with SMMLA or USMMLA, eight to each. The instructions are in assembly, because the
// target of this copy of the code does not include them.
#if defined(METE_DOT_ARM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_DOT_ARM_INL_H
#undef METE_DOT_ARM_INL_H
#else
#define METE_DOT_ARM_INL_H
#endif

#include <type_traits>

#include "kernels/fast/tile/octets-inl.h"
#include "kernels/fast/tile/quads-inl.h"
#include "kernels/fast/vector-inl.h"

#if HWY_TARGET == HWY_NEON
HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// What both have in common: a vector of quads is an operand as it is.
struct DotOfQuads {
  using I32 = hn::ScalableTag<int32_t>;
  using VI32 = hn::Vec<I32>;
  using Inputs = VI32;
  using Weights = VI32;
  using Sums = VI32;

  static constexpr size_t kCell = 4;
  static constexpr int kMostVectors = 4;
  // The largest tiles that leave registers for the inputs, one vector or two of weights for each column, and
  // the bits that are flipped.
  static constexpr int kMostRows[] = {0, 6, 8, 6, 5};

  static HWY_INLINE Sums Zero() { return hn::Zero(I32()); }
  static HWY_INLINE Inputs Split(VI32 quads) { return quads; }
  static HWY_INLINE Weights Load(const int8_t* weights) {
    return hn::BitCast(I32(), hn::LoadU(hn::Repartition<int8_t, I32>(), weights));
  }
  static HWY_INLINE VI32 Total(Sums sums) { return sums; }
};

// SDOT, whose inputs are signed.
struct SignedDot : DotOfQuads {
  static constexpr const char* kName = " dotprod";
  static constexpr bool kSeesSigned = true;

  static HWY_INLINE void Add(Inputs x, Weights w, Sums& sums) {
    auto sum = sums.raw;
    asm(".arch armv8.2-a+dotprod\n\tsdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(x.raw), "w"(w.raw));
    sums.raw = sum;
  }
  template <int kLane>
  static HWY_INLINE void AddLane(int32x4_t& sum, int32x4_t weights, int32x4_t inputs) {
    asm volatile(".arch armv8.2-a+dotprod\n\tsdot %0.4s, %1.16b, %2.4b[%3]"
                 : "+w"(sum)
                 : "w"(weights), "w"(inputs), "i"(kLane));
  }
};

// USDOT, whose inputs are unsigned: of panels of channels.
struct MixedDot : DotOfQuads {
  static constexpr const char* kName = " i8mm";
  static constexpr bool kSeesSigned = false;

  static HWY_INLINE void Add(Inputs x, Weights w, Sums& sums) {
    auto sum = sums.raw;
    asm(".arch armv8.2-a+i8mm\n\tusdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(x.raw), "w"(w.raw));
    sums.raw = sum;
  }
};

// SMMLA and USMMLA, which multiply blocks of octets (tile/octets-inl.h). In a panel of channels no bytes of a
// sum are neighbours, so that it is computed by quads.
struct BlocksOfOctets {
  static constexpr size_t kCell = kOctet;
  static constexpr int kMostVectors = 4;
  static constexpr const int (&kMostRows)[5] = kMostRowsByOctets;
  static constexpr const char* kName = " i8mm";
};

struct SignedBlocks : BlocksOfOctets {
  using OfChannels = SignedDot;
  static constexpr bool kSeesSigned = true;

  static HWY_INLINE void Add(int32x4_t& sums, int32x4_t inputs, int32x4_t weights) {
    asm volatile(".arch armv8.2-a+i8mm\n\tsmmla %0.4s, %1.16b, %2.16b"
                 : "+w"(sums)
                 : "w"(inputs), "w"(weights));
  }
};

struct MixedBlocks : BlocksOfOctets {
  using OfChannels = MixedDot;
  static constexpr bool kSeesSigned = false;

  static HWY_INLINE void Add(int32x4_t& sums, int32x4_t inputs, int32x4_t weights) {
    asm volatile(".arch armv8.2-a+i8mm\n\tusmmla %0.4s, %1.16b, %2.16b"
                 : "+w"(sums)
                 : "w"(inputs), "w"(weights));
  }
};

// The loop over four quads of bytes at a time (quads-inl.h) of a tile of MR rows x V vectors. kFlips: the top
// bits of the inputs are flipped.
template <class Dot, bool kFlips, int MR, int V>
class ByteQuads {
 public:
  static constexpr size_t kBytes = kQuadOfElements * kElementBytes;  // of a row
  static constexpr size_t kWidth = V * kLanes * kElementBytes;       // bytes of weights of an element
  static constexpr size_t kWeightBytes = kQuadOfElements * kWidth;

  // Adds the products of `count` > 0 times four quads to the sums.
  static HWY_INLINE void Add(const uint8_t* const (&a)[MR], const uint8_t* weights_at, size_t count,
                             int32x4_t flip, DotOfQuads::VI32 (&totals)[MR][V]) {
    Vector sums[MR][V], inputs[MR], weights[V];
    const uint8_t* w[V];
    ForEach<V>([&](auto j) METE_IN_PLACE {
      w[j] = weights_at + j * sizeof(Vector);
      LoadInOrder(weights[j], w[j], 0);
    });
    ForEach<MR>([&](auto i) METE_IN_PLACE {
      LoadInOrder(inputs[i], a[i], 0);
      ForEach<V>([&](auto j) METE_IN_PLACE { sums[i][j] = totals[i][j].raw; });
    });
    const size_t last = (count - 1) * kBytes;
    size_t at = 0;
    for (size_t k = 0; k < last; at += kWeightBytes) {
      k += kBytes;
      Multiply<true>(a, k, w, at, flip, inputs, weights, sums);
    }
    Multiply<false>(a, last, w, at, flip, inputs, weights, sums);
    ForEach<MR>([&](auto i) METE_IN_PLACE {
      ForEach<V>([&](auto j) METE_IN_PLACE { totals[i][j] = DotOfQuads::VI32(sums[i][j]); });
    });
  }

 private:
  using Vector = int32x4_t;

  // Adds the products of the four quads whose weights begin at `at`. kMore: loads the next inputs, from
  // `next_k` on, and the weights of their first element.
  template <bool kMore>
  static HWY_INLINE void Multiply(const uint8_t* const (&a)[MR], size_t next_k, const uint8_t* const (&w)[V],
                                  size_t at, Vector flip, Vector (&inputs)[MR], Vector (&weights)[V],
                                  Vector (&sums)[MR][V]) {
    if constexpr (kFlips) ForEach<MR>([&](auto i) METE_IN_PLACE { FlipInOrder(inputs[i], flip); });
    ForEach<kQuadOfElements>([&](auto lane) METE_IN_PLACE {
      constexpr bool kLastLane = lane == kQuadOfElements - 1, kLoads = kMore || !kLastLane;
      const size_t next = at + (lane + 1) * kWidth;
      ForEach<V>([&](auto j) METE_IN_PLACE {
        ForEach<MR>([&](auto i) METE_IN_PLACE {
          Dot::template AddLane<lane>(sums[i][j], weights[j], inputs[i]);
          // An operand is replaced as soon as it is no longer needed: an in-order core issues the load
          // together with a multiply-add.
          if constexpr (kLastLane && kLoads && j + 1 == V) LoadInOrder(inputs[i], a[i], next_k);
        });
        if constexpr (kLoads) LoadInOrder(weights[j], w[j], next);
      });
    });
  }
};

// Adds the products of the first `end` bytes of each row to the sums, but of the last ones that are no four
// quads. Moves the place of the weights behind them, and `k`, which is 0, too. A step without lanes leaves
// all to the caller.
template <class Dot, int MR, int V>
HWY_INLINE void AddByteQuads(const uint8_t* const (&a)[MR], size_t& k, size_t end, const int8_t*& w,
                             DotOfQuads::VI32 flip, typename Dot::Sums (&sums)[MR][V]) {
  if constexpr (std::is_base_of_v<DotOfQuads, Dot>) {
    using Quads = ByteQuads<Dot, false, MR, V>;
    const size_t count = end / Quads::kBytes;
    if (count == 0) return;
    const uint8_t* weights = reinterpret_cast<const uint8_t*>(w);
    if (hn::GetLane(flip) == 0) Quads::Add(a, weights, count, flip.raw, sums);
    else ByteQuads<Dot, true, MR, V>::Add(a, weights, count, flip.raw, sums);
    k = count * Quads::kBytes;
    w += count * Quads::kWeightBytes;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
#endif
