// Activations (base/fused.h) on vectors.
#if defined(METE_ACTIVATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_ACTIVATION_INL_H
#undef METE_ACTIVATION_INL_H
#else
#define METE_ACTIVATION_INL_H
#endif

#include <limits>

#include "kernels/fast/epilogue.h"
#include "kernels/fast/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// kNone, kRelu and kClip are one clamp, which micro-kernels apply in registers.
struct ClampBounds {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};

HWY_INLINE ClampBounds BoundsOf(const Epilogue& e) {
  ClampBounds bounds;
  if (e.activation.op == FusedOp::kRelu) bounds.low = 0;
  if (e.activation.op == FusedOp::kClip) bounds = {e.activation.alpha, e.activation.beta};
  return bounds;
}

HWY_INLINE bool IsClamp(FusedOp op) {
  return op == FusedOp::kNone || op == FusedOp::kRelu || op == FusedOp::kClip;
}

HWY_INLINE V32 HardSigmoid(V32 x, V32 alpha, V32 beta) {
  return Clamp(hn::MulAdd(x, alpha, beta), Num(0.0f), Num(1.0f));
}

HWY_INLINE V32 GeluExact(V32 x) {
  return hn::Mul(hn::Mul(Num(0.5f), x), hn::Add(Num(1.0f), Erf(hn::Mul(x, Num(0.707106781f)))));
}

HWY_INLINE V32 GeluTanh(V32 x) {
  const V32 inner = hn::Mul(Num(0.797884561f), hn::MulAdd(hn::Mul(hn::Mul(x, x), x), Num(0.044715f), x));
  return hn::Mul(hn::Mul(Num(0.5f), x), hn::Add(Num(1.0f), Tanh(inner)));
}

// `positive` where x >= 0 (and for NaN), `negative` elsewhere.
HWY_INLINE V32 BySign(V32 x, V32 positive, V32 negative) {
  return hn::IfThenElse(hn::Lt(x, Num(0.0f)), negative, positive);
}

// ln(1 + e^x) as max(x, 0) + log1p(e^-|x|), relative error <= 1e-6. The division gives back what rounding
// u = 1 + e lost, all of it where e is below the last bit of 1.
HWY_INLINE V32 Softplus(V32 x) {
  const V32 e = Exp(hn::Neg(hn::Abs(x)));
  const V32 u = hn::Add(Num(1.0f), e);
  const V32 log1p = hn::Add(Log(u), hn::Div(hn::Sub(e, hn::Sub(u, Num(1.0f))), u));
  const V32 y = hn::Add(AtLeast(Num(0.0f), x), log1p);
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

HWY_INLINE V32 Elu(V32 x, V32 alpha) { return BySign(x, x, hn::Mul(alpha, hn::Sub(Exp(x), Num(1.0f)))); }

// to[i] = activation(from[i]); the same array is fine. True if `a` is an activation, else nothing is done.
inline bool ActivateRow(const Activation& a, const float* from, size_t count, float* to) {
  const V32 va = Num(a.alpha), vb = Num(a.beta);
  switch (a.op) {
#define METE_MAP(expression) return MapRow(from, count, to, [=](V32 x) HWY_ATTR { return (void)va, (void)vb, expression; }), true
    case FusedOp::kNone: METE_MAP(x);
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
    case FusedOp::kMish: METE_MAP(hn::Mul(x, Tanh(Softplus(x))));
#undef METE_MAP
    default: return false;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
