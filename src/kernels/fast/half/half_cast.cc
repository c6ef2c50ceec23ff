#include "kernels/fast/half/half_cast.h"

#include "base/half.h"
#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/half/half_cast.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/half/round-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

using Halves = hn::Rebind<uint16_t, F32>;

void WidenRow(bool bf16, const uint16_t* x, size_t count, float* y) {
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const VU32 bits = hn::PromoteTo(U32(), hn::LoadU(Halves(), x + i));
    hn::StoreU(bf16 ? WidenBf16(bits) : WidenF16(bits), F32(), y + i);
  }
  for (; i < count; ++i) y[i] = bf16 ? BF16ToF32(x[i]) : F16ToF32(x[i]);
}

void RoundRow(bool bf16, const float* x, size_t count, uint16_t* y) {
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const V32 v = hn::LoadU(F32(), x + i);
    const VU32 bits = bf16 ? RoundToBf16(v) : RoundToF16(v);
    hn::StoreU(hn::DemoteTo(Halves(), hn::BitCast(hn::RebindToSigned<U32>(), bits)), Halves(), y + i);
  }
  for (; i < count; ++i) y[i] = bf16 ? F32ToBF16(x[i]) : F32ToF16(x[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(WidenRow);
HWY_EXPORT(RoundRow);

void WidenHalves(DType halves, const uint16_t* x, Range range, float* y) {
  HWY_DYNAMIC_DISPATCH(WidenRow)
  (halves == DType::kBF16, x + range.begin, static_cast<size_t>(range.size()), y + range.begin);
}

void RoundToHalves(DType halves, const float* x, Range range, uint16_t* y) {
  HWY_DYNAMIC_DISPATCH(RoundRow)
  (halves == DType::kBF16, x + range.begin, static_cast<size_t>(range.size()), y + range.begin);
}

}  // namespace mete
#endif  // HWY_ONCE
