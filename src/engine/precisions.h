// The precision of each product for LoadOptions::precision = "auto".
// docs/decisions/auto-measures-the-outputs.md says why it is chosen so.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/precision.h"
#include "graph/graph.h"
#include "mete/engine.h"

namespace mete {

// Inputs of a graph, in its order.
using Samples = std::vector<std::vector<Tensor>>;

// Returns random inputs of the graph's types and shapes: floats in [-1, 1], integers 0 and 1.
Samples MadeUpSamples(const Graph& graph);

// Chooses the precisions of nodes, which together change the outputs by at most `bound` on `samples`
// (LoadOptions::error_bound): those of floats in precisions below f32, and convolutions of bytes with sums in
// f32 instead of exact ones. `graph` has had its passes. Runs it some times on the cores of this process:
// twice if all precisions that are sooner stay within the bound.
PrecisionReport ChoosePrecisions(const Graph& graph, double bound, const Samples& samples);

// Returns the report's precisions as the passes take them.
std::map<std::string, Precision> NodePrecisions(const PrecisionReport& report);

// Returns the report in words.
std::string ToText(const PrecisionReport& report);

}  // namespace mete
