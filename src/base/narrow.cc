#include "base/narrow.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mete {
namespace {

// Which codes of a float are no finite numbers.
enum class Special : uint8_t {
  kNone,
  kIeee,          // those of the highest exponent: infinity if the mantissa is 0, otherwise NaN
  kAllOnes,       // NaN: all bits but the sign are ones
  kNegativeZero,  // NaN: the code that would be the negative zero
};

// The format of a type, by the definitions of float8 (Micikevicius et al. 2022; Noune et al. 2022) and of the
// OCP microscaling formats. The sign bit, if there is one, is followed by the exponent and the mantissa, and
// exponent 0 has zero and the subnormal numbers, as in IEEE 754. f8e8m0 has neither sign nor zero.
struct Format {
  int bits, exponent_bits, mantissa_bits, bias;  // bits 2 and 4 without an exponent: integers
  Special special = Special::kNone;
  bool is_signed = true;

  bool has_zero() const { return is_signed; }
  uint32_t sign() const { return is_signed ? 1u << (bits - 1) : 0; }
  // The number of codes without the sign.
  uint32_t magnitudes() const { return 1u << (bits - int(is_signed)); }
  int least_exponent() const { return has_zero() ? 1 - bias : -bias; }

  uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  uint32_t nan() const {
    switch (special) {
      case Special::kIeee: return infinity() | 1u << (mantissa_bits - 1);  // the quiet one
      case Special::kAllOnes: return magnitudes() - 1;
      case Special::kNegativeZero: return sign();
      case Special::kNone: break;
    }
    return 0;
  }
  uint32_t most() const {  // the code of the largest number
    if (special == Special::kIeee) return infinity() - 1;
    return magnitudes() - (special == Special::kAllOnes ? 2 : 1);
  }
};

// In the order of DType, from kF8E4M3FN on.
constexpr Format kFormats[] = {
    {8, 4, 3, 7, Special::kAllOnes},           // f8e4m3fn
    {8, 4, 3, 8, Special::kNegativeZero},      // f8e4m3fnuz
    {8, 5, 2, 15, Special::kIeee},             // f8e5m2
    {8, 5, 2, 16, Special::kNegativeZero},     // f8e5m2fnuz
    {8, 8, 0, 127, Special::kAllOnes, false},  // f8e8m0
    {4, 2, 1, 1},                              // f4e2m1
    {4, 0, 0, 0},                              // i4
    {4, 0, 0, 0, Special::kNone, false},       // u4
    {2, 0, 0, 0},                              // i2
    {2, 0, 0, 0, Special::kNone, false},       // u2
};
constexpr int kTypes = int(std::size(kFormats));
static_assert(int(DType::kF8E4M3FN) + kTypes == int(kLastDType) + 1);

const Format& FormatOf(DType narrow) { return kFormats[int(narrow) - int(DType::kF8E4M3FN)]; }

// Returns the number of a code without its sign.
float Magnitude(const Format& f, uint32_t code) {
  if (f.special == Special::kAllOnes && code == f.nan()) return std::numeric_limits<float>::quiet_NaN();
  if (f.special == Special::kIeee && code >= f.infinity())
    return code == f.infinity() ? std::numeric_limits<float>::infinity()
                                : std::numeric_limits<float>::quiet_NaN();
  const int exponent = int(code >> f.mantissa_bits), one = 1 << f.mantissa_bits;
  const int mantissa = int(code) & (one - 1);
  if (exponent == 0 && f.has_zero()) return std::ldexp(float(mantissa), 1 - f.bias - f.mantissa_bits);
  return std::ldexp(float(one + mantissa), exponent - f.bias - f.mantissa_bits);
}

float FloatOf(const Format& f, uint32_t code) {
  if (f.special == Special::kNegativeZero && code == f.nan()) return std::numeric_limits<float>::quiet_NaN();
  const float magnitude = Magnitude(f, code & (f.magnitudes() - 1));
  return code & f.sign() ? -magnitude : magnitude;
}

// Returns the code of a number that the format has.
uint32_t CodeOf(const Format& f, double magnitude) {
  const int exponent = std::max(std::ilogb(magnitude), f.least_exponent());
  const auto units = uint32_t(std::ldexp(magnitude, f.mantissa_bits - exponent));
  const auto code = (uint32_t(exponent - f.least_exponent()) << f.mantissa_bits) + units;
  return f.has_zero() ? code : code - 1;
}

// Rounds to the mantissa's bits, whatever the exponent.
double Rounded(const Format& f, double magnitude) {
  const int exponent = std::max(std::ilogb(magnitude), f.least_exponent());
  const double unit = std::ldexp(1.0, exponent - f.mantissa_bits);
  return std::nearbyint(magnitude / unit) * unit;
}

uint32_t EncodeSigned(const Format& f, double value, bool saturate) {
  const uint32_t sign = std::signbit(value) ? f.sign() : 0;
  if (std::isnan(value)) return f.special == Special::kNone ? 0 : f.nan() | sign;
  const double magnitude = std::isinf(value) ? std::abs(value) : Rounded(f, std::abs(value));
  if (magnitude > double(Magnitude(f, f.most()))) {
    if (saturate || f.special == Special::kNone) return f.most() | sign;
    return (f.special == Special::kIeee ? f.infinity() : f.nan()) | sign;
  }
  const uint32_t code = CodeOf(f, magnitude);
  return code == 0 && f.special == Special::kNegativeZero ? 0 : code | sign;
}

// Whether a number is out of range is decided before it is rounded, by ONNX's table.
uint32_t EncodePower(const Format& f, double value, const NarrowRounding& how) {
  const double least = Magnitude(f, 0), most = Magnitude(f, f.most());
  if (std::isnan(value) || value < 0) return f.nan();
  if (value < least || value > most) return !how.saturate ? f.nan() : value < least ? 0 : f.most();
  using Powers = NarrowRounding::Powers;
  const int exponent = std::ilogb(value);
  const double fraction = std::ldexp(value, -exponent);  // from 1 to 2
  const bool up =
      (how.powers == Powers::kUp && fraction > 1) || (how.powers == Powers::kNearest && fraction >= 1.5);
  return CodeOf(f, std::ldexp(1.0, exponent + int(up)));
}

}  // namespace

