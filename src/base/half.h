// f16 and bf16 as storage types: memory holds their bits, and all arithmetic is in f32.
#pragma once

#include <bit>
#include <cstdint>

namespace mete {

inline float F16ToF32(uint16_t h) {
  const uint32_t sign = uint32_t(h & 0x8000) << 16;
  const uint32_t exponent = (h >> 10) & 31, mantissa = h & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float subnormal = float(mantissa) * 0x1p-24f;
  return sign ? -subnormal : subnormal;
}

// Rounds to nearest, ties to even; an overflow gives infinity.
inline uint16_t F32ToF16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f), sign = (bits >> 16) & 0x8000,
                 magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return uint16_t(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return uint16_t(sign | 0x7c00);
  if (magnitude < 0x38800000) {  // subnormal or zero: let the FPU round at 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f)));
  }
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return uint16_t(sign | (rounded - 0x38000000) >> 13);
}

inline float BF16ToF32(uint16_t b) { return std::bit_cast<float>(uint32_t(b) << 16); }

inline uint16_t F32ToBF16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  if ((bits & 0x7fffffff) > 0x7f800000) return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// Element types that behave like float in templates.
struct F16 {
  uint16_t bits = 0;
  F16() = default;
  F16(float f) : bits(F32ToF16(f)) {}
  operator float() const { return F16ToF32(bits); }
};

struct BF16 {
  uint16_t bits = 0;
  BF16() = default;
  BF16(float f) : bits(F32ToBF16(f)) {}
  operator float() const { return BF16ToF32(bits); }
};

}  // namespace mete
