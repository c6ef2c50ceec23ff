#include "kernels/fast/matvec/few_bits.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/matvec/few_bits.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/matvec/outputs-inl.h"
#include "kernels/fast/target/name-inl.h"

#ifndef METE_FEW_BITS_ONCE
#define METE_FEW_BITS_ONCE
namespace mete {

struct FewBitsCode {
  const char* target;
  int64_t width;  // outputs of a panel
  // Writes the sums of a panel.
  void (*sums8)(const FewBitsPlan& plan, const std::byte* panel, const float* x, float* y);
  void (*sums4)(const FewBitsPlan& plan, const std::byte* panel, const float* x, float* y);
  void (*finish)(const Epilogue&, Range outputs, float* y);
};

}  // namespace mete
#endif  // METE_FEW_BITS_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Vectors of a panel: as many sums as hide the latency of a multiply-add.
constexpr size_t kVectors = 4;
constexpr size_t kWidth = kVectors * kLanes;

using I32 = hn::ScalableTag<int32_t>;
using I8 = hn::Rebind<int8_t, I32>;

HWY_INLINE V32 AsFloats(hn::Vec<I32> integers) { return hn::ConvertTo(F32(), integers); }
HWY_INLINE hn::Vec<I32> LoadBytes(const std::byte* p) {
  return hn::PromoteTo(I32(), hn::LoadU(I8(), reinterpret_cast<const int8_t*>(p)));
}

// Adds the products of the elements [0, count) of a group to its sums.
HWY_INLINE void AddBytes(const std::byte* w, size_t count, const float* x, V32 (&sums)[kVectors]) {
  for (size_t k = 0; k < count; ++k, w += kWidth) {
    const V32 input = hn::Set(F32(), x[k]);
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v)
      sums[v] = hn::MulAdd(input, AsFloats(LoadBytes(w + v * kLanes)), sums[v]);
  }
}

// A byte has the elements k (its lower half) and k + 1 of a column, of two's complement.
HWY_INLINE void AddNibbles(const std::byte* w, size_t count, const float* x, V32 (&sums)[kVectors]) {
  for (size_t k = 0; k < count; k += 2, w += kWidth) {
    const V32 even = hn::Set(F32(), x[k]), odd = hn::Set(F32(), k + 1 < count ? x[k + 1] : 0);
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      const auto both = LoadBytes(w + v * kLanes);
      const V32 low = AsFloats(hn::ShiftRight<28>(hn::ShiftLeft<28>(both))),
                high = AsFloats(hn::ShiftRight<4>(both));
      sums[v] = hn::MulAdd(odd, high, hn::MulAdd(even, low, sums[v]));
    }
  }
}

HWY_INLINE V32 SumOfAll(const float* x, size_t count) {
  const F32 d;
  V32 sum = hn::Zero(d);
  for (size_t i = 0; i < count; i += kLanes) sum = hn::Add(sum, LoadN(d, x + i, count - i));
  return hn::SumOfLanes(d, sum);
}

// A group of a panel: a scale for each output, perhaps an offset for each, and then the integers, element by
// element.
template <size_t kPerByte>
void Sums(const FewBitsPlan& plan, const std::byte* panel, const float* x, float* y) {
  const F32 d;
  V32 totals[kVectors];
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) totals[v] = hn::Zero(d);
  const size_t group = size_t(plan.group), head = kWidth * sizeof(float) * (plan.offsets ? 2 : 1);
  const size_t bytes = head + kWidth * group / kPerByte;
  for (size_t left = size_t(plan.k);; panel += bytes, x += group, left -= group) {
    for (size_t line = 0; line < bytes; line += 64) __builtin_prefetch(panel + 2 * bytes + line, 0, 2);
    V32 sums[kVectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
    const size_t count = std::min(left, group);
    if constexpr (kPerByte == 1) AddBytes(panel + head, count, x, sums);
    else AddNibbles(panel + head, count, x, sums);
    const float* scales = reinterpret_cast<const float*>(panel);
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v)
      totals[v] = hn::MulAdd(sums[v], hn::LoadU(d, scales + v * kLanes), totals[v]);
    if (plan.offsets) {
      const V32 all = SumOfAll(x, count);
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v)
        totals[v] = hn::MulAdd(all, hn::LoadU(d, scales + kWidth + v * kLanes), totals[v]);
    }
    if (left <= group) break;
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) hn::StoreU(totals[v], d, y + v * kLanes);
}

