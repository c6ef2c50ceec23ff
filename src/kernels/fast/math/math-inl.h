// Vectorised elementary functions in f32. elementwise_test.cc checks the relative errors that are stated here
// against f64; one ulp is 6e-8. NaN stays NaN; infinities give the mathematical limit.
#if defined(METE_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_MATH_INL_H
#undef METE_MATH_INL_H
#else
#define METE_MATH_INL_H
#endif

#include <limits>

#include "kernels/fast/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

HWY_INLINE V32 Num(float x) { return hn::Set(F32(), x); }

// Returns 2^n for integral n in [-126, 127].
HWY_INLINE V32 PowerOfTwo(hn::Vec<hn::RebindToSigned<F32>> n) {
  const hn::RebindToSigned<F32> di;
  return hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

// Returns 1 / x for |x| in [1e-37, 7e37], with a relative error <= 2e-7. The processor's estimate has 14 bits
// (AVX-512), 12 bits, or 8 bits (NEON), and each Newton step squares its error. A division takes as long as
// eight such functions.
HWY_INLINE V32 Reciprocal(V32 x) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::Div(Num(1.0f), x);
#else
  V32 y = hn::ApproximateReciprocal(x);
#if HWY_TARGET != HWY_AVX3
  y = hn::MulAdd(y, hn::NegMulAdd(x, y, Num(1.0f)), y);
#endif
  return hn::MulAdd(y, hn::NegMulAdd(x, y, Num(1.0f)), y);  // the correction is exact, so 1 gives 1
#endif
}

// Returns 1 / sqrt(x) for x in [1e-30, 1e30], with a relative error <= 3e-7, by the same method.
HWY_INLINE V32 ReciprocalSqrt(V32 x) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::Div(Num(1.0f), hn::Sqrt(x));
#else
  V32 y = hn::ApproximateReciprocalSqrt(x);
  const V32 half = hn::Mul(Num(0.5f), x);
#if HWY_TARGET != HWY_AVX3
  y = hn::Mul(y, hn::NegMulAdd(hn::Mul(half, y), y, Num(1.5f)));
#endif
  return hn::Mul(y, hn::NegMulAdd(hn::Mul(half, y), y, Num(1.5f)));
#endif
}

// Returns e^r for |r| <= 0.3466, with a relative error <= 4e-9. Of the polynomials 1 + r + ... of degree 6,
// this one has the smallest maximum error.
HWY_INLINE V32 ExpPolynomial(V32 r) {
  V32 p = Num(0.001381454437f);
  p = hn::MulAdd(p, r, Num(0.008368721776f));
  p = hn::MulAdd(p, r, Num(0.04166838917f));
  p = hn::MulAdd(p, r, Num(0.1666652058f));
  p = hn::MulAdd(p, r, Num(0.4999999344f));
  p = hn::MulAdd(p, r, Num(1.0f));
  return hn::MulAdd(p, r, Num(1.0f));
}

// x = n ln 2 + r with |r| <= 0.3466. n ln 2 is subtracted in two pieces (Cody and Waite). Adding 1.5 * 2^23
// rounds to the integer n and leaves n in the last bits of the sum. `biased` is this sum plus 127, so that
// ShiftLeft<23> of its bits is 2^n as a float, for n in [-126, 127].
struct ExpParts {
  V32 biased, r;
};
HWY_INLINE ExpParts SplitExp(V32 x) {
  const V32 biased = hn::MulAdd(x, Num(1.44269504f), Num(12582912.0f + 127));
  const V32 n = hn::Sub(biased, Num(12582912.0f + 127));
  return {biased, hn::NegMulAdd(n, Num(1.42860677e-6f), hn::NegMulAdd(n, Num(0.693145752f), x))};
}

// Returns e^x as Exp() does, for |x| <= 87. The result and its power of two are then normal numbers, so that
// one factor is enough.
HWY_INLINE V32 ExpInRange(V32 x) {
  const hn::RebindToSigned<F32> di;
  const ExpParts parts = SplitExp(x);
  return hn::Mul(ExpPolynomial(parts.r),
                 hn::BitCast(F32(), hn::ShiftLeft<23>(hn::BitCast(di, parts.biased))));
}

// Returns e^x as Exp() does, for x <= 0. For x < -87, where the result is hardly a normal number, it is 0.
HWY_INLINE V32 ExpBelow0(V32 x) {
  return hn::IfThenZeroElse(hn::Lt(x, Num(-87.0f)), ExpInRange(AtLeast(Num(-87.0f), x)));
}

// Returns e^x, with a relative error <= 1.5e-7 for results that are normal numbers. For x < -87.3 the result
// underflows gradually to 0; for x > 88.72 it is infinity.
HWY_INLINE V32 Exp(V32 x) {
  const hn::RebindToSigned<F32> di;
  const ExpParts parts = SplitExp(Clamp(x, Num(-104.0f), Num(89.0f)));
  // n is in -150 .. 128. Two factors are used so that both are normal numbers.
  const auto n = hn::Sub(hn::BitCast(di, parts.biased), hn::BitCast(di, Num(12582912.0f + 127)));
  const auto half = hn::ShiftRight<1>(n);
  return hn::Mul(hn::Mul(ExpPolynomial(parts.r), PowerOfTwo(half)), PowerOfTwo(hn::Sub(n, half)));
}

