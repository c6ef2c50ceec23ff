#include "processor/opencl/info/gpu_choice.h"

#include <cstdlib>

#include "base/error.h"

namespace mete::opencl {

GpuChoice ParseGpuChoice(const std::string& value) {
  if (value.empty() || value == "on") return {};
  if (value == "off") return {.off = true};
  if (value == "cpu") return {.cpu_devices = CpuDevices::kCount};
  Fail(Code::kFailedPrecondition, "METE_GPU",
       "got '{}', expected on, off, or cpu, which counts OpenCL devices on the CPU as GPUs",
       Printable(value));
}

GpuChoice GpuChoiceFromEnvironment() {
  const char* value = std::getenv("METE_GPU");
  return ParseGpuChoice(value ? value : "");
}

}  // namespace mete::opencl
