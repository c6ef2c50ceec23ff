// A network of floats becomes one of bytes: the steps of the other files of this folder in their order.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "quantize/calibrate.h"
#include "quantize/places.h"
#include "quantize/ranges.h"
#include "quantize/scales.h"

namespace mete {

struct QuantizeOptions {
  RangeOptions ranges = {};
  DType activations = DType::kU8;  // or kI8
  bool correct_biases = true;
  bool equalize = true;
  std::set<std::string> kept = {};  // names of nodes that stay in floats
};

// What calibration knows about a graph. It does not depend on which nodes stay in floats.
struct Calibration {
  Graph graph;                        // equalised
  std::vector<ValueId> values;        // that were measured
  std::vector<Histogram> histograms;  // of these
};

// Throws Error INVALID_ARGUMENT for a graph that is quantized already, that has nothing to quantize, or whose
// values are infinite or all zero on the samples; the message names the nodes.
Calibration Calibrate(const Graph& graph, const QuantizeOptions& options, const Samples& samples,
                      const Runs& runs);

struct Quantized {
  Graph graph;
  Places places;                        // of the calibration's graph
  std::vector<ActivationScale> scales;  // one for each of places.measured
};
Quantized Quantize(const Calibration& calibration, const QuantizeOptions& options);

}  // namespace mete
