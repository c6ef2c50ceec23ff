// Selects the nodes that only move elements and have a fast kernel (Transpose and the like, Concat, Split),
// and describes each in the kernels' terms. As in dispatch/products.h, the result never depends on the
// machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/permutation.h"
#include "graph/graph.h"

namespace mete {

enum class TransposeWay {
  kMatrices,  // matrices of elements of 4 bytes or of one are transposed by interleaving or in tiles:
              // kernels/fast/layout
  kRows,      // whole rows are copied
};

struct Transposition {
  TransposeWay way = TransposeWay::kMatrices;
  Permutation permutation;  // joined
  size_t element_bytes = 0;

  // The matrices of kMatrices, one after another.
  int64_t matrices() const { return permutation.dims.size() == 3 ? permutation.dims[0] : 1; }
  int64_t rows() const { return permutation.dims[permutation.dims.size() - 2]; }
  int64_t columns() const { return permutation.dims.back(); }

  std::string kernel() const {
    if (way == TransposeWay::kRows) return "transpose_rows";
    return element_bytes == 1 ? "transpose_bytes" : "transpose_f32";
  }
};

// Returns the way of a Transpose, or of a DepthToSpace or SpaceToDepth as one. Returns nothing if only the
// reference kernel can compute it; `why` then receives the reason.
std::optional<Transposition> TranspositionOf(const Graph& graph, const Node& node, std::string* why);

// For each of the `outer` indices, a run of bytes of each part is joined with those of the others, or split
// from them.
struct Join {
  bool split = false;
  int64_t outer = 1;
  std::vector<size_t> runs;  // bytes of each part

  std::string kernel() const { return split ? "split" : "concat"; }
};

// The same for a Concat or a Split.
std::optional<Join> JoinOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
