// Arithmetic on element types: the type in which elements are computed, conversions that are defined for
// every value, and integer operations that wrap around.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/narrow.h"
#include "base/visit_type.h"

namespace mete {

// A bool in memory. Every byte but zero reads as true; a C++ bool with a byte other than 0 and 1 is
// undefined.
struct BoolByte {
  uint8_t bits = 0;
  BoolByte() = default;
  BoolByte(bool b) : bits(b) {}
  operator bool() const { return bits != 0; }
};

// Calls f like VisitAny(), but with BoolByte for bool.
template <class F>
decltype(auto) VisitElement(DType type, F&& f) {
  if (type == DType::kBool) return f.template operator()<BoolByte>();
  return VisitNumeric(type, std::forward<F>(f));
}

template <class T>
inline constexpr bool kIsFloat =
    std::is_floating_point_v<T> || std::is_same_v<T, F16> || std::is_same_v<T, BF16>;

// The type in which one element is computed: float for f16 and bf16, bool for bool, and the element's own
// type otherwise.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, BoolByte>, bool,
                                   std::conditional_t<kIsFloat<T> && !std::is_same_v<T, double>, float, T>>;

// The type in which many elements are summed: double, int64_t or uint64_t.
template <class T>
using Wide =
    std::conditional_t<kIsFloat<T>, double, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

// Returns f(a, b). Integers are computed modulo 2^bits, without the undefined overflow of signed types and of
// uint16_t, which C++ promotes to int.
template <class T, class F>
T Wrapping(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    return T(f(U(a), U(b)));
  } else {
    return f(a, b);
  }
}
template <class T>
T WrapAdd(T a, T b) {
  return Wrapping(a, b, [](auto x, auto y) { return x + y; });
}
template <class T>
T WrapSub(T a, T b) {
  return Wrapping(a, b, [](auto x, auto y) { return x - y; });
}
template <class T>
T WrapMul(T a, T b) {
  return Wrapping(a, b, [](auto x, auto y) { return x * y; });
}

// Returns whether x is a NaN, which integers have not.
template <class T>
bool IsNotANumber(T x) {
  if constexpr (kIsFloat<T>) return std::isnan(Compute<T>(x));
  else return false;
}

// These two functions are numpy's minimum and maximum: if one operand is NaN, the result is NaN.
template <class T>
T Least(T a, T b) {
  return a < b || IsNotANumber(a) ? a : b;
}
template <class T>
T Most(T a, T b) {
  return a > b || IsNotANumber(a) ? a : b;
}

template <class T>
T Sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

// Rounds to float by "round to odd". Rounding the result again, to f16 or bf16, then has the same result as
// rounding x once.
inline float RoundToOdd(double x) {
  float f = float(x);
  if (double(f) == x || !std::isfinite(f)) return f;
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  if (bits & 1) return f;
  return std::bit_cast<float>(std::abs(double(f)) < std::abs(x) ? bits + 1 : bits - 1);
}

// Converts to any element type, with a defined result for every value: integers saturate, and for them NaN
// becomes 0.
template <class T>
T FromDouble(double x) {
  if constexpr (std::is_same_v<T, BoolByte>) {
    return x != 0;
  } else if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (std::isnan(x)) return 0;
    if (x <= double(Limits::min())) return Limits::min();
    if (x >= double(Limits::max())) return Limits::max();
    return T(x);
  } else if constexpr (std::is_floating_point_v<T>) {
    return T(x);
  } else {
    return T(RoundToOdd(x));
  }
}

// Converts a sum or product back to its element type; integers wrap around.
template <class T>
T FromWide(Wide<T> x) {
  if constexpr (kIsFloat<T>) return FromDouble<T>(x);
  else return T(x);
}

// Reads all elements as double (integers beyond 2^53 are rounded).
inline void ReadDoubles(const ConstView& v, double* to) {
  if (IsNarrow(v.type)) {
    const float* numbers = NarrowNumbers(v.type);
    for (int64_t i = 0, n = v.elements(); i < n; ++i) to[i] = numbers[v.as<uint8_t>()[i]];
    return;
  }
  VisitElement(v.type, [&]<class T>() {
    const T* from = v.as<T>();
    for (int64_t i = 0, n = v.elements(); i < n; ++i) to[i] = double(from[i]);
  });
}

}  // namespace mete
