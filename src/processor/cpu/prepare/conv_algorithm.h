// The algorithms for a convolution, and the choice among them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/fast/conv/conv.h"

namespace mete {

// kDirect computes the sum in the order of its definition (depthwise or as an implicit matrix product); the
// others are those of kernels/fast/winograd, whose error is larger.
enum class ConvAlgorithm { kDirect, kWinogradF2, kWinogradF4, kWinogradF6 };

const char* Name(ConvAlgorithm algorithm);  // "direct", "winograd_f2", ...

// Returns nullopt for "" and "auto". Error FAILED_PRECONDITION for an unknown name; its message names
// `where`, the place that the name comes from.
std::optional<ConvAlgorithm> ParseConvAlgorithm(std::string_view where, std::string_view name);

// Returns the size of Winograd's output tile: 2, 4 or 6; 0 for kDirect.
int WinogradTile(ConvAlgorithm algorithm);

// Returns the algorithms that can compute this convolution; kDirect always can, and comes first.
std::vector<ConvAlgorithm> ConvAlgorithmsFor(const ConvShape& shape);

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

enum class ConvSums { kAny, kPlain };  // kPlain: no algorithm with a larger error than the direct sums

// Returns the ways that may be the fastest, the fastest by estimate first. F(6x6) is never among them because
// its error is larger: the user must ask for it.
std::vector<ConvWay> ConvWaysFor(const ConvShape& shape, ConvSums sums);

// Returns a text with all that the times depend on, for a tuner's key: "conv 1x56x56x64 -> 56x56x64, kernel
// 3x3, ...".
std::string ToText(const ConvShape& shape);

}  // namespace mete
