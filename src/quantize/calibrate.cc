#include "quantize/calibrate.h"

namespace mete {
namespace {

// Returns the graph with other outputs.
Graph WithOutputs(const Graph& graph, std::span<const ValueId> values) {
  Graph out = graph;
  out.outputs.assign(values.begin(), values.end());
  RemoveUnused(out);
  return out;
}

}  // namespace

void ForEachSample(const Graph& graph, std::span<const ValueId> values, const Samples& samples,
                   const Runs& runs, const std::function<void(size_t, std::span<const Tensor>)>& see) {
  if (values.empty()) return;
  const auto ready = runs.processor.Prepare(WithOutputs(graph, values));
  for (size_t i = 0; i < samples.count; ++i) {
    if (runs.progress) runs.progress(i, samples.count);
    see(i, ready->Run(samples.inputs(i), {}));
  }
}

std::vector<Histogram> HistogramsOf(const Graph& graph, std::span<const ValueId> values,
                                    const Samples& samples, const Runs& runs) {
  std::vector<Histogram> histograms(values.size());
  ForEachSample(graph, values, samples, runs, [&](size_t, std::span<const Tensor> tensors) {
    for (size_t i = 0; i < tensors.size(); ++i)
      histograms[i].Add({tensors[i].as<float>(), size_t(tensors[i].elements())});
  });
  return histograms;
}

}  // namespace mete
