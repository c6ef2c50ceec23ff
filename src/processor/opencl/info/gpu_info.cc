#include "processor/opencl/info/gpu_info.h"

#include <fmt/format.h>

namespace mete::opencl {

int OrderOfType(const std::string& type) { return type == "gpu" ? 0 : type == "accelerator" ? 1 : 2; }

std::string DriverText(const DeviceFacts& f) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", f.platform, f.driver, f.version, f.vendor, f.model, f.type,
                     f.compute_units);
}

}  // namespace mete::opencl
