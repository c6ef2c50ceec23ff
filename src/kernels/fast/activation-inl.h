// Activation (epilogue.h) on vectors.
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
  if (e.kind == Activation::kRelu) bounds.low = 0;
  if (e.kind == Activation::kClip) bounds = {e.alpha, e.beta};
  return bounds;
}

HWY_INLINE bool IsClamp(Activation kind) {
  return kind == Activation::kNone || kind == Activation::kRelu || kind == Activation::kClip;
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

// to[i] = activation(from[i]); the same array is fine.
inline void ActivateRow(Activation kind, float alpha, float beta, const float* from, size_t count, float* to) {
  const V32 va = Num(alpha), vb = Num(beta);
  switch (kind) {
    case Activation::kNone:
      if (from != to) MapRow(from, count, to, [](V32 x) HWY_ATTR { return x; });
      return;
    case Activation::kRelu:
      return MapRow(from, count, to, [](V32 x) HWY_ATTR { return hn::Max(Num(0.0f), x); });
    case Activation::kClip:
      return MapRow(from, count, to, [=](V32 x) HWY_ATTR { return Clamp(x, va, vb); });
    case Activation::kLeakyRelu:
      return MapRow(from, count, to, [=](V32 x) HWY_ATTR { return BySign(x, x, hn::Mul(x, va)); });
    case Activation::kSigmoid:
      return MapRow(from, count, to, [](V32 x) HWY_ATTR { return Sigmoid(x); });
    case Activation::kHardSigmoid:
      return MapRow(from, count, to, [=](V32 x) HWY_ATTR { return HardSigmoid(x, va, vb); });
    case Activation::kHardSwish:
      return MapRow(from, count, to, [](V32 x) HWY_ATTR { return hn::Mul(x, HardSigmoid(x, Num(1.0f / 6), Num(0.5f))); });
    case Activation::kSwish:
      return MapRow(from, count, to, [=](V32 x) HWY_ATTR { return hn::Mul(x, Sigmoid(hn::Mul(va, x))); });
    case Activation::kTanh:
      return MapRow(from, count, to, [](V32 x) HWY_ATTR { return Tanh(x); });
    case Activation::kGelu:
      if (alpha == 1) return MapRow(from, count, to, [](V32 x) HWY_ATTR { return GeluTanh(x); });
      return MapRow(from, count, to, [](V32 x) HWY_ATTR { return GeluExact(x); });
    case Activation::kElu:
      return MapRow(from, count, to, [=](V32 x) HWY_ATTR { return BySign(x, x, hn::Mul(va, hn::Sub(Exp(x), Num(1.0f)))); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
