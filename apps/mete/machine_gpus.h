// The GPUs of this machine, for `mete machine`.
#pragma once

#include "base/json.h"
#include "processor/opencl/info/gpu_info.h"

namespace mete::cli {

// Returns what a child process has found out about the GPUs, now or before; a child that failed is asked
// again.
opencl::GpuList GpusOfThisMachine();

// Prints a column of facts for each GPU, and why other devices are none.
void PrintGpus(const opencl::GpuList& list);

// Adds the keys "gpus" and "gpus_left_out".
void AddGpus(const opencl::GpuList& list, nlohmann::ordered_json& machine);

}  // namespace mete::cli
