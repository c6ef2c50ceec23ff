// The code of one target for Winograd's transforms.
#pragma once

#include <cstdint>

#include "kernels/fast/winograd/tiles.h"
#include "kernels/fast/winograd/winograd.h"

namespace mete {

struct WinogradCode {
  const char* target;
  int64_t lanes;
  // These functions are indexed by m / 2 - 1. The tile's part of the pass begins at `to` or `from`.
  void (*forward[3])(const InputTile<float>&, int64_t channels, float* to, int64_t position_stride);
  void (*backward[3])(const OutputTile&, const Activation&, int64_t channels, const float* from,
                      int64_t position_stride);
  void (*bytes_forward[2])(const InputTile<uint8_t>&, const WinogradBytes&, int64_t channels, float* to,
                           int64_t position_stride);
  void (*bytes_backward[2])(const ByteOutputTile&, const WinogradBytes&, int64_t channels, const float* from,
                            int64_t position_stride);
  // Packs one vector of `columns` output channels, whose weights begin at `weights`. `to` is the vector's
  // place in a panel of width `stride`.
  void (*pack[3])(const WinogradPlan&, const float* weights, int64_t columns, float* to, int64_t stride);
};

// Returns the code of the best target of this processor.
const WinogradCode* BestWinogradCode();

}  // namespace mete
