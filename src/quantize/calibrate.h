// Runs a network on samples and collects what its values are, in bounded memory.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "processor/processor.h"
#include "quantize/histogram.h"

namespace mete {

// The samples of a calibration: how many there are, and the inputs of each, in the graph's order. They are
// read when they are needed, so that memory does not grow with their number.
struct Samples {
  size_t count = 0;
  std::function<std::vector<Tensor>(size_t)> inputs;
};

// Is told before each run that `done` of `all` are over; throws to stop the work.
using RunProgress = std::function<void(size_t done, size_t all)>;

// What the functions of this folder need to run graphs.
struct Runs {
  Processor& processor;
  RunProgress progress = {};
  std::function<void(const std::string&)> stage = {};  // is told what the next runs are for

  void Stage(const std::string& name) const {
    if (stage) stage(name);
  }
};

// Makes the graph ready with other outputs, each of them once.
std::shared_ptr<Ready> PrepareFor(const Graph& graph, std::span<const ValueId> outputs, const Runs& runs);

// Calls `see(sample, tensors)` with `values` of the graph, each of them once, for each sample.
void ForEachSample(const Graph& graph, std::span<const ValueId> values, const Samples& samples,
                   const Runs& runs, const std::function<void(size_t, std::span<const Tensor>)>& see);

// What the samples say about a graph.
struct Measured {
  std::map<ValueId, Histogram> histograms;
  std::map<ValueId, Tensor> means;                   // of each element
  std::map<ValueId, std::vector<float>> magnitudes;  // the largest of each channel, which is dimension 1
};

// The values of each of these kinds.
struct ValuesToMeasure {
  std::vector<ValueId> histograms, means, magnitudes;
};
Measured Measure(const Graph& graph, const ValuesToMeasure& values, const Samples& samples, const Runs& runs);

}  // namespace mete
