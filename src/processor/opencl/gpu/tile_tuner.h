// Chooses the tiles of convolutions and products by their times on the device, which are kept beside those of
// the CPU's kernels.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "processor/cpu/prepare/tuner.h"
#include "processor/opencl/gpu/live_gpu.h"
#include "processor/opencl/kernels/convolution.h"

namespace mete::opencl {

class TileTuner {
 public:
  // Candidates that are measured, those with the least work first. This value is a guess: each takes PoCL a
  // second to compile.
  static constexpr size_t kMeasured = 4;

  // `folder`: keeps the times, in a file for each device and driver; "": they last as long as the object.
  TileTuner(const std::string& folder, const DeviceFacts& facts);

  // Returns the fastest of the first kMeasured candidates. Measures those whose time is not known, on `live`.
  Tile Choose(const std::shared_ptr<LiveGpu>& live, const ConvSpec& spec, std::span<const Tile> candidates);
  void Save();  // adds the new times to the file

  int measured() const { return tuner_.measured(); }

 private:
  std::mutex mutex_;
  Tuner tuner_;
};

}  // namespace mete::opencl
