#include "processor/opencl/kernels/tile.h"

#include <fmt/format.h>

#include <algorithm>

#include "processor/opencl/kernels/kernel_text.h"

namespace mete::opencl {
namespace {

// A CPU's core has 32 vector registers where vectors have 16 floats (AVX-512) and 16 elsewhere. On PoCL 3.1
// the loop must keep all sums, a step's weights and one input in them: with 28 sums and 4 weights it spills
// and falls from 250 to 150 GFLOP/s of one core.
std::vector<Tile> CpuTiles(int vector) {
  std::vector<Tile> tiles;
  const auto add = [&](int rows, int columns, int vectors) {
    for (bool channels_first : {false, true})
      tiles.push_back({.rows = rows,
                       .columns = columns,
                       .vector = vector,
                       .vectors = vectors,
                       .channels_first = channels_first});
  };
  if (vector == 16) {
    for (int columns : {14, 12, 8, 7}) add(1, columns, 2);
    add(2, 7, 2);
    add(1, 7, 3);
    for (int columns : {6, 4}) add(1, columns, 4);
    for (int columns : {4, 2}) add(1, columns, 2);
    for (int vectors : {8, 4, 2}) add(1, 1, vectors);
  } else {
    for (int columns : {6, 4, 2}) add(1, columns, 2);
    add(1, 4, 3);
    for (int vectors : {8, 4, 2}) add(1, 1, vectors);
  }
  for (int columns : {14, 8, 4, 1}) add(1, columns, 1);
  return tiles;
}

constexpr int64_t kSecondLevel = 1 << 20;  // bytes, of CPUs of 2020 to 2024: 0.5 to 2 MiB

// Threads of a GPU have some 64 registers each. Neighbouring threads read neighbouring channels of the
// weights (panels as wide as a group) and the same pixels. The forms are those of Arm Compute Library for f32
// (4 pixels x 4 channels x 4 steps), and of fewer pixels for small outputs. Not measured on a GPU yet.
std::vector<Tile> GpuTiles(int64_t channels) {
  std::vector<Tile> tiles;
  for (int columns : {4, 8, 2, 1}) {
    for (int vectors : {1, 2}) {
      Tile t{.columns = columns,
             .vector = 4,
             .vectors = vectors,
             .unroll = 4,
             .input_vector = 4,
             .channels_first = true};
      t.group_channels = int(std::clamp<int64_t>(CeilDiv(channels, t.channels()), 1, 16));
      t.group_pixels = std::max(1, 64 / t.group_channels);
      t.panel_tiles = t.group_channels;
      tiles.push_back(t);
    }
  }
  return tiles;
}

}  // namespace

std::string ToString(const Tile& t) {
  return fmt::format("{}x{}x{} v{} u{} i{} p{} {} {}x{}", t.rows, t.columns, t.channels(), t.vector, t.unroll,
                     t.input_vector, t.panel_tiles, t.channels_first ? "channels" : "pixels", t.group_pixels,
                     t.group_channels);
}

std::vector<Tile> TileCandidates(const TileDevice& device, int64_t height, int64_t width, int64_t channels,
                                 int64_t steps) {
  std::vector<Tile> tiles =
      device.is_cpu ? CpuTiles(VectorWidth(std::max(device.vector, 4))) : GpuTiles(channels);
  std::erase_if(tiles, [&](const Tile& t) { return t.rows > height || t.columns > width; });
  // Multiply-adds of whole tiles, each with the loads of a step: columns + vectors for columns * vectors of
  // them. A panel that a core's second-level cache does not hold comes from behind it for each tile of
  // pixels, which takes three times as long: on PoCL a core with 1 MiB does 28 x 28 x 512 of 3 x 3 x 512 at
  // 240 GFLOP/s with 14 pixels (panels of 0.6 MB) and at 196 with 4 (1.2 MB).
  const auto work = [&](const Tile& t) {
    const double sums =
        double(RoundUp(height, t.rows) * RoundUp(width, t.columns) * RoundUp(channels, t.channels()));
    const double weights = t.vectors * (device.is_cpu && steps * t.channels() * 4 > kSecondLevel ? 3 : 1);
    return sums * (1 + 0.5 * (t.pixels() + weights) / double(t.pixels() * t.vectors));
  };
  std::stable_sort(tiles.begin(), tiles.end(),
                   [&](const Tile& a, const Tile& b) { return work(a) < work(b); });
  return tiles;
}

}  // namespace mete::opencl
