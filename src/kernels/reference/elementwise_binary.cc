// Kernels of arithmetic, logic and comparisons of several inputs that broadcast together.
#include <cmath>

#include "kernels/reference/elementwise.h"

namespace mete {
namespace {

template <class F>
void PairNumbers(RefArgs& args, F f) {
  VisitNumeric(args.out[0].type,
               [&]<class T>() { MapPairs<T, T, T>(args.in[0], args.in[1], args.out[0], f); });
}

template <class F>
void PairInts(RefArgs& args, F f) {
  VisitInt(args.out[0].type, [&]<class T>() { MapPairs<T, T, T>(args.in[0], args.in[1], args.out[0], f); });
}

template <class F>
void PairBits(RefArgs& args, F f) {
  VisitSize(args.out[0].type, [&]<class T>() { MapPairs<T, T, T>(args.in[0], args.in[1], args.out[0], f); });
}

template <class F>
void PairBools(RefArgs& args, F f) {
  MapPairs<BoolByte, BoolByte, BoolByte>(args.in[0], args.in[1], args.out[0], f);
}

template <class F>
void Compare(RefArgs& args, F f) {
  VisitElement(args.in[0].type,
               [&]<class T>() { MapPairs<T, T, BoolByte>(args.in[0], args.in[1], args.out[0], f); });
}

// Computes out = f(...f(f(in0, in1), in2)...), rounded to the element type after every step.
template <class F>
void Fold(RefArgs& args, F f) {
  VisitNumeric(args.out[0].type, [&]<class T>() {
    if (args.in.size() == 1) return MapElements<T, T>(args.in[0], args.out[0], [](auto x) { return x; });
    MapPairs<T, T, T>(args.in[0], args.in[1], args.out[0], f);
    for (size_t i = 2; i < args.in.size(); ++i) MapPairs<T, T, T>(args.out[0], args.in[i], args.out[0], f);
  });
}

void Mean(RefArgs& args) {
  Fold(args, [](auto a, auto b) { return WrapAdd(a, b); });
  VisitFloat(args.out[0].type, [&]<class T>() {
    MapElements<T, T>(args.out[0], args.out[0], [n = Compute<T>(args.in.size())](auto x) { return x / n; });
  });
}

// Returns a / b. The quotient of integers is truncated as in C.
template <class T>
T Divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a / b;
  else {
    if (b == 0) Invalid("Div", "integer division by zero");
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return WrapSub(T(0), a);
    return T(a / b);
  }
}

// Returns the remainder with the sign of the divisor.
template <class T>
T FloorModulo(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T r = std::fmod(a, b);
    if (r == 0) return std::copysign(r, b);
    return (r < 0) != (b < 0) ? r + b : r;
  } else {
    if (b == 0) Invalid("Mod", "integer division by zero");
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return 0;
      const T r = T(a % b);
      return r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
    } else {
      return T(a % b);
    }
  }
}

// Returns the remainder with the sign of the dividend.
template <class T>
T TruncatedModulo(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmod(a, b);
  else {
    if (b == 0) Invalid("Mod", "integer division by zero");
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return 0;
    return T(a % b);
  }
}

void Mod(RefArgs& args) {
  if (args.attributes.Int("fmod", 0) != 0)
    PairNumbers(args, [](auto a, auto b) { return TruncatedModulo(a, b); });
  else PairNumbers(args, [](auto a, auto b) { return FloorModulo(a, b); });
}

// Computes the power by repeated squaring, modulo 2^64. For a negative exponent -n the result is 1/base^n,
// truncated.
int64_t IntegerPower(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) Invalid("Pow", "zero to a negative integer power; got 0 ^ {}", exponent);
    return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  uint64_t result = 1, square = uint64_t(base);
  for (; exponent > 0; exponent >>= 1, square *= square)
    if (exponent & 1) result *= square;
  return int64_t(result);
}

// Returns the power in the element type of the base, which is also the output's.
template <class T, class E>
T PowerOf(Compute<T> base, Compute<E> exponent) {
  if constexpr (kIsFloat<T> && std::is_same_v<T, E>) return T(std::pow(base, exponent));
  else if constexpr (kIsFloat<T> || kIsFloat<E>)
    return FromDouble<T>(std::pow(double(base), double(exponent)));
  else return T(IntegerPower(int64_t(base), int64_t(exponent)));
}

// Computes Pow for exponents of another type than the base's. All exponents are first converted to E in
// scratch memory: to double (floats) or int64_t (integers). This needs less code than one loop for each pair
// of types.
template <class E>
void PowThrough(RefArgs& args) {
  ConstView exponent{args.scratch.Get<E>(size_t(args.in[1].elements())), DType::kUnknown, args.in[1].shape};
  VisitNumeric(args.in[1].type, [&]<class From>() {
    const From* from = args.in[1].as<From>();
    E* to = static_cast<E*>(const_cast<void*>(exponent.data));
    for (int64_t i = 0, n = args.in[1].elements(); i < n; ++i) to[i] = E(Compute<From>(from[i]));
  });
  VisitNumeric(args.in[0].type,
               [&]<class T>() { MapPairs<T, E, T>(args.in[0], exponent, args.out[0], PowerOf<T, E>); });
}

