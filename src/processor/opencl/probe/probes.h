// The single probes. Each fills in its facts, or throws an Error that says why the device does not do it.
#pragma once

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "processor/opencl/api/opencl.h"
#include "processor/opencl/info/gpu_info.h"

namespace mete::opencl {

void ProbeF32(const Device& device, ProbeFacts& facts);  // also build_ms
void ProbeHalfStorage(const Device& device, ProbeFacts& facts);
void ProbeF16(const Device& device, ProbeFacts& facts);
void ProbeDot8(const Device& device, ProbeFacts& facts);
void ProbeMaps(const Device& device, ProbeFacts& facts);  // maps_in_place, uses_host_memory and their times
void ProbeSharedMemory(const Device& device, ProbeFacts& facts);
void ProbeLaunches(const Device& device, ProbeFacts& facts);
void ProbePeakF32(const Device& device, ProbeFacts& facts);
void ProbePeakF16(const Device& device, ProbeFacts& facts);

// Returns the median and the 95th percentile of some times in nanoseconds; at least one.
inline Times TimesOf(std::vector<int64_t> ns) {
  std::sort(ns.begin(), ns.end());
  return {double(ns[ns.size() / 2]) * 1e-3, double(ns[(ns.size() - 1) * 95 / 100]) * 1e-3};
}

// Calls time(), which returns nanoseconds, until it was called `most` times, or at least three times and for
// `most_ns` by the clock.
template <class F>
Times Repeat(int most, int64_t most_ns, F time) {
  std::vector<int64_t> times;
  const int64_t start = NowNs();
  do times.push_back(time());
  while (int(times.size()) < most && (times.size() < 3 || NowNs() - start < most_ns));
  return TimesOf(std::move(times));
}

// The same for the time that a call of what() takes.
template <class F>
Times TimesOfCalls(int most, int64_t most_ns, F what) {
  return Repeat(most, most_ns, [&] {
    const int64_t before = NowNs();
    what();
    return NowNs() - before;
  });
}

}  // namespace mete::opencl
