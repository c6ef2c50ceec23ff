// The activations of base/fused.h for vectors.
#if defined(METE_ACTIVATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_ACTIVATION_INL_H
#undef METE_ACTIVATION_INL_H
#else
#define METE_ACTIVATION_INL_H
#endif

#include <limits>

#include "kernels/fast/epilogue.h"
#include "kernels/fast/math/math-inl.h"

// GCC would give each file a clone of its own of ActivateRows(), 37 KB, instead of one for the whole library.
#ifndef METE_NO_CLONE
#if HWY_COMPILER_GCC_ACTUAL
#define METE_NO_CLONE __attribute__((noclone))
#else
#define METE_NO_CLONE
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// The bounds of a clamp. kNone, kRelu and kClip are clamps, which micro-kernels apply in registers.
struct ClampBounds {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};

HWY_INLINE ClampBounds BoundsOf(const Activation& a) {
  ClampBounds bounds;
  if (a.op == FusedOp::kRelu) bounds.low = 0;
  if (a.op == FusedOp::kClip) bounds = {a.alpha, a.beta};
  return bounds;
}

HWY_INLINE bool IsClamp(FusedOp op) {
  return op == FusedOp::kNone || op == FusedOp::kRelu || op == FusedOp::kClip;
}

// Returns whether the activation is a gate, x clamp(x scale + shift, low, 1), which micro-kernels also apply
// in registers. HardSwish is a gate. LeakyRelu with a slope in [0, 1] is a gate with a scale so large that
// the clamp returns one of its bounds (except for denormal x).
HWY_INLINE bool IsGate(const Activation& a) {
  return a.op == FusedOp::kHardSwish || (a.op == FusedOp::kLeakyRelu && a.alpha >= 0 && a.alpha <= 1);
}

HWY_INLINE bool IsForRegisters(const Activation& a) { return IsClamp(a.op) || IsGate(a); }

// The part of an activation that micro-kernels apply in registers. It leaves values unchanged if the
// activation is neither a clamp nor a gate.
struct InRegisters {
  explicit HWY_INLINE InRegisters(const Activation& a) : gate(IsGate(a)) {
    const ClampBounds bounds = BoundsOf(a);
    const bool leaky = a.op == FusedOp::kLeakyRelu;
    scale = Num(leaky ? std::numeric_limits<float>::max() : 1.0f / 6);
    shift = Num(leaky ? 0.0f : 0.5f);
    low = Num(!gate ? bounds.low : leaky ? a.alpha : 0.0f);
    high = Num(gate ? 1.0f : bounds.high);
  }
  HWY_INLINE V32 Clamped(V32 x) const { return Clamp(x, low, high); }
  HWY_INLINE V32 Gated(V32 x) const { return hn::Mul(x, Clamp(hn::MulAdd(x, scale, shift), low, high)); }

  bool gate;
  V32 scale, shift, low, high;
};

HWY_INLINE V32 HardSigmoid(V32 x, V32 alpha, V32 beta) {
  return Clamp(hn::MulAdd(x, alpha, beta), Num(0.0f), Num(1.0f));
}

// Returns x F(x), where F is the normal distribution function. With a = |x| the formula is
// max(x, 0) - a F(-a) and F(-a) = e^(-a^2 / 2) P(a) / Q(a). This formula loses little precision for large -x,
// where F(x) is near 0. P and Q have degree 2 and 3 and the smallest maximum error, 9.2e-8 of
// F(-a) max(1, a). With all roundings the error is 1e-6 relative + 1.5e-7 absolute.
HWY_INLINE V32 GeluExact(V32 x) {
  const V32 a = AtMost(Num(13.0f), hn::Abs(x));  // F(-a) is 0 for a >= 13; 13^2 / 2 < 87
  const V32 e = ExpInRange(hn::Mul(hn::Mul(a, Num(-0.5f)), a));
  V32 p = hn::MulAdd(a, Num(0.04153630906f), Num(0.2188902034f));
  p = hn::MulAdd(p, a, Num(0.5000000915f));
  V32 q = hn::MulAdd(a, Num(0.1025215715f), Num(0.5688713188f));
  q = hn::MulAdd(q, a, Num(1.235677319f));
  q = hn::MulAdd(q, a, Num(1.0f));
  return hn::NegMulAdd(hn::Mul(a, p), hn::Mul(e, Reciprocal(q)), AtLeast(Num(0.0f), x));
}

