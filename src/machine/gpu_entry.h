// A GPU as lists of processors and pool files name it: "gpu", "gpu:0", "gpu:0/1", "gpu:f16", "gpu:0/1:f16".
// A pool may have one GPU in both types (UnitsOf() of machine/pool_file.h).
#pragma once

#include <optional>
#include <string>

#include "machine/pool_file.h"

namespace mete {

struct GpuEntry {
  std::string device = "gpu:0";  // "gpu:0/1": the second compute unit of gpu:0 alone
  GpuType type = GpuType::kF32;  // of products
  // 8-bit networks have the bytes of the CPU's kernels; with f16 and without it they may be the next ones.
  bool exact_bytes = false;
  bool operator==(const GpuEntry&) const = default;
};

// Returns nothing if the text is no such name.
std::optional<GpuEntry> ParseGpu(const std::string& text);
// Makes the entry's processor this GPU, and the text by which a pool with it is measured anew.
void SetGpu(ProcessorEntry& entry, const GpuEntry& gpu);
// Returns the hardware of a processor of which only its name is known, as that of a worker; "" if it is no
// GPU's.
std::string UnitOfName(const std::string& name);
bool IsGpuDevice(const std::string& text);  // "gpu:0" or "gpu:0/1"

}  // namespace mete
