// Selects the convolutions and poolings that the fast kernels compute and describes each in the kernels'
// terms. As in dispatch/products.h, the result never depends on the machine.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"
#include "kernels/fast/conv/conv.h"
#include "kernels/fast/pool/pool.h"

namespace mete {

// Returns the shape of a Conv. Returns nothing if only the reference kernel can compute it; `why` then
// receives the reason.
std::optional<ConvShape> ConvolutionOf(const Graph& graph, const Node& node, std::string* why);

// Returns true if the kernel for sums in pieces of a given length (kSumPiece in graph/fused.h) computes this
// convolution.
bool SumsInPieces(const Node& node);

struct Pooling {
  PoolKind kind = PoolKind::kMax;
  bool whole_image = false;  // one output pixel per image; `shape` is not set then
  PoolShape shape;
};

// Returns the pooling of a MaxPool, AveragePool, GlobalMaxPool or GlobalAveragePool. Returns nothing if only
// the reference kernel can compute it; `why` then receives the reason.
std::optional<Pooling> PoolingOf(const Graph& graph, const Node& node, std::string* why);
bool IsPooling(const Node& node);

}  // namespace mete
