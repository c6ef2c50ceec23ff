// A GPU as a processor of a pool: the kind "gpu". Its keys in a pool file (machine/pool_file.h):
//
//     kind = "gpu"
//     device = "gpu:0"                 # as mete machine shows them; "gpu:0/1" is one compute unit of it
//     type = "f32"                     # of products and of what is stored within a share: "f16", too
//     exact = false                    # with f16: 8-bit networks have the bytes of the CPU's kernels
//
// Two processors with the same device and different types are one GPU, which computes a group as one of them.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
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
  bool exact_bytes = false;         // as in GpuTarget (share_on_gpu.h)
  std::string unit = {};            // the device's name: "gpu:0"
  std::string kernels_folder = {};  // keeps compiled programs and times of tiles; "": none are kept
  bool tune = false;                // tiles of convolutions are measured, not estimated
  int caller_core = -1;             // of the thread that starts shares; -1: any
  Clock& clock = Clock::Steady();
};

// A device, and what a child process has found out about it.
struct TriedDevice {
  Device device;
  ProbeFacts proved;
};

// A device that several processors of a pool use in turn, such as one in f32 and one in f16: a tensor of its
// memory is one for each of them, and what loses it loses it for all.
struct GpuInUse {
  std::mutex mutex;
  std::shared_ptr<LiveGpu> live;  // null until it is first needed
  CancelToken cancelled;          // looking for the device, and preparing; `live` learns of it under `mutex`
};

class GpuProcessor : public Processor {
 public:
  enum class Look { kFirst, kAgain };
  // Returns the device, or throws CANCELLED as the token asks. It is called when the device is first needed:
  // a child process takes seconds to try the drivers, and loading one takes a tenth of a second, for which no
  // answer of the CPU is to wait. After an Error UNAVAILABLE, whose reason can pass, it is called again;
  // others stay.
  using FindDevice = std::function<TriedDevice(Look, const CancelToken&)>;
  // How many times as long as looking for a device took nobody looks for it again. This value is a guess: a
  // child process of a driver that hangs is there for a tenth of the time at most.
  static constexpr int kPause = 10;

  // `in_use`: that of another processor with this device.
  GpuProcessor(const std::string& name, FindDevice find, const GpuProcessorOptions& options,
               std::shared_ptr<GpuInUse> in_use = std::make_shared<GpuInUse>());
  GpuProcessor(const std::string& name, const Device& device, const ProbeFacts& proved,
               const GpuProcessorOptions& options,
               std::shared_ptr<GpuInUse> in_use = std::make_shared<GpuInUse>())
      : GpuProcessor(
            name,
            [device, proved](Look, const CancelToken&) {
              return TriedDevice{device, proved};
            },
            options, std::move(in_use)) {}

  // The description is that of the device when CheckThere() or Prepare() has returned.
  const ProcessorInfo& info() const override;
  // Finds and opens the device. If it is lost, tries to reach it by a new context. Error: that of `find`, or
  // UNAVAILABLE.
  void CheckThere() const override;
  std::string WhyNot(const Graph& graph, const Node& node) const override;
  std::shared_ptr<Ready> Prepare(const Graph& share) override;
  bool PreparesLate() const override { return true; }
  int CallerCore() const override { return options_.caller_core; }
  MakeTensor SharedMemory() override;
  ProcessorMemory memory() const override;
  void CancelPreparing() override;

  const std::string& unit() const { return options_.unit; }
  const std::shared_ptr<GpuInUse>& in_use() const { return in_use_; }

 private:
  // What follows from the device.
  struct Opened {
    Opened(const std::string& name, const TriedDevice& tried, const GpuProcessorOptions& options);

    const Device device;
    const StagingKind staging;
    const GpuTarget target;
    const ProcessorInfo info;
    const std::unique_ptr<TileTuner> tuner;  // null: tiles are estimated
  };
  const Opened& Open() const;
  void Find() const;  // with opening_ held
  std::shared_ptr<LiveGpu> Live() const;
  ShareOnGpu Lowered(const Graph& graph, const std::shared_ptr<LiveGpu>& live) const;

  const FindDevice find_;
  const GpuProcessorOptions options_;
  const ProcessorInfo unopened_;

  mutable std::mutex opening_;  // held while `find_` runs
  mutable std::unique_ptr<const Opened> opened_;
  mutable std::exception_ptr why_not_opened_;  // the last reason
  mutable Clock::Time look_again_at_;
  mutable std::atomic<const Opened*> found_{nullptr};  // opened_, for those who do not wait

  const std::shared_ptr<GpuInUse> in_use_;
};

// Returns what shares are lowered for on a device.
GpuTarget TargetOf(const DeviceFacts& facts, const GpuProcessorOptions& options);

// Reads the keys of this kind into the entry's settings, which are then a GpuEntry.
void ReadGpu(TomlKeys& keys, ProcessorEntry& entry);
// Returns the device and the driver of an entry as lines, of which times and programs are; "" if there is no
// such GPU. Asks a child process where nobody has.
std::string GpuHardwareOf(const ProcessorEntry& entry);
bool KnowsGpuHardware(const ProcessorEntry& entry);  // whether a child process has answered
// Returns the kernels that are expected to compute a share on the GPU of an entry (share/share_on_gpu.h),
// which need not be there.
std::vector<std::string> KernelsOnGpu(const ProcessorEntry& entry, const Graph& share);
// Finds and opens the device of an entry as MakeGpu()'s processor does when it is first needed.
TriedDevice FindDeviceOf(const ProcessorEntry& entry, GpuProcessor::Look look, const CancelToken& cancel);
// Makes the processor of an entry. Its device is found when it is first needed, after a child process has
// tried the drivers: then Error UNAVAILABLE, with the reasons, if there is no such GPU or it has not proved
// what is needed. `options` say where kernels are kept. A processor of the same device among `made`
// shares its context with it.
std::shared_ptr<Processor> MakeGpu(const ProcessorEntry& entry, const SessionOptions& options,
                                   std::span<const std::shared_ptr<Processor>> made = {});

}  // namespace mete::opencl
