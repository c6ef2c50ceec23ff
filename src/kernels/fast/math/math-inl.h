// Vectorised elementary functions in f32. The relative errors claimed here are checked against f64 in
// math_test.cc; one ulp is 6e-8. NaN stays NaN; infinities give the mathematical limit.
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

// 2^n for integral n in [-126, 127].
HWY_INLINE V32 PowerOfTwo(hn::Vec<hn::RebindToSigned<F32>> n) {
  const hn::RebindToSigned<F32> di;
  return hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

// 1 / x for |x| in [1e-37, 7e37], relative error <= 2e-7: an estimate of 14 bits (AVX-512), 12 or 8 (NEON), whose error a Newton step
// squares. A division takes as long as eight of these.
HWY_INLINE V32 Reciprocal(V32 x) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::Div(Num(1.0f), x);
#else
  V32 y = hn::ApproximateReciprocal(x);
#if HWY_TARGET != HWY_AVX3
  y = hn::MulAdd(y, hn::NegMulAdd(x, y, Num(1.0f)), y);
#endif
  return hn::MulAdd(y, hn::NegMulAdd(x, y, Num(1.0f)), y);  // what is missing is exact: 1 gives 1
#endif
}

// 1 / sqrt(x) for x in [1e-30, 1e30], relative error <= 3e-7, likewise.
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

// The polynomial of Exp below: e^r for |r| <= 0.35.
HWY_INLINE V32 ExpPolynomial(V32 r) {
  V32 p = Num(1.0f / 5040);
  p = hn::MulAdd(p, r, Num(1.0f / 720));
  p = hn::MulAdd(p, r, Num(1.0f / 120));
  p = hn::MulAdd(p, r, Num(1.0f / 24));
  p = hn::MulAdd(p, r, Num(1.0f / 6));
  p = hn::MulAdd(p, r, Num(0.5f));
  p = hn::MulAdd(p, r, Num(1.0f));
  return hn::MulAdd(p, r, Num(1.0f));
}

// As Exp, for |x| <= 87: the result and the power of two in it are normal numbers, so that one factor will do.
HWY_INLINE V32 ExpInRange(V32 x) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  const V32 safe = hn::IfThenElse(hn::Eq(x, x), x, Num(0.0f));  // in C++ a NaN has no integer; the vectors' is any
#else
  const V32 safe = x;
#endif
  const V32 n = hn::Round(hn::Mul(safe, Num(1.44269504f)));
  V32 r = hn::NegMulAdd(n, Num(0.693145752f), x);
  r = hn::NegMulAdd(n, Num(1.42860677e-6f), r);
  return hn::Mul(ExpPolynomial(r), PowerOfTwo(hn::ConvertTo(hn::RebindToSigned<F32>(), n)));
}

// e^x, relative error <= 1.5e-7 for results that are normal numbers; below that (x < -87.3) flushes
// gradually to 0, above 88.72 gives infinity. r = x - n ln 2 in two pieces (Cody and Waite), then the Taylor
// polynomial of degree 7 on |r| <= 0.35, whose remainder is 0.35^8 / 8! < 6e-9.
HWY_INLINE V32 Exp(V32 x) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  const V32 bounded = Clamp(x, Num(-104.0f), Num(89.0f));
  const auto safe = hn::IfThenElse(hn::Eq(x, x), bounded, hn::Zero(d));  // no conversion of a NaN to int
  const V32 n = hn::Round(hn::Mul(safe, Num(1.44269504f)));
  V32 r = hn::NegMulAdd(n, Num(0.693145752f), safe);
  r = hn::NegMulAdd(n, Num(1.42860677e-6f), r);
  const V32 p = ExpPolynomial(r);
  const auto i = hn::ConvertTo(di, n);  // -150 .. 128: two factors, so that neither leaves the normal range
  const auto half = hn::ShiftRight<1>(i);
  const V32 y = hn::Mul(hn::Mul(p, PowerOfTwo(half)), PowerOfTwo(hn::Sub(i, half)));
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

// Natural logarithm, relative error <= 2e-7 (absolute <= 1e-7 near x = 1). 0 gives -inf, negative NaN.
// x = m 2^e with m in [sqrt(1/2), sqrt(2)), then ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| <= 0.172:
// the series up to s^9; the next term is below 0.172^10 / 11 = 2e-9 relative.
HWY_INLINE V32 Log(V32 x) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  const auto tiny = hn::Lt(x, Num(1.17549435e-38f));
  const V32 scaled = hn::IfThenElse(tiny, hn::Mul(x, Num(8388608.0f)), x);  // 2^23: no denormals from here
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

