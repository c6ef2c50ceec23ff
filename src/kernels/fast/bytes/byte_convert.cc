#include "kernels/fast/bytes/byte_convert.h"

#include <algorithm>
#include <cstring>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/bytes/byte_convert.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/bytes/levels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

void Quantize(const ByteScale& of, const float* x, size_t count, uint8_t* y) {
  const F32 d;
  const float first = of.is_signed ? -128.f : 0.f;
  const V32 scale = hn::Set(d, of.scale), least = hn::Set(d, first - of.zero),
            most = hn::Set(d, first + 255 - of.zero), zero = hn::Set(d, of.zero);
  // Returns steps from the zero point, within the levels.
  const auto steps = [&](V32 v) HWY_ATTR { return hn::Min(hn::Max(hn::Div(v, scale), least), most); };
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const auto z = static_cast<int32_t>(of.zero), l = static_cast<int32_t>(first);
  const Narrower to_bytes(z, l, l + 255, of.is_signed);
  for (; i + hn::Lanes(Bytes()) <= count; i += hn::Lanes(Bytes())) {
    hn::Vec<Levels::I32> whole[kByteVectors];
#pragma GCC unroll 4
    for (size_t j = 0; j < kByteVectors; ++j) whole[j] = RoundWhole(steps(hn::LoadU(d, x + i + j * kLanes)));
    hn::StoreU(to_bytes.InOrder(whole), Bytes(), y + i);
  }
#endif
  const Levels one(first, first + 255, of.is_signed);
  for (; i < count; i += kLanes) {
    const V32 rounded = hn::ConvertTo(d, RoundWhole(steps(LoadN(d, x + i, count - i))));
    uint8_t bytes[kLanes];
    hn::StoreU(one(hn::Add(rounded, zero)), Levels::U8(), bytes);
    std::memcpy(y + i, bytes, std::min(kLanes, count - i));
  }
}

template <class T>
void DequantizeAs(const ByteScale& of, const uint8_t* x, size_t count, float* y) {
  const F32 d;
  const V32 scale = hn::Set(d, of.scale), zero = hn::Set(d, of.zero);
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    hn::StoreU(hn::Mul(hn::Sub(LoadLevels<T>(x + i), zero), scale), d, y + i);
  if (i == count) return;
  uint8_t end[kLanes] = {};
  std::memcpy(end, x + i, count - i);
  StoreN(hn::Mul(hn::Sub(LoadLevels<T>(end), zero), scale), d, y + i, count - i);
}

void Dequantize(const ByteScale& of, const uint8_t* x, size_t count, float* y) {
  if (of.is_signed) return DequantizeAs<int8_t>(of, x, count, y);
  DequantizeAs<uint8_t>(of, x, count, y);
}

FloatBounds Bounds(const float* x, size_t count) {
  const F32 d;
  V32 least = hn::Zero(d), most = hn::Zero(d);
  for (size_t i = 0; i < count; i += kLanes) {
    const V32 v = LoadN(d, x + i, count - i);
    // With a NaN as the first operand, these return the second one.
    least = hn::Min(v, least);
    most = hn::Max(v, most);
  }
  HWY_ALIGN float lanes[2][kLanes];
  hn::Store(least, d, lanes[0]);
  hn::Store(most, d, lanes[1]);
  return {*std::min_element(lanes[0], lanes[0] + kLanes), *std::max_element(lanes[1], lanes[1] + kLanes)};
}

void Scale(const float* scale, const float* bias, size_t count, void* sums) {
  const F32 d;
  auto* in_place = static_cast<float*>(sums);
  for (size_t i = 0; i < count; i += kLanes) {
    const size_t left = count - i;
    // The sums have the size of floats.
    const V32 sum = hn::ConvertTo(d, hn::BitCast(hn::RebindToSigned<F32>(), LoadN(d, in_place + i, left)));
    V32 y = hn::Mul(sum, LoadN(d, scale + i, left));
    if (bias) y = hn::Add(y, LoadN(d, bias + i, left));
    StoreN(y, d, in_place + i, left);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(Quantize);
HWY_EXPORT(Dequantize);
HWY_EXPORT(Bounds);
HWY_EXPORT(Scale);

void RunQuantize(const ByteScale& of, const float* x, Range range, uint8_t* y) {
  HWY_DYNAMIC_DISPATCH(Quantize)(of, x + range.begin, static_cast<size_t>(range.size()), y + range.begin);
}

void RunDequantize(const ByteScale& of, const uint8_t* x, Range range, float* y) {
  HWY_DYNAMIC_DISPATCH(Dequantize)(of, x + range.begin, static_cast<size_t>(range.size()), y + range.begin);
}

FloatBounds BoundsOf(const float* x, Range range) {
  return HWY_DYNAMIC_DISPATCH(Bounds)(x + range.begin, static_cast<size_t>(range.size()));
}

void ScaleSums(const float* scale, const float* bias, int64_t count, void* sums) {
  HWY_DYNAMIC_DISPATCH(Scale)(scale, bias, static_cast<size_t>(count), sums);
}

}  // namespace mete
#endif  // HWY_ONCE
