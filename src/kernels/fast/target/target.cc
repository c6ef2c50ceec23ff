#include "kernels/fast/target/target.h"

#include "kernels/fast/target/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/target/target.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/target/name-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const char* ThisTarget() { return TargetName(); }

// Runs `rounds` rounds of multiply-adds and returns the number of floating-point operations. Twelve chains
// hide a latency of 4 cycles on 2 units with a reserve, and fit 16 registers; large Arm cores have 4 units,
// and 32 registers. The chain is the summand, as in the products, because Arm's instruction overwrites that
// operand and no other. The store to sink[2] keeps the compiler from removing the work.
double MultiplyAdds(size_t rounds, float* sink) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kChains = HWY_TARGET == HWY_NEON ? 20 : 12;
  V acc[kChains];
#pragma GCC unroll 20
  for (int i = 0; i < kChains; ++i) acc[i] = hn::Set(d, 0.5f + static_cast<float>(i));
  const V scale = hn::Set(d, sink[0]), shift = hn::Set(d, sink[1]);
  for (size_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 20
    for (int i = 0; i < kChains; ++i) acc[i] = hn::MulAdd(scale, shift, acc[i]);
  }
  V sum = acc[0];
#pragma GCC unroll 20
  for (int i = 1; i < kChains; ++i) sum = hn::Add(sum, acc[i]);
  sink[2] = hn::GetLane(hn::SumOfLanes(d, sum));
  return 2.0 * kChains * static_cast<double>(rounds) * static_cast<double>(hn::Lanes(d));
}

float ReadAll(const float* data, size_t count) {
  const hn::ScalableTag<float> d;
  const size_t n = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (size_t i = 0; i + 4 * n <= count; i += 4 * n) {
    s0 = hn::Add(s0, hn::LoadU(d, data + i));
    s1 = hn::Add(s1, hn::LoadU(d, data + i + n));
    s2 = hn::Add(s2, hn::LoadU(d, data + i + 2 * n));
    s3 = hn::Add(s3, hn::LoadU(d, data + i + 3 * n));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#if HWY_ARCH_X86_64
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/error.h"
#include "hwy/cache_control.h"
#include "kernels/fast/target/cache_lines.h"

namespace mete {
HWY_EXPORT(ThisTarget);
HWY_EXPORT(MultiplyAdds);
HWY_EXPORT(ReadAll);

namespace {

struct Known {
  int64_t bit;
  const char* name;
};
constexpr Known kKnown[] = {{HWY_AVX3, "avx512"}, {HWY_AVX2, "avx2"},     {HWY_SSE4, "sse4"},
                            {HWY_NEON, "neon"},   {HWY_EMU128, "scalar"}, {HWY_SCALAR, "scalar"}};

// Returns the targets that the processor supports. The result is cached at the first call, because
// ForceTarget() changes what Highway reports.
int64_t Supported() {
  static const int64_t supported = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & (HWY_TARGETS);
  return supported;
}

void Choose(int64_t bits) {
  hwy::SetSupportedTargetsForTest(bits);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

#if HWY_ARCH_X86_64
bool HasUnorderedFlush() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 23 & 1);
}

// Flushes with CLFLUSHOPT. The plain CLFLUSH waits for the flush before it: it took 0.8 ms or more for a MiB,
// and CLFLUSHOPT took 0.04 ms.
__attribute__((target("clflushopt"))) void FlushUnordered(const CacheLines& lines) {
  for (uintptr_t line = lines.first; line != lines.end; line += kCacheLine)
    _mm_clflushopt(reinterpret_cast<void*>(line));
  _mm_mfence();
}
#endif

}  // namespace

std::vector<std::string> AvailableTargets() {
  std::vector<std::string> names;
  for (const Known& known : kKnown) {
    if (Supported() & known.bit) names.push_back(known.name);
  }
  return names;
}

const char* ActiveTarget() { return HWY_DYNAMIC_DISPATCH(ThisTarget)(); }

void ForceTarget(std::string_view name) {
  const int64_t supported = Supported();
  if (name.empty() || name == "best") return Choose(0);
  for (const Known& known : kKnown) {
    if (name == known.name && (supported & known.bit)) return Choose(known.bit);
  }
  std::string list;
  for (const std::string& target : AvailableTargets()) list += (list.empty() ? "" : ", ") + target;
  Fail(Code::kFailedPrecondition, "METE_TARGET",
       "no such instruction set here; got '{}', expected one of {}; try METE_TARGET={}", name, list,
       AvailableTargets().front());
}

void EvictFromCaches(const void* data, size_t bytes) {
  const CacheLines lines = LinesOf(data, bytes);
#if HWY_ARCH_X86_64
  static const bool unordered = HasUnorderedFlush();
  if (unordered) return FlushUnordered(lines);
#endif
  for (uintptr_t line = lines.first; line != lines.end; line += kCacheLine)
    hwy::FlushCacheline(reinterpret_cast<const void*>(line));
}

double MeasurePeakFlops() {
  constexpr size_t kRounds = 20000;  // about 0.1 ms at 2 x 12-chain rounds per 12 cycles and 2.6 GHz
  float sink[3] = {0.999f, 1e-3f, 0};
  double best = 0;
  const double end = Seconds() + 0.02;
  do {
    const double start = Seconds();
    const double flops = HWY_DYNAMIC_DISPATCH(MultiplyAdds)(kRounds, sink);
    best = std::max(best, flops / (Seconds() - start));
  } while (Seconds() < end);
  return best * 1e-9;
}

double MeasureReadBandwidth(size_t bytes) {
  const size_t count = std::max<size_t>(bytes / sizeof(float), 1024);
  const auto data = std::make_unique<float[]>(count);
  volatile float keep = 0;
  double best = 0;
  const double end = Seconds() + 0.05;
  do {
    const double start = Seconds();
    keep = keep + HWY_DYNAMIC_DISPATCH(ReadAll)(data.get(), count);
    best = std::max(best, static_cast<double>(count * sizeof(float)) / (Seconds() - start));
  } while (Seconds() < end);
  return best * 1e-9;
}

}  // namespace mete
#endif  // HWY_ONCE
