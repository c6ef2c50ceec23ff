// Brings the constants of a share to a device and packs its weights there.
#pragma once

#include <memory>
#include <vector>

#include "processor/opencl/gpu/live_gpu.h"
#include "processor/opencl/share/share_on_gpu.h"

namespace mete::opencl {

// By the index of ShareOnGpu; null where only the packing reads them, after which they are gone.
struct LoadedConstants {
  std::vector<std::shared_ptr<const Buffer>> constants, packed;
};

// Takes what other shares have already (LiveGpu::constants()), and loads and packs the rest. Pages of the
// model's file are given back. Errors are those of a device that is lost, or has no memory left; CANCELLED.
LoadedConstants LoadConstants(LiveGpu& live, const ShareOnGpu& share);

}  // namespace mete::opencl
