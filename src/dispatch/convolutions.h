// Selects the convolutions that the fast kernels compute and describes each in the kernels' terms. As in
// dispatch/products.h, the result never depends on the machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dispatch/options.h"
#include "graph/graph.h"
#include "kernels/fast/conv/conv.h"

namespace mete {

struct Convolution {
  ConvShape shape;
  // The kernel for sums in pieces of this length (kSumPiece in graph/fused.h) computes it; 0: another one.
  int64_t sum_piece = 0;
  // AlgorithmsFor() the shape: processor/cpu chooses from them by measuring.
  std::vector<ConvAlgorithm> algorithms = {ConvAlgorithm::kDirect};

  std::vector<std::string> kernels() const;  // by algorithm
};

// Returns the algorithms that the options allow for this convolution, kDirect first. F(6x6) is never among
// several algorithms because its error is larger: the user must ask for it.
// `operands`: of ConvAlgorithmsFor().
std::vector<ConvAlgorithm> AlgorithmsFor(const ConvShape& shape, const DispatchOptions& options,
                                         Precision operands = Precision::kF32);

// Returns the convolution of a Conv. Returns nothing if only the reference kernel can compute it; `why` then
// receives the reason.
std::optional<Convolution> ConvolutionOf(const Graph& graph, const Node& node, const DispatchOptions& options,
                                         std::string* why);

struct TransposedConvolution {
  ConvShape shape;                       // as of PhasesOf()
  Precision operands = Precision::kF32;  // that they may be rounded to (graph/fused.h, 10)

  std::string kernel() const;                // of f32
  std::vector<std::string> kernels() const;  // of the precisions that PrecisionOf() chooses from
};

// Returns the precision in which this processor computes it: the one of `operands` where that is sooner.
Precision PrecisionOf(const TransposedConvolution& conv);

// Returns the transposed convolution of a ConvTranspose, which the kernels of a Conv compute phase by phase
// (kernels/fast/conv/phases.h). Returns nothing if only the reference kernel can compute it; `why` then
// receives the reason.
std::optional<TransposedConvolution> TransposedConvolutionOf(const Graph& graph, const Node& node,
                                                             std::string* why);

}  // namespace mete
