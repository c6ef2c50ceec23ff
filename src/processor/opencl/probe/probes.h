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

// Calls what() until it was called `most` times, or at least three times and for `most_ns`. Returns the
// median time of a call in nanoseconds.
template <class F>
double MedianNs(int most, int64_t most_ns, F what) {
  std::vector<int64_t> times;
  const int64_t start = NowNs();
  do {
    const int64_t before = NowNs();
    what();
    times.push_back(NowNs() - before);
  } while (int(times.size()) < most && (times.size() < 3 || NowNs() - start < most_ns));
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return double(times[times.size() / 2]);
}

}  // namespace mete::opencl
