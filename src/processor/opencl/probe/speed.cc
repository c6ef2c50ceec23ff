// How fast a device is: multiply-adds that wait for nothing, and launches.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "processor/opencl/probe/probes.h"

namespace mete::opencl {
namespace {

constexpr int64_t kMostNs = 100'000'000;  // for the repetitions of one measurement

// Eight chains of multiply-adds in each work-item: an FMA takes four cycles on current CPUs, of which two
// start in a cycle, and four to six on GPUs, which have other work-items besides. With 0.5 and 1 as factor
// and summand every chain ends at exactly 2. Each lane begins at a number from memory and is stored: where
// lanes are alike or unused, a compiler computes one of them.
constexpr const char* kPeak = R"(
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void peak(global VECTOR* out, float by, float plus, int rounds) {
  VECTOR a = (VECTOR)((TYPE)by), b = (VECTOR)((TYPE)plus);
  VECTOR x0 = out[get_global_id(0)], x1 = x0 + b, x2 = x1 + b, x3 = x2 + b, x4 = x3 + b, x5 = x4 + b, x6 = x5 + b, x7 = x6 + b;
  for (int i = 0; i < rounds; ++i) {
    x0 = MULTIPLY_ADD(x0, a, b); x1 = MULTIPLY_ADD(x1, a, b);
    x2 = MULTIPLY_ADD(x2, a, b); x3 = MULTIPLY_ADD(x3, a, b);
    x4 = MULTIPLY_ADD(x4, a, b); x5 = MULTIPLY_ADD(x5, a, b);
    x6 = MULTIPLY_ADD(x6, a, b); x7 = MULTIPLY_ADD(x7, a, b);
  }
  out[get_global_id(0)] = ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7));
})";
constexpr int kChains = 8;
constexpr size_t kGroup = 64;  // a wavefront of any GPU, or two
constexpr int64_t kItemsOfUnit =
    2048;  // work-items that a compute unit has at a time, on GPUs of 2016 to 2024
constexpr int64_t kLongEnoughNs = 3'000'000;  // of a launch, 100 times PoCL's own cost
constexpr int32_t kMostRounds = 1 << 24;      // bounds the doubling on a device that computes nothing

struct PeakKind {
  const char* type;
  int64_t vector;  // elements
  int bytes;       // of an element
};

std::string OptionsFor(const PeakKind& kind, const char* multiply_add) {
  const bool scalar = kind.vector == 1;
  return fmt::format("-cl-mad-enable -DTYPE={0} -DVECTOR={0}{1} -DMULTIPLY_ADD={2}", kind.type,
                     scalar ? "" : fmt::format("{}", kind.vector), multiply_add);
}

// Returns a width that OpenCL C has: 1, 2, 4, 8 or 16.
int64_t Width(int64_t wanted) {
  return std::min<int64_t>(std::bit_floor(uint64_t(std::max<int64_t>(wanted, 1))), 16);
}

double Gflops(const Device& device, const PeakKind& kind, const char* multiply_add) {
  const Context context(device);
  Queue queue(context, {});
  Kernel peak(Program(context, kPeak, OptionsFor(kind, multiply_add)), "peak");
  const int64_t items = device.facts().compute_units * kItemsOfUnit, bytes = items * kind.vector * kind.bytes;
  const Buffer out(context, {.bytes = bytes});
  queue.Write(out, 0, std::vector<std::byte>(size_t(bytes)));
  peak.Set(0, out).Set(1, 0.5f).Set(2, 1.0f);
  const auto launch = [&](int32_t rounds) {
    const int64_t start = NowNs();
    peak.Set(3, rounds);
    queue.LaunchOnly(peak, {.items = {size_t(items)}, .group = {kGroup}});
    queue.Finish();
    return NowNs() - start;
  };
  launch(64);  // PoCL compiles at the first launch; every chain has reached 2 behind so many rounds
  int32_t rounds = 64;
  while (launch(rounds) < kLongEnoughNs && rounds < kMostRounds) rounds *= 2;
  const double us = TimesOfCalls(9, kMostNs, [&] { launch(rounds); }).median_us;
  std::byte result[4] = {};
  queue.Read(out, bytes - kind.bytes, std::span(result, size_t(kind.bytes)));
  const float sixteen = 2 * kChains;
  const uint16_t sixteen_in_f16 = 0x4c00;
  if (std::memcmp(result, kind.bytes == 4 ? static_cast<const void*>(&sixteen) : &sixteen_in_f16,
                  size_t(kind.bytes)) != 0)
    Fail(Code::kInternal, device.facts().name, "chains of multiply-adds end at a wrong value");
  return double(items) * double(kind.vector) * kChains * 2 * rounds / (us * 1e3);
}

// mad() may be a product and a sum that are rounded each, and fma() may be computed in software: the faster
// one is what a kernel would take.
double BestGflops(const Device& device, const PeakKind& kind) {
  return std::max(Gflops(device, kind, "mad"), Gflops(device, kind, "fma"));
}

constexpr const char* kNothing = "kernel void nothing(global int* out, int go) { if (go) out[0] = go; }";
constexpr int kLaunches = 50;  // guess: the 95th percentile is then the third longest
// The time of a launch behind another is measured in this number of batches, each of kLaunches launches.
// Guess.
constexpr int kBatches = 20;
// Guess: threads of drivers spin for less than a tenth of it before they sleep.
constexpr std::chrono::milliseconds kAsleep{1};

}  // namespace

void ProbePeakF32(const Device& device, ProbeFacts& facts) {
  facts.f32_gflops = BestGflops(device, {"float", Width(device.facts().float_vector), 4});
}

void ProbePeakF16(const Device& device, ProbeFacts& facts) {
  if (!facts.computes_f16) return;
  // Two halves take the place of a float in GPUs (NVIDIA's half2, Mali's and Adreno's registers of 32 bits).
  // NVIDIA's have no fma() of halves.
  facts.f16_gflops = Gflops(device, {"half", Width(2 * device.facts().float_vector), 2}, "mad");
}

void ProbeLaunches(const Device& device, ProbeFacts& facts) {
  const Context context(device);
  Queue queue(context, {});
  Kernel nothing(Program(context, kNothing, ""), "nothing");
  const Buffer out(context, {.bytes = 4});
  nothing.Set(0, out).Set(1, 0);
  const Range one{.items = {1}, .group = {1}};
  queue.LaunchOnly(nothing, one);  // PoCL compiles at the first launch
  queue.Finish();
  const auto launch_and_wait = [&] {
    const Event done = queue.Launch(nothing, one);
    queue.Flush();
    done.Wait();
  };
  facts.launch_drained = TimesOfCalls(kLaunches, kMostNs, launch_and_wait);
  facts.launch_asleep = Repeat(kLaunches, kMostNs, [&] {
    std::this_thread::sleep_for(kAsleep);
    const int64_t before = NowNs();
    launch_and_wait();
    return NowNs() - before;
  });
  // Of batches; the first launch of each finds the queue empty.
  const Times batches = TimesOfCalls(kBatches, kMostNs, [&] {
    for (int i = 0; i < kLaunches; ++i) queue.LaunchOnly(nothing, one);
    queue.Finish();
  });
  const auto further = [&](double batch_us) {
    return std::max(0.0, batch_us - facts.launch_drained.median_us) / (kLaunches - 1);
  };
  facts.launch_running = {further(batches.median_us), further(batches.p95_us)};
}

}  // namespace mete::opencl
