#include "kernels/fast/elementwise/select.h"

#include <algorithm>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/elementwise/select.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

void SelectRow(const uint8_t* mask, const float* yes, const float* no, size_t count, float* to) {
  const F32 d;
  const hn::Rebind<uint8_t, F32> bytes;
  const hn::Rebind<uint32_t, F32> words;
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const auto set = hn::Ne(hn::PromoteTo(words, hn::LoadU(bytes, mask + i)), hn::Zero(words));
    const V32 chosen = hn::IfThenElse(hn::RebindMask(d, set), hn::LoadU(d, yes + i), hn::LoadU(d, no + i));
    hn::StoreU(chosen, d, to + i);
  }
  for (; i < count; ++i) to[i] = mask[i] ? yes[i] : no[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(SelectRow);

namespace {

constexpr int64_t kChunk = 256;  // elements, as in elementwise.h

template <class T>
using Chunks = BroadcastChunks<T, kChunk>;

}  // namespace

void RunSelect(const SelectPlan& plan, const uint8_t* mask, const float* yes, const float* no, Range range,
               float* output) {
  Chunks<uint8_t> masks(plan.mask, mask, range.begin);
  Chunks<float> ayes(plan.yes, yes, range.begin), noes(plan.no, no, range.begin);
  for (int64_t begin = range.begin; begin < range.end; begin += kChunk) {
    const int64_t count = std::min(kChunk, range.end - begin);
    HWY_DYNAMIC_DISPATCH(SelectRow)
    (masks.Next(begin, count), ayes.Next(begin, count), noes.Next(begin, count), static_cast<size_t>(count),
     output + begin);
  }
}

}  // namespace mete
#endif  // HWY_ONCE
