// A 1x1 convolution whose sums are added in pieces of a given length (kSumPiece in graph/fused.h).
#pragma once

#include <memory>

#include "graph/graph.h"
#include "processor/cpu/prepare/packer.h"
#include "processor/cpu/prepare/prepared_node.h"

namespace mete {

// Prepares a convolution for which SumsInPieces (dispatch/windows.h) is true.
std::unique_ptr<PreparedNode> PrepareConvPieces(const Graph&, const Node&, Packer&);

}  // namespace mete
