// The epilogue of matrix-vector products.
#if defined(METE_OUTPUTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_OUTPUTS_INL_H
#undef METE_OUTPUTS_INL_H
#else
#define METE_OUTPUTS_INL_H
#endif

#include "kernels/fast/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Applies bias, residual and activation to the sums in y.
inline void FinishOutputs(const Epilogue& e, Range outputs, float* y) {
  const F32 d;
  for (int64_t i = outputs.begin; i < outputs.end; i += static_cast<int64_t>(kLanes)) {
    const size_t left = static_cast<size_t>(outputs.end - i);
    V32 v = LoadN(d, y + i, left);
    if (e.bias) v = hn::Add(v, LoadN(d, e.bias + i, left));
    if (e.residual) v = hn::Add(v, LoadN(d, e.residual + i, left));
    StoreN(v, d, y + i, left);
  }
  ActivateRow(e.activation, y + outputs.begin, static_cast<size_t>(outputs.size()), y + outputs.begin);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
