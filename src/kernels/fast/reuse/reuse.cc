#include "kernels/fast/reuse/reuse.h"

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/reuse/reuse.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Eight chains hide a latency of 4 cycles on 2 units and, with four sums and two constants, fit 16 registers.
float Reuse(const float* HWY_RESTRICT data, size_t count, int multiply_adds) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kChains = 8, kSums = 4;
  const size_t n = hn::Lanes(d);
  const V scale = hn::Set(d, 0.75f), shift = hn::Set(d, 0.25f);
  V sums[kSums] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for (size_t at = 0; at + kChains * n <= count; at += kChains * n) {
    V y[kChains];
#pragma GCC unroll 8
    for (int i = 0; i < kChains; ++i) y[i] = hn::LoadU(d, data + at + size_t(i) * n);
    for (int m = 0; m < multiply_adds; ++m) {
#pragma GCC unroll 8
      for (int i = 0; i < kChains; ++i) y[i] = hn::MulAdd(y[i], scale, shift);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kChains; ++i) sums[i % kSums] = hn::Add(sums[i % kSums], y[i]);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))));
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(Reuse);

float ReadAndCompute(const float* data, size_t count, int multiply_adds) {
  return HWY_DYNAMIC_DISPATCH(Reuse)(data, count, multiply_adds);
}

}  // namespace mete
#endif  // HWY_ONCE
