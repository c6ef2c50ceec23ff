#include "machine/gpu_entry.h"

namespace mete {
namespace {

constexpr size_t kMostDigits =
    4;  // this value is a guess: no machine has 10,000 GPUs, and no GPU so many units

bool IsNumber(const std::string& text) {
  return !text.empty() && text.size() <= kMostDigits &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

bool IsGpuDevice(const std::string& text) {
  if (!text.starts_with("gpu:")) return false;
  const std::string numbers = text.substr(4);
  const size_t slash = numbers.find('/');
  if (slash == std::string::npos) return IsNumber(numbers);
  return IsNumber(numbers.substr(0, slash)) && IsNumber(numbers.substr(slash + 1));
}

std::optional<GpuEntry> ParseGpu(const std::string& text) {
  GpuEntry entry;
  std::string device = text;
  if (device.ends_with(":f16")) {
    entry.type = GpuType::kF16;
    device.resize(device.size() - 4);
  }
  if (device == "gpu") return entry;
  if (!IsGpuDevice(device)) return std::nullopt;
  entry.device = device;
  return entry;
}

std::string UnitOfName(const std::string& name) {
  const std::optional<GpuEntry> gpu = ParseGpu(name);
  return gpu ? gpu->device : "";
}

void SetGpu(ProcessorEntry& entry, const GpuEntry& gpu) {
  entry.kind = "gpu";
  entry.has_cores = false;
  entry.unit = gpu.device;
  entry.settings = gpu;
  entry.timed_settings = gpu.device + (gpu.type == GpuType::kF16 ? " f16" : " f32");
  if (gpu.type == GpuType::kF16 && gpu.exact_bytes) entry.timed_settings += ", exact bytes";
}

}  // namespace mete
