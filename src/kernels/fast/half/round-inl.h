// Conversions of a vector of floats to the bits of halves and back, as base/half.h has them.
#if defined(METE_ROUND_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_ROUND_INL_H
#undef METE_ROUND_INL_H
#else
#define METE_ROUND_INL_H
#endif

#include "kernels/fast/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

using U32 = hn::ScalableTag<uint32_t>;
using VU32 = hn::Vec<U32>;

HWY_INLINE VU32 Select(hn::Mask<U32> condition, VU32 yes, VU32 no) {
  return hn::IfThenElse(condition, yes, no);
}

// As F32ToBF16: adds half of the last bit that stays, less 1 if that bit is even.
HWY_INLINE VU32 RoundToBf16(V32 x) {
  const U32 d;
  const VU32 bits = hn::BitCast(d, x), odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
  const VU32 rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(hn::Set(d, 0x7fff), odd)));
  const VU32 quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(d, 0x40));
  return Select(hn::RebindMask(d, hn::Eq(x, x)), rounded, quiet);
}

// As F32ToF16. Magnitudes are below 2^31, so that signed comparisons, which every target has, order them.
HWY_INLINE VU32 RoundToF16(V32 x) {
  const U32 d;
  const hn::RebindToSigned<U32> signed_d;
  const VU32 bits = hn::BitCast(d, x), sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 0x8000)),
             magnitude = hn::And(bits, hn::Set(d, 0x7fffffff));
  const auto at_least = [&](uint32_t bound) HWY_ATTR {
    return hn::RebindMask(d, hn::Gt(hn::BitCast(signed_d, magnitude), hn::Set(signed_d, int32_t(bound - 1))));
  };
  const VU32 odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d, 1));
  const VU32 normal = hn::ShiftRight<13>(
      hn::Sub(hn::Add(magnitude, hn::Add(hn::Set(d, 0xfff), odd)), hn::Set(d, 0x38000000)));
  // The sum with 0.5 rounds at 2^-24.
  const V32 half = hn::Set(F32(), 0.5f);
  const VU32 subnormal =
      hn::Sub(hn::BitCast(d, hn::Add(hn::BitCast(F32(), magnitude), half)), hn::BitCast(d, half));
  VU32 y = Select(at_least(0x38800000), normal, subnormal);
  y = Select(at_least(0x477ff000), hn::Set(d, 0x7c00), y);
  y = Select(at_least(0x7f800001), hn::Set(d, 0x7e00), y);
  return hn::Or(sign, y);
}

HWY_INLINE V32 WidenBf16(VU32 bits) { return hn::BitCast(F32(), hn::ShiftLeft<16>(bits)); }

// As F16ToF32. A subnormal number is its mantissa times 2^-24.
HWY_INLINE V32 WidenF16(VU32 bits) {
  const U32 d;
  const F32 f;
  const VU32 sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(d, 0x8000))),
             exponent = hn::And(bits, hn::Set(d, 0x7c00)),
             shifted = hn::ShiftLeft<13>(hn::And(bits, hn::Set(d, 0x7fff)));
  const VU32 normal = hn::Add(shifted, hn::Set(d, 112u << 23));
  const VU32 endless = hn::Or(shifted, hn::Set(d, 0x7f800000));
  const auto mantissa = hn::BitCast(hn::RebindToSigned<U32>(), hn::And(bits, hn::Set(d, 0x3ff)));
  const VU32 subnormal = hn::BitCast(d, hn::Mul(hn::ConvertTo(f, mantissa), hn::Set(f, 0x1p-24f)));
  VU32 y = Select(hn::Eq(exponent, hn::Zero(d)), subnormal, normal);
  y = Select(hn::Eq(exponent, hn::Set(d, 0x7c00)), endless, y);
  return hn::BitCast(f, hn::Or(sign, y));
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#endif  // METE_ROUND_INL_H
