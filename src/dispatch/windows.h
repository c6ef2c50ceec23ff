// Which convolutions and pools the fast kernels compute, and each of them in their terms. Pure, as
// dispatch/products.h.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"
#include "kernels/fast/conv/conv.h"
#include "kernels/fast/pool/pool.h"

namespace mete {

// Of a Conv. Nothing for those that only the reference computes; `why` then says why.
std::optional<ConvShape> ConvolutionOf(const Graph& graph, const Node& node, std::string* why);

// Whether the sums of such a convolution are added in pieces of given length (kSumPiece in graph/fused.h),
// which has a kernel of its own.
bool SumsInPieces(const Node& node);

struct Pooling {
  PoolKind kind = PoolKind::kMax;
  bool whole_image = false;  // one output pixel for each image; `shape` is empty then
  PoolShape shape;
};

// Of a MaxPool, AveragePool, GlobalMaxPool or GlobalAveragePool.
std::optional<Pooling> PoolingOf(const Graph& graph, const Node& node, std::string* why);
bool IsPooling(const Node& node);

}  // namespace mete