// Returns the natural logarithm, with a relative error <= 2e-7 (absolute <= 1e-7 near x = 1). The result is
// -inf for 0 and NaN for negative x. The function splits x = m 2^e with m in [sqrt(1/2), sqrt(2)) and
// computes ln m = 2 atanh(s) with s = (m - 1) / (m + 1), |s| <= 0.172, as the series up to s^9. The next term
// is below 0.172^10 / 11 = 2e-9 relative.
HWY_INLINE V32 Log(V32 x) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  const auto tiny = hn::Lt(x, Num(1.17549435e-38f));
  const V32 scaled = hn::IfThenElse(tiny, hn::Mul(x, Num(8388608.0f)), x);  // 2^23, to avoid denormals
  const auto bits = hn::BitCast(di, scaled);
  const auto shifted = hn::Sub(bits, hn::Set(di, 0x3F3504F3));  // sqrt(1/2)
  const auto e = hn::ShiftRight<23>(shifted);
  const auto mantissa = hn::Add(hn::And(shifted, hn::Set(di, 0x007FFFFF)), hn::Set(di, 0x3F3504F3));
  const V32 m = hn::BitCast(d, mantissa);
  V32 exponent = hn::ConvertTo(d, e);
  exponent = hn::Sub(exponent, hn::IfThenElseZero(tiny, Num(23.0f)));
  const V32 s = hn::Div(hn::Sub(m, Num(1.0f)), hn::Add(m, Num(1.0f)));
  const V32 z = hn::Mul(s, s);
  V32 p = Num(2.0f / 9);
  p = hn::MulAdd(p, z, Num(2.0f / 7));
  p = hn::MulAdd(p, z, Num(2.0f / 5));
  p = hn::MulAdd(p, z, Num(2.0f / 3));
  p = hn::Mul(hn::Mul(p, z), s);
  p = hn::MulAdd(exponent, Num(1.42860677e-6f), p);
  V32 y = hn::Add(hn::MulAdd(Num(2.0f), s, p), hn::Mul(exponent, Num(0.693145752f)));
  constexpr float kInf = std::numeric_limits<float>::infinity();
  y = hn::IfThenElse(hn::Eq(x, Num(kInf)), x, y);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), Num(-kInf), y);
  return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), y, Num(std::numeric_limits<float>::quiet_NaN()));
}

// Returns 1 / (1 + e^-x), with a relative error <= 4e-7 for x >= -87. For x < -87, where the result is not a
// normal number, it is 0.
HWY_INLINE V32 Sigmoid(V32 x) {
  const V32 bounded = Clamp(x, Num(-87.0f), Num(87.0f));
  return hn::IfThenZeroElse(hn::Lt(x, Num(-87.0f)),
                            Reciprocal(hn::Add(Num(1.0f), ExpInRange(hn::Neg(bounded)))));
}

// Returns tanh x as x P(x^2) / Q(x^2). P and Q have degree 4 and the smallest maximum relative error, 2.1e-8,
// for |x| <= 9.02; beyond that, tanh rounds to 1. With all roundings the error is <= 5e-7.
HWY_INLINE V32 Tanh(V32 x) {
  const V32 z = hn::Mul(x, x);
  V32 p = Num(1.331969822e-8f);
  p = hn::MulAdd(p, z, Num(2.058398642e-5f));
  p = hn::MulAdd(p, z, Num(0.003494067708f));
  p = hn::MulAdd(p, z, Num(0.1337974673f));
  p = hn::MulAdd(p, z, Num(0.9999999792f));
  V32 q = Num(7.762291254e-7f);
  q = hn::MulAdd(q, z, Num(0.0003283145294f));
  q = hn::MulAdd(q, z, Num(0.02587120199f));
  q = hn::MulAdd(q, z, Num(0.4671306204f));
  q = hn::MulAdd(q, z, Num(1.0f));
  const V32 y = hn::Mul(hn::Mul(x, p), Reciprocal(q));
  return hn::IfThenElse(hn::Gt(hn::Abs(x), Num(9.02f)), hn::CopySign(Num(1.0f), x), y);
}

// Returns erf x as x P(x^2) / Q(x^2). P and Q have degree 5 and, as in Tanh(), the smallest maximum relative
// error, 1.9e-8, for |x| <= 3.93; beyond that, erf rounds to 1. With all roundings the error is <= 5e-7.
HWY_INLINE V32 Erf(V32 x) {
  const V32 z = hn::Mul(x, x);
  V32 p = Num(2.042029847e-6f);
  p = hn::MulAdd(p, z, Num(0.0002848004602f));
  p = hn::MulAdd(p, z, Num(0.003779261634f));
  p = hn::MulAdd(p, z, Num(0.05278922104f));
  p = hn::MulAdd(p, z, Num(0.1907757717f));
  p = hn::MulAdd(p, z, Num(1.128379146f));
  V32 q = Num(3.800425789e-5f);
  q = hn::MulAdd(q, z, Num(0.001165127623f));
  q = hn::MulAdd(q, z, Num(0.01499674497f));
  q = hn::MulAdd(q, z, Num(0.1142541901f));
  q = hn::MulAdd(q, z, Num(0.5024033478f));
  q = hn::MulAdd(q, z, Num(1.0f));
  const V32 y = hn::Mul(hn::Mul(x, p), Reciprocal(q));
  return hn::IfThenElse(hn::Gt(hn::Abs(x), Num(3.93f)), hn::CopySign(Num(1.0f), x), y);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
