// The ways in which a convolution can be computed, and which of them to take.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/fast/conv/conv.h"

namespace mete {

// kDirect is the sum as it stands (depthwise or as an implicit product); the others are
// kernels/fast/winograd, with a larger error.
enum class ConvAlgorithm { kDirect, kWinogradF2, kWinogradF4, kWinogradF6 };

const char* Name(ConvAlgorithm algorithm);  // "direct", "winograd_f2", ...

// Nothing for "" and "auto"; FAILED_PRECONDITION for another unknown name, with `where` it comes from.
std::optional<ConvAlgorithm> ParseConvAlgorithm(std::string_view where, std::string_view name);

// 2, 4, 6; 0 for kDirect.
int WinogradTile(ConvAlgorithm algorithm);

// Those that can compute this convolution; kDirect always can, and comes first.
std::vector<ConvAlgorithm> ConvAlgorithmsFor(const ConvShape& shape);

// One way to compute a convolution: the same for all clusters, which share its packed weights, but for the
// tile.
struct ConvWay {
  ConvAlgorithm algorithm = ConvAlgorithm::kDirect;
  // kDirect: width of a panel, and so of the register tile at most (kernels/fast/gemm); 0: the widest
  int64_t tile_vectors = 0;
  // several threads: divide the side of the grid that MakeGrid would leave whole; Winograd's: passes for
  // stages
  bool other_side = false;
  // kDirect: of each cluster over these panels (cluster_tiles.h); empty: the largest
  std::vector<Tile> tiles = {};

  bool operator==(const ConvWay&) const = default;
};

std::string Name(const ConvWay& way);  // "direct", "direct, tile 2", "winograd_f4"

// The ways that may be the fastest, the fastest by estimate first. Never F(6x6), whose error is larger: that
// one must be asked for. `exact`: none but sums as they stand.
std::vector<ConvWay> ConvWaysFor(const ConvShape& shape, bool exact);

// What the times depend on, for a tuner's key: "conv 1x56x56x64 -> 56x56x64, kernel 3x3, ...".
std::string ToText(const ConvShape& shape);

}  // namespace mete