void Pow(RefArgs& args) {
  if (IsFloat(args.in[0].type) && args.in[0].type == args.in[1].type) {
    VisitFloat(args.in[0].type,
               [&]<class T>() { MapPairs<T, T, T>(args.in[0], args.in[1], args.out[0], PowerOf<T, T>); });
  } else if (IsInt(args.in[1].type)) {
    PowThrough<int64_t>(args);
  } else {
    PowThrough<double>(args);
  }
}

// Shifts x. A shift by an amount outside [0, bits) leaves only copies of the fill bit, which is 0, or the
// sign bit in a right shift of a signed type.
template <class T>
T ShiftLeft(T x, T amount) {
  constexpr T kBits = T(sizeof(T) * 8);
  if (amount < 0 || amount >= kBits) return 0;
  return T(uint64_t(x) << uint64_t(amount));
}

template <class T>
T ShiftRight(T x, T amount) {
  constexpr T kBits = T(sizeof(T) * 8);
  if (amount < 0 || amount >= kBits) return x < 0 ? T(-1) : T(0);
  return T(x >> amount);
}

void BitShift(RefArgs& args) {
  if (args.attributes.String("direction", "") == "LEFT")
    PairInts(args, [](auto x, auto amount) { return ShiftLeft(x, amount); });
  else PairInts(args, [](auto x, auto amount) { return ShiftRight(x, amount); });
}

void PRelu(RefArgs& args) {
  PairNumbers(args, [](auto x, auto slope) { return x < 0 ? WrapMul(x, slope) : x; });
}

void SwiGlu(RefArgs& args) {
  const float alpha = args.attributes.Float("alpha", 1);
  VisitFloat(args.out[0].type, [&]<class T>() {
    MapPairs<T, T, T>(args.in[0], args.in[1], args.out[0],
                      [=](auto a, auto b) { return a * Sigmoid(alpha * a) * b; });
  });
}

constexpr RefEntry kElementwiseBinaryEntries[] = {
    {"Add", [](RefArgs& args) { PairNumbers(args, [](auto a, auto b) { return WrapAdd(a, b); }); }},
    {"And", [](RefArgs& args) { PairBools(args, [](bool a, bool b) { return a && b; }); }},
    {"BitShift", BitShift},
    {"BitwiseAnd", [](RefArgs& args) { PairBits(args, [](auto a, auto b) { return a & b; }); }},
    {"BitwiseOr", [](RefArgs& args) { PairBits(args, [](auto a, auto b) { return a | b; }); }},
    {"BitwiseXor", [](RefArgs& args) { PairBits(args, [](auto a, auto b) { return a ^ b; }); }},
    {"Div", [](RefArgs& args) { PairNumbers(args, [](auto a, auto b) { return Divide(a, b); }); }},
    {"Equal", [](RefArgs& args) { Compare(args, [](auto a, auto b) { return a == b; }); }},
    {"Greater", [](RefArgs& args) { Compare(args, [](auto a, auto b) { return a > b; }); }},
    {"GreaterOrEqual", [](RefArgs& args) { Compare(args, [](auto a, auto b) { return a >= b; }); }},
    {"Less", [](RefArgs& args) { Compare(args, [](auto a, auto b) { return a < b; }); }},
    {"LessOrEqual", [](RefArgs& args) { Compare(args, [](auto a, auto b) { return a <= b; }); }},
    {"Max", [](RefArgs& args) { Fold(args, [](auto a, auto b) { return Most(a, b); }); }},
    {"Mean", Mean},
    {"Min", [](RefArgs& args) { Fold(args, [](auto a, auto b) { return Least(a, b); }); }},
    {"Mod", Mod},
    {"Mul", [](RefArgs& args) { PairNumbers(args, [](auto a, auto b) { return WrapMul(a, b); }); }},
    {"Or", [](RefArgs& args) { PairBools(args, [](bool a, bool b) { return a || b; }); }},
    {"PRelu", PRelu},
    {"Pow", Pow},
    {"Sub", [](RefArgs& args) { PairNumbers(args, [](auto a, auto b) { return WrapSub(a, b); }); }},
    {"Sum", [](RefArgs& args) { Fold(args, [](auto a, auto b) { return WrapAdd(a, b); }); }},
    {"SwiGLU", SwiGlu},
    {"Xor", [](RefArgs& args) { PairBools(args, [](bool a, bool b) { return a != b; }); }},
};

}  // namespace

std::span<const RefEntry> BinaryReferences() { return kElementwiseBinaryEntries; }

}  // namespace mete
