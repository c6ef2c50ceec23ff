#include "import/onnx/narrow.h"

#include <cmath>
#include <limits>

namespace mete::onnx_import {
namespace {

// The numbers of onnx.proto 1.19; the installed schema may be older and lack these names.
enum : int32_t {
  kE4M3FN = 17,
  kE4M3FNUZ = 18,
  kE5M2 = 19,
  kE5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kE2M1 = 23,
  kE8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
};

constexpr NarrowType kTypes[] = {
    {kE4M3FN, 8, DType::kF32},   {kE4M3FNUZ, 8, DType::kF32}, {kE5M2, 8, DType::kF32},
    {kE5M2FNUZ, 8, DType::kF32}, {kUint4, 4, DType::kU8},     {kInt4, 4, DType::kI8},
    {kE2M1, 4, DType::kF32},     {kE8M0, 8, DType::kF32},     {kUint2, 2, DType::kU8},
    {kInt2, 2, DType::kI8},
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Returns the value of `code`, which has a sign bit, `exponent_bits` and `mantissa_bits` as in IEEE 754, but
// in which no code stands for infinity or NaN.
float Finite(uint32_t code, int exponent_bits, int mantissa_bits, int bias) {
  const int exponent = int(code >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = int(code) & ((1 << mantissa_bits) - 1);
  const float magnitude =
      exponent == 0 ? std::ldexp(float(mantissa), 1 - bias - mantissa_bits)
                    : std::ldexp(float(mantissa + (1 << mantissa_bits)), exponent - bias - mantissa_bits);
  return code >> (exponent_bits + mantissa_bits) & 1 ? -magnitude : magnitude;
}

// Returns the value of `code`. FN types have no infinities, and a code of all ones is NaN. FNUZ types also
// have no negative zero: the code of the negative zero is their only NaN.
float FloatOf(int32_t data_type, uint32_t code) {
  switch (data_type) {
    case kE4M3FN: return (code & 0x7f) == 0x7f ? kNan : Finite(code, 4, 3, 7);
    case kE4M3FNUZ: return code == 0x80 ? kNan : Finite(code, 4, 3, 8);
    case kE5M2:
      if ((code & 0x7c) != 0x7c) return Finite(code, 5, 2, 15);
      if ((code & 3) != 0) return kNan;
      return code & 0x80 ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
    case kE5M2FNUZ: return code == 0x80 ? kNan : Finite(code, 5, 2, 16);
    case kE2M1: return Finite(code, 2, 1, 1);
    default: return code == 0xff ? kNan : std::ldexp(1.f, int(code) - 127);  // E8M0: a power of two
  }
}

bool IsSigned(int32_t data_type) { return data_type == kInt4 || data_type == kInt2; }

}  // namespace

const NarrowType* FindNarrow(int32_t data_type) {
  for (const NarrowType& t : kTypes)
    if (t.data_type == data_type) return &t;
  return nullptr;
}

size_t PackedBytes(const NarrowType& type, size_t elements) {
  const size_t per_byte = size_t(8 / type.bits);
  return elements / per_byte + (elements % per_byte != 0);
}

void Widen(const NarrowType& type, std::span<const uint8_t> packed, Tensor& out) {
  const uint32_t per_byte = uint32_t(8 / type.bits), codes = 1u << type.bits;
  const auto code = [&](size_t i) {
    return uint32_t(packed[i / per_byte]) >> (i % per_byte * size_t(type.bits)) & (codes - 1);
  };
  const size_t n = size_t(out.elements());
  if (type.wide == DType::kF32) {
    float values[256] = {};
    for (uint32_t c = 0; c < codes; ++c) values[c] = FloatOf(type.data_type, c);
    for (size_t i = 0; i < n; ++i) out.mutable_view().as<float>()[i] = values[code(i)];
    return;
  }
  const bool is_signed = IsSigned(type.data_type);
  for (size_t i = 0; i < n; ++i) {
    const uint32_t c = code(i);
    out.mutable_view().as<uint8_t>()[i] = uint8_t(is_signed && c >= codes / 2 ? c | ~(codes - 1) : c);
  }
}

}  // namespace mete::onnx_import