const FewBitsCode* GetFewBitsCode() {
  static constexpr FewBitsCode code = {TargetName(), int64_t{kWidth}, Sums<1>, Sums<2>, FinishOutputs};
  return &code;
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(GetFewBitsCode);

namespace {

int64_t GroupsOf(const FewBitsPlan& plan) { return (plan.k + plan.group - 1) / plan.group; }

// Bytes of one group of a panel, and of the scales and offsets that it begins with.
int64_t ScaleBytes(const FewBitsPlan& plan) {
  return plan.width * int64_t{sizeof(float)} * (plan.offsets ? 2 : 1);
}
int64_t GroupBytes(const FewBitsPlan& plan) {
  return ScaleBytes(plan) + plan.width * plan.group * plan.bits / 8;
}
int64_t PanelBytes(const FewBitsPlan& plan) { return GroupsOf(plan) * GroupBytes(plan); }

// The place of an element's byte behind the scales of its group.
int64_t ByteOf(const FewBitsPlan& plan, int64_t k, int64_t column) {
  return k * plan.bits / 8 * plan.width + column;
}

void PutInteger(const FewBitsPlan& plan, int q, int64_t k, std::byte* bytes, int64_t column) {
  std::byte& to = bytes[ByteOf(plan, k, column)];
  if (plan.bits == 8) to = static_cast<std::byte>(q);
  else to |= static_cast<std::byte>(k % 2 == 0 ? q & 15 : (q & 15) << 4);
}

// Packs the elements k.begin to k.end of a column, a group of its own.
void PackGroup(const FewBitsPlan& plan, const GemmWeights& weights, int64_t output, Range k, std::byte* group,
               int64_t column) {
  const auto weight = [&](int64_t i) {
    return weights.scale * (weights.transposed ? weights.b[(output - weights.first) * weights.stride + i]
                                               : weights.b[i * weights.stride + output - weights.first]);
  };
  float largest = 0;
  for (int64_t i = k.begin; i < k.end; ++i) {
    const float magnitude = std::abs(weight(i));
    if (!(magnitude <= largest)) largest = magnitude;  // also a NaN, which stays
    if (std::isnan(largest)) break;
  }
  const float scale = largest / static_cast<float>(plan.most());
  std::memcpy(group + column * int64_t{sizeof(float)}, &scale, sizeof(scale));
  std::byte* bytes = group + ScaleBytes(plan);
  for (int64_t i = k.begin; i < k.end; ++i) {
    // Of a scale of zero, or one that is not finite, no integer is taken.
    const float steps = scale > 0 && std::isfinite(scale) ? std::nearbyint(weight(i) / scale) : 0.0f;
    const int q = static_cast<int>(
        std::clamp(steps, -static_cast<float>(plan.most()), static_cast<float>(plan.most())));
    PutInteger(plan, q, i - k.begin, bytes, column);
  }
}

// The same of a file's block.
void PackGroup(const FewBitsPlan& plan, const FewBitMatrix& weights, int64_t output, Range k,
               std::byte* group, int64_t column) {
  const int64_t block = k.begin / weights.block;
  const float scale = weights.Scale(output, block);
  const int half = weights.Half();
  std::memcpy(group + column * int64_t{sizeof(float)}, &scale, sizeof(scale));
  if (plan.offsets) {
    const float offset = (static_cast<float>(half) - weights.Zero(output, block)) * scale;
    std::memcpy(group + (plan.width + column) * int64_t{sizeof(float)}, &offset, sizeof(offset));
  }
  for (int64_t i = k.begin; i < k.end; ++i)
    PutInteger(plan, int(weights.Integer(output, i)) - half, i - k.begin, group + ScaleBytes(plan), column);
}

template <class Weights>
void PackPanels(const FewBitsPlan& plan, const Weights& weights, Range panels, void* packed) {
  for (int64_t p = panels.begin; p < panels.end; ++p) {
    std::byte* panel = static_cast<std::byte*>(packed) + p * PanelBytes(plan);
    std::memset(panel, 0, static_cast<size_t>(PanelBytes(plan)));
    const int64_t first = p * plan.width, columns = std::min(plan.width, plan.n - first);
    for (int64_t g = 0; g < GroupsOf(plan); ++g)
      for (int64_t j = 0; j < columns; ++j)
        PackGroup(plan, weights, first + j, {g * plan.group, std::min(plan.k, (g + 1) * plan.group)},
                  panel + g * GroupBytes(plan), j);
  }
}

}  // namespace

FewBitsPlan PlanFewBits(int64_t n, int64_t k, int bits) {
  FewBitsPlan plan;
  plan.code = HWY_DYNAMIC_DISPATCH(GetFewBitsCode)();
  plan.n = n;
  plan.k = k;
  plan.bits = bits;
  plan.width = plan.code->width;
  plan.panels = (n + plan.width - 1) / plan.width;
  return plan;
}

FewBitsPlan PlanFewBits(const FewBitMatrix& weights) {
  FewBitsPlan plan = PlanFewBits(weights.rows, weights.columns, weights.bits == 8 ? 8 : 4);
  // A block that is longer than a row is no reason to pack zeros behind it.
  plan.group = std::min(weights.block, (weights.columns + 15) / 16 * 16);
  plan.offsets = weights.zeros.has_value();
  return plan;
}

const char* TargetOf(const FewBitsPlan& plan) { return plan.code->target; }

size_t PackedFewBitsBytes(const FewBitsPlan& plan) {
  return static_cast<size_t>(plan.panels * PanelBytes(plan));
}

void PackFewBits(const FewBitsPlan& plan, const GemmWeights& weights, Range panels, void* packed) {
  PackPanels(plan, weights, panels, packed);
}

void PackFewBits(const FewBitsPlan& plan, const FewBitMatrix& weights, Range panels, void* packed) {
  PackPanels(plan, weights, panels, packed);
}

float FewBitsWeight(const FewBitsPlan& plan, const void* packed, int64_t n, int64_t k) {
  const std::byte* group = static_cast<const std::byte*>(packed) + n / plan.width * PanelBytes(plan) +
                           k / plan.group * GroupBytes(plan);
  const int64_t column = n % plan.width, in_group = k % plan.group;
  float scale, offset = 0;
  if (plan.offsets)
    std::memcpy(&offset, group + (plan.width + column) * int64_t{sizeof(float)}, sizeof(offset));
  std::memcpy(&scale, group + column * int64_t{sizeof(float)}, sizeof(scale));
  const int byte = static_cast<int8_t>(group[ScaleBytes(plan) + ByteOf(plan, in_group, column)]);
  // Shifts to the left and back keep the sign of a half.
  const int q = plan.bits == 8 ? byte : in_group % 2 == 0 ? static_cast<int8_t>(byte << 4) >> 4 : byte >> 4;
  return scale * static_cast<float>(q) + offset;
}

void RunFewBits(const FewBitsPlan& plan, const float* x, const void* packed, const Epilogue& epilogue,
                Range panels, float* y) {
  constexpr int64_t kWidest = 64;  // of any target
  float sums[kWidest];
  for (int64_t p = panels.begin; p < panels.end; ++p) {
    const std::byte* panel = static_cast<const std::byte*>(packed) + p * PanelBytes(plan);
    const Range outputs{p * plan.width, std::min(plan.n, (p + 1) * plan.width)};
    const bool whole = outputs.size() == plan.width;
    float* to = whole ? y + outputs.begin : sums;
    (plan.bits == 8 ? plan.code->sums8 : plan.code->sums4)(plan, panel, x, to);
    if (!whole) std::copy_n(sums, outputs.size(), y + outputs.begin);
    plan.code->finish(epilogue, outputs, y);
  }
}

}  // namespace mete
#endif  // HWY_ONCE