// 1 / (1 + e^-x), relative error <= 4e-7 for x >= -87; below, where the result is no normal number, 0.
HWY_INLINE V32 Sigmoid(V32 x) {
  const V32 bounded = Clamp(x, Num(-87.0f), Num(87.0f));
  return hn::IfThenZeroElse(hn::Lt(x, Num(-87.0f)), Reciprocal(hn::Add(Num(1.0f), ExpInRange(hn::Neg(bounded)))));
}

// Relative error <= 5e-7. Small |x|: x + x^3 P(x^2), the Taylor series to x^13 on |x| <= 0.4 (next term 2e-8
// relative); else 1 - 2 / (e^2|x| + 1) with the sign of x.
HWY_INLINE V32 Tanh(V32 x) {
  const V32 a = hn::Abs(x);
  const V32 z = hn::Mul(x, x);
  V32 p = Num(21844.0f / 6081075);
  p = hn::MulAdd(p, z, Num(-1382.0f / 155925));
  p = hn::MulAdd(p, z, Num(62.0f / 2835));
  p = hn::MulAdd(p, z, Num(-17.0f / 315));
  p = hn::MulAdd(p, z, Num(2.0f / 15));
  p = hn::MulAdd(p, z, Num(-1.0f / 3));
  const V32 small = hn::MulAdd(hn::Mul(p, z), x, x);
  const V32 e = ExpInRange(hn::Min(hn::Add(a, a), Num(40.0f)));
  const V32 big = hn::CopySign(hn::NegMulAdd(Num(2.0f), Reciprocal(hn::Add(e, Num(1.0f))), Num(1.0f)), x);
  const V32 y = hn::IfThenElse(hn::Lt(a, Num(0.4f)), small, big);
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

// Relative error <= 5e-7. |x| < 1: the Maclaurin series to x^21 (next term below 2e-9). Above: 1 - erfc, with
// erfc(x) = t e^(q(t) - x^2), t = 1 / (1 + x / 2); q is a least-squares fit in Chebyshev nodes over 1 <= x <= 4.2
// (error 2e-8), and erfc is at most 0.16 there. Beyond, erf rounds to 1 whatever q extrapolates to.
HWY_INLINE V32 Erf(V32 x) {
  const V32 z = hn::Mul(x, x);
  V32 p = Num(1.0f / 76204800);
  p = hn::MulAdd(p, z, Num(-1.0f / 6894720));
  p = hn::MulAdd(p, z, Num(1.0f / 685440));
  p = hn::MulAdd(p, z, Num(-1.0f / 75600));
  p = hn::MulAdd(p, z, Num(1.0f / 9360));
  p = hn::MulAdd(p, z, Num(-1.0f / 1320));
  p = hn::MulAdd(p, z, Num(1.0f / 216));
  p = hn::MulAdd(p, z, Num(-1.0f / 42));
  p = hn::MulAdd(p, z, Num(1.0f / 10));
  p = hn::MulAdd(p, z, Num(-1.0f / 3));
  p = hn::MulAdd(p, z, Num(1.0f));
  const V32 small = hn::Mul(hn::Mul(p, x), Num(1.12837917f));
  const V32 a = hn::Min(hn::Abs(x), Num(10.0f));
  const V32 t = Reciprocal(hn::MulAdd(Num(0.5f), a, Num(1.0f)));
  V32 q = Num(0.1204658f);
  q = hn::MulAdd(q, t, Num(-0.0937130824f));
  q = hn::MulAdd(q, t, Num(-0.375761122f));
  q = hn::MulAdd(q, t, Num(0.30968824f));
  q = hn::MulAdd(q, t, Num(0.292690277f));
  q = hn::MulAdd(q, t, Num(1.01490772f));
  q = hn::MulAdd(q, t, Num(-1.26660025f));
  const V32 tail = hn::Mul(t, Exp(hn::Sub(q, hn::Mul(a, a))));
  const V32 big = hn::CopySign(hn::Sub(Num(1.0f), tail), x);
  const V32 y = hn::IfThenElse(hn::Lt(a, Num(1.0f)), small, big);
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
