// A GPU as lists of processors and pool files name it: "gpu", "gpu:0", "gpu:0/1", "gpu:f16", "gpu:0/1:f16".
#pragma once

#include <optional>
#include <string>

#include "machine/file.h"

namespace mete {

struct GpuEntry {
  std::string device = "gpu:0";  // "gpu:0/1": the second compute unit of gpu:0 alone
  GpuType type = GpuType::kF32;  // of products
  bool operator==(const GpuEntry&) const = default;
};

// Returns nothing if the text is no such name.
std::optional<GpuEntry> ParseGpu(const std::string& text);
// Returns the text by which a pool with this GPU is measured anew (ProcessorEntry::timed_settings).
std::string TimedSettings(const GpuEntry& gpu);
bool IsGpuDevice(const std::string& text);  // "gpu:0" or "gpu:0/1"

}  // namespace mete
