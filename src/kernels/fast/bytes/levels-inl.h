// Bytes as levels in f32 registers, and back.
#if defined(METE_LEVELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_LEVELS_INL_H
#undef METE_LEVELS_INL_H
#else
#define METE_LEVELS_INL_H
#endif

#include <array>

#include "kernels/fast/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Rounds to the nearest whole number, halves to the even one. On x86, unlike hn::NearestInt, the result for
// numbers that need more than 32 bits is not theirs; the caller excludes such numbers.
HWY_INLINE hn::Vec<hn::ScalableTag<int32_t>> RoundWhole(V32 v) {
#if HWY_TARGET == HWY_AVX3
  return hn::Vec<hn::ScalableTag<int32_t>>{_mm512_cvtps_epi32(v.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec<hn::ScalableTag<int32_t>>{_mm256_cvtps_epi32(v.raw)};
#elif HWY_TARGET == HWY_SSE4
  return hn::Vec<hn::ScalableTag<int32_t>>{_mm_cvtps_epi32(v.raw)};
#else
  return hn::NearestInt(v);
#endif
}

// Rounds levels to bytes, halves to the even number, within `least` and `most`, and adds `zero`; a NaN gives
// the least level.
class Levels {
 public:
  using I32 = hn::ScalableTag<int32_t>;
  using U8 = hn::Rebind<uint8_t, I32>;

  Levels(float least, float most, bool is_signed, int32_t zero = 0)
      : least_(hn::Set(F32(), least)),
        most_(hn::Set(F32(), most)),
        // Signed bytes are those that are 128 larger, with the top bit flipped.
        shift_(hn::Set(I32(), zero + (is_signed ? 128 : 0))),
        flip_(hn::Set(U8(), is_signed ? 0x80 : 0)) {}

  HWY_INLINE hn::Vec<U8> operator()(V32 level) const {
    const auto rounded = RoundWhole(hn::Min(hn::Max(level, least_), most_));
    return hn::Xor(hn::DemoteTo(U8(), hn::Add(rounded, shift_)), flip_);
  }

 private:
  V32 least_, most_;
  hn::Vec<I32> shift_;
  hn::Vec<U8> flip_;
};

#if HWY_TARGET != HWY_SCALAR
using Bytes = hn::Repartition<uint8_t, Levels::I32>;
using VBytes = hn::Vec<Bytes>;
constexpr size_t kByteVectors = 4;  // vectors of 32-bit numbers whose bytes fill a vector

// Narrows four vectors of whole numbers to bytes, clamped to levels.
class Narrower {
 public:
  using VI32 = hn::Vec<Levels::I32>;

  // Bytes are the numbers plus `zero`, from `least` to `most`.
  Narrower(int32_t zero, int32_t least, int32_t most, bool is_signed) {
    // Signed bytes are those that are 128 larger, with the top bit flipped.
    const int32_t shift = is_signed ? 128 : 0;
    zero_ = hn::Set(I16(), static_cast<int16_t>(zero + shift));
    least_ = hn::Set(Bytes(), static_cast<uint8_t>(least + shift));
    most_ = hn::Set(Bytes(), static_cast<uint8_t>(most + shift));
    flip_ = hn::Set(Bytes(), is_signed ? 0x80 : 0);
  }

  // Returns the bytes in the order in which instructions pack: those of lanes 0 to 3 of the vectors 0, 1, 2
  // and 3, then those of lanes 4 to 7 of the vectors, and so on.
  HWY_INLINE VBytes operator()(const VI32 (&n)[kByteVectors]) const {
    // Saturation to 16 bits keeps the order of numbers, and a level is between.
    const auto lower = hn::SaturatedAdd(hn::ReorderDemote2To(I16(), n[0], n[1]), zero_),
               upper = hn::SaturatedAdd(hn::ReorderDemote2To(I16(), n[2], n[3]), zero_);
#if HWY_TARGET == HWY_AVX3
    const VBytes bytes{_mm512_packus_epi16(lower.raw, upper.raw)};
#elif HWY_TARGET == HWY_AVX2
    const VBytes bytes{_mm256_packus_epi16(lower.raw, upper.raw)};
#else
    const hn::Half<Bytes> half;  // these targets have vectors of 16 bytes
    const VBytes bytes = hn::Combine(Bytes(), hn::DemoteTo(half, upper), hn::DemoteTo(half, lower));
#endif
    return hn::Xor(hn::Min(hn::Max(bytes, least_), most_), flip_);
  }

  // Returns the bytes of vector 0, then those of vector 1, and so on.
  HWY_INLINE VBytes InOrder(const VI32 (&n)[kByteVectors]) const {
    const VBytes packed = (*this)(n);
    if constexpr (kLanes == 4) return packed;
    constexpr size_t kParts = kLanes / 4;  // of a vector
    HWY_ALIGN static constexpr auto kOrder = [] {
      std::array<int32_t, kLanes> order{};
      for (size_t i = 0; i < kLanes; ++i) order[i] = static_cast<int32_t>(i % kParts * 4 + i / kParts);
      return order;
    }();
    const Levels::I32 d;
    return hn::BitCast(Bytes(),
                       hn::TableLookupLanes(hn::BitCast(d, packed), hn::SetTableIndices(d, kOrder.data())));
  }

 private:
  using I16 = hn::Repartition<int16_t, Levels::I32>;
  hn::Vec<I16> zero_;
  VBytes least_, most_, flip_;
};
#endif

// Returns the levels of kLanes bytes of type T (uint8_t or int8_t) as whole numbers.
template <class T>
HWY_INLINE hn::Vec<Levels::I32> LoadWhole(const uint8_t* bytes) {
  const hn::Rebind<T, Levels::I32> d;
  return hn::PromoteTo(Levels::I32(), hn::LoadU(d, reinterpret_cast<const T*>(bytes)));
}
HWY_INLINE hn::Vec<Levels::I32> LoadWhole(const uint8_t* bytes, bool is_signed) {
  return is_signed ? LoadWhole<int8_t>(bytes) : LoadWhole<uint8_t>(bytes);
}

template <class T>
HWY_INLINE V32 LoadLevels(const uint8_t* bytes) {
  return hn::ConvertTo(F32(), LoadWhole<T>(bytes));
}
HWY_INLINE V32 LoadLevels(const uint8_t* bytes, bool is_signed) {
  return hn::ConvertTo(F32(), LoadWhole(bytes, is_signed));
}

// Returns a * b + c, rounded once. b is a level.
HWY_INLINE V32 ExactMulAdd(V32 a, V32 b, V32 c) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64)
  return hn::MulAdd(a, b, c);
#else
  // The product has at most 32 bits, so f64 has it exactly. The sum is rounded to f64 and then to f32, which
  // differs from one rounding only where the sum needs more than 53 bits and lies next to the middle of two
  // floats.
  HWY_ALIGN float x[kLanes], y[kLanes], z[kLanes];
  hn::Store(a, F32(), x);
  hn::Store(b, F32(), y);
  hn::Store(c, F32(), z);
  for (size_t i = 0; i < kLanes; ++i)
    z[i] =
        static_cast<float>(static_cast<double>(x[i]) * static_cast<double>(y[i]) + static_cast<double>(z[i]));
  return hn::Load(F32(), z);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