int BitsOf(DType narrow) { return FormatOf(narrow).bits; }

const float* NarrowNumbers(DType narrow) {
  using Tables = std::array<std::array<float, 256>, kTypes>;
  static const Tables tables = [] {
    Tables made;
    for (int t = 0; t < kTypes; ++t) {
      const auto type = DType(int(DType::kF8E4M3FN) + t);
      for (uint32_t byte = 0; byte < 256; ++byte)
        made[size_t(t)][byte] = IsNarrowFloat(type)
                                    ? FloatOf(kFormats[t], byte & ((1u << kFormats[t].bits) - 1))
                                : kFormats[t].is_signed ? float(int8_t(LowBits(type, byte)))
                                                        : float(LowBits(type, byte));
    }
    return made;
  }();  // immutable after the first call
  return tables[size_t(narrow) - size_t(DType::kF8E4M3FN)].data();
}

DType ByteTypeOf(DType narrow_integer) {
  return FormatOf(narrow_integer).is_signed ? DType::kI8 : DType::kU8;
}

Tensor AsBytes(const ConstView& narrow_integers) {
  Tensor bytes(ByteTypeOf(narrow_integers.type), narrow_integers.shape);
  std::transform(narrow_integers.as<uint8_t>(), narrow_integers.as<uint8_t>() + bytes.elements(),
                 bytes.mutable_view().as<uint8_t>(),
                 [&](uint8_t byte) { return LowBits(narrow_integers.type, byte); });
  return bytes;
}

uint8_t LowBits(DType narrow_integer, int64_t value) {
  const Format& f = FormatOf(narrow_integer);
  const auto code = uint32_t(uint64_t(value) & ((1u << f.bits) - 1));
  return uint8_t((code ^ f.sign()) - f.sign());  // extends the sign
}

uint8_t NearestLevel(DType narrow_integer, double value) {
  const Format& f = FormatOf(narrow_integer);
  const double least = -double(f.sign()), most = double(f.magnitudes() - 1);
  if (std::isnan(value)) value = least;
  return LowBits(narrow_integer, int64_t(std::clamp(std::nearbyint(value), least, most)));
}

uint8_t EncodeFloat(DType narrow_float, double value, const NarrowRounding& how) {
  const Format& f = FormatOf(narrow_float);
  return uint8_t(f.is_signed ? EncodeSigned(f, value, how.saturate) : EncodePower(f, value, how));
}

}  // namespace mete
