// Chooses the tiles of convolutions and products by their times on the device, which are kept beside those of
// the CPU's kernels.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "processor/tuning/tuner.h"
#include "processor/opencl/gpu/live_gpu.h"
#include "processor/opencl/kernels/convolution.h"

namespace mete::opencl {

// A tile's time for a convolution says what it takes for others that differ in nothing but their sizes: the
// halves of a layer, which a profile times, and the shares of it, which plans have. Only the first of them is
// measured, because each measured tile is a kernel that the driver compiles.
class TileTuner {
 public:
  // Candidates that are measured, those with the least work first. This value is a guess: each takes PoCL a
  // second to compile.
  static constexpr size_t kMeasured = 4;

  // `folder`: keeps the times, in a file for each device and driver; "": they last as long as the object.
  TileTuner(const std::string& folder, const DeviceFacts& facts);

  // Returns the fastest of the candidates whose times follow from those of other sizes; else the fastest of
  // the first kMeasured ones. Measures those whose time is not known, on `live`.
  Tile Choose(const std::shared_ptr<LiveGpu>& live, const ConvSpec& spec, std::span<const Tile> candidates);
  void Save();  // adds the new times to the file

  int measured() const { return tuner_.measured(); }

 private:
  Tile Measured(const std::shared_ptr<LiveGpu>& live, const ConvSpec& spec, std::span<const Tile> candidates);
  // Returns the microseconds for a million sums that convolutions of about this size have shown.
  std::optional<double> RateOf(const ConvSpec& spec, const Tile& tile) const;

  std::mutex mutex_;
  Tuner tuner_;
};

}  // namespace mete::opencl