// Returns x / 2 (1 + tanh u) = x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
HWY_INLINE V32 GeluTanh(V32 x) {
  const V32 inner = hn::MulAdd(hn::Mul(x, x), Num(0.0713548163f), Num(1.59576912f));
  return hn::Mul(x, Sigmoid(hn::Mul(x, inner)));
}

// Returns the lanes of `positive` where x >= 0 or x is NaN, and the lanes of `negative` elsewhere.
HWY_INLINE V32 BySign(V32 x, V32 positive, V32 negative) {
  return hn::IfThenElse(hn::Lt(x, Num(0.0f)), negative, positive);
}

// Returns ln(1 + e^x), computed as max(x, 0) + log1p(e^-|x|), with a relative error <= 1e-6. The division
// restores the part of e that the rounding of u = 1 + e lost, even if e is smaller than the last bit of 1.
HWY_INLINE V32 Softplus(V32 x) {
  const V32 e = Exp(hn::Neg(hn::Abs(x)));
  const V32 u = hn::Add(Num(1.0f), e);
  const V32 log1p = hn::Add(Log(u), hn::Div(hn::Sub(e, hn::Sub(u, Num(1.0f))), u));
  const V32 y = hn::Add(AtLeast(Num(0.0f), x), log1p);
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

HWY_INLINE V32 Elu(V32 x, V32 alpha) {
  return BySign(x, x, hn::Mul(alpha, hn::Sub(ExpBelow0(AtMost(Num(0.0f), x)), Num(1.0f))));
}

// Returns x tanh(ln(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2). For x > 20 the fraction is 1; for x <
// -87 it is hardly a normal number, and the result is 0.
HWY_INLINE V32 Mish(V32 x) {
  const V32 e = ExpInRange(Clamp(x, Num(-87.0f), Num(20.0f)));
  const V32 n = hn::Mul(e, hn::Add(e, Num(2.0f)));
  return hn::IfThenZeroElse(hn::Lt(x, Num(-87.0f)),
                            hn::Mul(hn::Mul(x, n), Reciprocal(hn::Add(n, Num(2.0f)))));
}

// Rows of a matrix; `stride` is the distance of neighbouring rows in elements.
struct Rows {
  size_t count, columns, stride;
};

template <class F>
HWY_INLINE void MapEach(const Rows& rows, const float* from, float* to, const F& f) {
  for (size_t i = 0; i < rows.count; ++i)
    MapRow(from + i * rows.stride, rows.columns, to + i * rows.stride, f);
}

// Computes to[i] = activation(from[i]) in all rows; `from` and `to` may be the same array. Returns false and
// does nothing if `a` is not an activation. All kernels share this code and choose the activation once for
// many values: they call the function for a tile of outputs that is still in the first-level cache.
inline HWY_NOINLINE METE_NO_CLONE bool ActivateRows(const Activation& a, const Rows& rows, const float* from,
                                                    float* to) {
  const V32 va = Num(a.alpha), vb = Num(a.beta);
  switch (a.op) {
#define METE_MAP(expression)                                             \
  do {                                                                   \
    MapEach(rows, from, to, [=](V32 x) HWY_ATTR { return expression; }); \
    return true;                                                         \
  } while (false)
    case FusedOp::kNone:
      if (from == to) return true;
      METE_MAP(x);
    case FusedOp::kRelu: METE_MAP(AtLeast(Num(0.0f), x));
    case FusedOp::kClip: METE_MAP(Clamp(x, va, vb));
    case FusedOp::kLeakyRelu: METE_MAP(BySign(x, x, hn::Mul(x, va)));
    case FusedOp::kSigmoid: METE_MAP(Sigmoid(x));
    case FusedOp::kHardSigmoid: METE_MAP(HardSigmoid(x, va, vb));
    case FusedOp::kHardSwish: METE_MAP(hn::Mul(x, HardSigmoid(x, Num(1.0f / 6), Num(0.5f))));
    case FusedOp::kSwish: METE_MAP(hn::Mul(x, Sigmoid(hn::Mul(va, x))));
    case FusedOp::kTanh: METE_MAP(Tanh(x));
    case FusedOp::kGelu:
      if (a.alpha == 1) METE_MAP(GeluTanh(x));
      METE_MAP(GeluExact(x));
    case FusedOp::kElu: METE_MAP(Elu(x, va));
    case FusedOp::kSoftplus: METE_MAP(Softplus(x));
    case FusedOp::kMish: METE_MAP(Mish(x));
#undef METE_MAP
    default: return false;
  }
}

inline bool ActivateRow(const Activation& a, const float* from, size_t count, float* to) {
  return ActivateRows(a, {1, count, count}, from, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
