// The register tile of a convolution or product on the GPU: what one work-item computes, and in what order
// work-items run. Which tile is fastest depends on the device, so a tuner measures those of TileCandidates().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mete::opencl {

struct Tile {
  int rows = 1, columns = 1;    // output pixels of a work-item, neighbours in one image
  int vector = 4, vectors = 1;  // its output channels: `vectors` vectors of `vector` channels
  int unroll = 1;               // steps over K (input channels, and taps in a row) in a pass of the loop
  int input_vector = 1;         // steps that share one read of the input; divides `unroll`
  int panel_tiles = 1;          // tiles of channels side by side in a packed panel
  bool channels_first = false;  // neighbouring work-items differ by their channels, not by their pixels
  int group_pixels = 1, group_channels = 1;  // tiles of a work-group in both directions

  int pixels() const { return rows * columns; }
  int channels() const { return vector * vectors; }
  bool operator==(const Tile&) const = default;
};

// Returns for example "1x14x32 v16 u1 i1 p1 pixels 1x1".
std::string ToString(const Tile& tile);

// What the choice of tiles needs to know of a device.
struct TileDevice {
  bool is_cpu =
      false;       // work-items are loops on a core, as PoCL runs them; else threads of one program counter
  int vector = 4;  // floats in a vector register of a CPU (the device's native width)
};

// Returns tiles for outputs of `height` x `width` pixels and `channels` channels (of one group), which are
// sums of `steps` products, the one with the least padded work first, and of those the most frugal in loads.
// No tile is higher or wider than the output.
std::vector<Tile> TileCandidates(const TileDevice& device, int64_t height, int64_t width, int64_t channels,
                                 int64_t steps);

}  // namespace mete::opencl
