// Which devices count as GPUs, by the environment variable METE_GPU.
#pragma once

#include <string>

namespace mete::opencl {

// Whether devices of the type CPU count: PoCL, for example, computes kernels on the cores of the CPU, which
// Mete computes on itself and faster.
enum class CpuDevices { kLeaveOut, kCount };

struct GpuChoice {
  bool off = false;  // no driver is loaded and nothing is asked
  CpuDevices cpu_devices = CpuDevices::kLeaveOut;
};

// Returns the choice for a value of METE_GPU: "off", "cpu", or "" and "on" for the default. Error
// FAILED_PRECONDITION for others.
GpuChoice ParseGpuChoice(const std::string& value);

// Returns the choice that METE_GPU makes.
GpuChoice GpuChoiceFromEnvironment();

}  // namespace mete::opencl
