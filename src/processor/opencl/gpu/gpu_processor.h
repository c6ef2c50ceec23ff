// A GPU as a processor of a pool: the kind "gpu". Its keys in a pool file (machine/pool_file.h):
//
//     kind = "gpu"
//     device = "gpu:0"                 # as mete machine shows them; "gpu:0/1" is one compute unit of it
//     type = "f32"                     # of products and of what is stored within a share: "f16", too
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "machine/pool_file.h"
#include "processor/opencl/gpu/live_gpu.h"
#include "processor/opencl/gpu/tile_tuner.h"
#include "processor/opencl/share/share_on_gpu.h"
#include "processor/processor.h"

namespace mete::opencl {

struct GpuProcessorOptions {
  DType storage = DType::kF32;      // f32 or f16
  std::string kernels_folder = {};  // keeps compiled programs and times of tiles; "": none are kept
  bool tune = false;                // tiles of convolutions are measured, not estimated
  Clock& clock = Clock::Steady();
};

class GpuProcessor : public Processor {
 public:
  // `proved`: what a child process has found out about the device.
  GpuProcessor(const std::string& name, const Device& device, const ProbeFacts& proved,
               const GpuProcessorOptions& options);

  const ProcessorInfo& info() const override { return info_; }
  // If the device is lost, tries to reach it by a new context.
  void CheckThere() const override;
  std::string WhyNot(const Graph& graph, const Node& node) const override;
  std::shared_ptr<Ready> Prepare(const Graph& share) override;
  bool PreparesLate() const override { return true; }
  MakeTensor SharedMemory() override;
  void CancelPreparing() override;

 private:
  std::shared_ptr<LiveGpu> Live() const;
  ShareOnGpu Lowered(const Graph& graph, const std::shared_ptr<LiveGpu>& live) const;

  const Device device_;
  const StagingKind staging_;
  const GpuProcessorOptions options_;
  const GpuTarget target_;
  const ProcessorInfo info_;

  const std::unique_ptr<TileTuner> tuner_;  // null: tiles are estimated

  mutable std::mutex mutex_;
  mutable std::shared_ptr<LiveGpu> live_;  // null until it is first needed
  bool cancelled_ = false;                 // guarded by mutex_
};

// Reads the keys of this kind into the entry's settings, which are then a GpuEntry.
void ReadGpu(TomlKeys& keys, ProcessorEntry& entry);
// Makes the processor of an entry, after a child process has tried the drivers. Error UNAVAILABLE, with the
// reasons, if there is no such GPU or it has not proved what is needed. `options` say where kernels are kept.
std::shared_ptr<Processor> MakeGpu(const ProcessorEntry& entry, const SessionOptions& options);

}  // namespace mete::opencl
