// The name of the target for which this copy of the code is compiled (see target.h).
#if defined(METE_TARGET_NAME_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef METE_TARGET_NAME_INL_H
#undef METE_TARGET_NAME_INL_H
#else
#define METE_TARGET_NAME_INL_H
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

constexpr const char* TargetName() {
  return HWY_TARGET == HWY_AVX3   ? "avx512"
         : HWY_TARGET == HWY_AVX2 ? "avx2"
         : HWY_TARGET == HWY_SSE4 ? "sse4"
         : HWY_TARGET == HWY_NEON ? "neon"
                                  : "scalar";
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();
#endif
