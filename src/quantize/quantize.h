// A network of floats becomes one of bytes: the steps of the other files of this folder in their order.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "quantize/answers.h"
#include "quantize/bias.h"
#include "quantize/calibrate.h"
#include "quantize/equalize.h"
#include "quantize/places.h"
#include "quantize/ranges.h"
#include "quantize/scales.h"

namespace mete {

struct QuantizeOptions {
  RangeOptions ranges = {};
  DType activations = DType::kU8;  // or kI8
  bool correct_biases = true;
  bool equalize = true;             // if the answers are then nearer to those in floats
  std::set<std::string> kept = {};  // names of nodes that stay in floats
};

// A graph, what the samples say about it, and the ranges of its values by the chosen method. It holds for any
// choice of nodes that stay in floats.
struct Calibration {
  Graph graph;
  Measured measured;
  WeightScales weight_scales;
  BiasErrors bias_errors;
  RangeOptions ranges;  // the method that was chosen, where the options ask for the best
  bool equalized = false;
  Samples judged;         // those by whose answers methods are compared: SomeOf(samples, kJudged)
  Answers answers;        // of the graph in floats on these
  double answers_db = 0;  // how near the answers of the 8-bit form are
};

// The samples by which methods are compared: the answers of 16 pictures have 16,000 scores, from which the
// signal-to-noise ratio follows within some tenths of a decibel.
inline constexpr size_t kJudged = 16;

// Throws Error INVALID_ARGUMENT for a graph that is quantized already, or that has nothing to quantize.
void CheckIsOfFloats(const Graph& graph);
// Throws Error INVALID_ARGUMENT that names the products outside `kept` whose weights or biases are infinite
// or not numbers.
void CheckIsFinite(const Graph& graph, const std::set<std::string>& kept);

// Throws Error INVALID_ARGUMENT as above, and for a graph whose
// values are infinite or all zero on the samples; the message names the nodes.
Calibration Calibrate(const Graph& graph, const QuantizeOptions& options, const Samples& samples,
                      const Runs& runs);

struct Quantized {
  Graph graph;
  Places places;                        // of the calibration's graph
  std::vector<ActivationScale> scales;  // of activations, one for each of places.measured
};
// Returns the 8-bit form. The nodes of options.kept and the method may differ from those of Calibrate().
Quantized Quantize(const Calibration& calibration, const QuantizeOptions& options);

}  // namespace mete
