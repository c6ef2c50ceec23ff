// A 1x1 convolution whose sums are added in pieces of a given length (kSumPiece in graph/fused.h).
#pragma once

#include <memory>

#include "processor/cpu/prepare/prepare.h"

namespace mete {

// Prepares a convolution with a sum_piece.
std::unique_ptr<PreparedNode> PrepareConvPieces(const Convolution&, const Preparation&);

}  // namespace mete
