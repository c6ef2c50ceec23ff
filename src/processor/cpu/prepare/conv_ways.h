// The ways to compute a convolution: an algorithm (dispatch/conv_algorithms.h) and how its work is cut.
#pragma once

#include <string>
#include <vector>

#include "dispatch/conv_algorithms.h"
#include "dispatch/quantized.h"
#include "kernels/fast/conv/conv.h"

namespace mete {

// One way to compute a convolution. The way is the same for all clusters, which share its packed weights;
// only the tiles differ.
struct ConvWay {
  ConvAlgorithm algorithm = ConvAlgorithm::kDirect;
  // kDirect: the width of a panel in vectors, which bounds the register tile (kernels/fast/gemm); 0: the
  // widest
  int64_t tile_vectors = 0;
  // With several threads. kDirect: divide the side of the grid that MakeGrid would leave whole. Winograd:
  // choose passes where stages would be usual, and the reverse.
  bool other_side = false;
  // kDirect: the tile of each cluster for these panels (cluster_tiles.h); empty: the largest tile
  std::vector<Tile> tiles = {};

  bool operator==(const ConvWay&) const = default;
};

std::string Name(const ConvWay& way);  // "direct", "direct, tile 2", "winograd_f4"

// Returns the ways with these algorithms, of which kDirect is the first, that may be the fastest: the fastest
// by estimate comes first.
std::vector<ConvWay> ConvWaysFor(const ConvShape& shape, const std::vector<ConvAlgorithm>& algorithms);

// Returns the algorithms of a convolution of bytes that may be the fastest: the fastest by estimate comes
// first.
std::vector<ConvAlgorithm> ByteWaysFor(const QuantizedConvolution& conv);

// Returns whether a convolution of bytes may take less time if its sums may be of f32.
bool MayBeSoonerInF32(QuantizedConvolution conv);

// Returns a text with all that the times depend on, for a tuner's key: "conv 1x56x56x64 -> 56x56x64, kernel
// 3x3, ...".
std::string ToText(const ConvShape& shape);

}  // namespace mete
