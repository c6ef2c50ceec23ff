// Small kernels that show what a device can do, since drivers leave out types that they have and claim
// others, and how fast it is.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "processor/opencl/api/opencl.h"
#include "processor/opencl/info/gpu_info.h"

namespace mete::opencl {

struct ProbeOptions {
  // No probe starts behind this time; one takes 0.2 s or less of it, and the time to compile its kernels. A
  // driver that hangs is the caller's affair: OpenCL knows no deadline.
  Clock::Duration budget = std::chrono::seconds(5);  // guess: twice what PoCL takes on a core at 2.6 GHz
  Clock& clock = Clock::Steady();
  // is told the name of each probe before it starts, so that a crash has a place
  std::function<void(const std::string& probe)> started = [](const std::string&) {};
};

// Runs every probe. What one cannot show is among `problems`, and no Error.
ProbeFacts Probe(const Device& device, const ProbeOptions& options);

}  // namespace mete::opencl
