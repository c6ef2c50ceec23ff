#include "quantize/calibrate.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <thread>

namespace mete {
namespace {

// Returns the graph with other outputs.
Graph WithOutputs(const Graph& graph, std::span<const ValueId> values) {
  Graph out = graph;
  out.outputs.assign(values.begin(), values.end());
  RemoveUnused(out);
  return out;
}

void AddTo(Tensor& sum, const Tensor& t) {
  if (!sum.has_value()) sum = Tensor(DType::kF32, t.shape());
  const int64_t count = t.elements();
  auto* to = sum.mutable_view().as<float>();
  const auto* from = t.as<float>();
  for (int64_t i = 0; i < count; ++i) to[i] += from[i];
}

void WidenMagnitudes(std::vector<float>& largest, const Tensor& t) {
  const int64_t channels = t.shape()[1], inner = t.shape().Elements(2, t.shape().rank());
  largest.resize(size_t(channels));
  const auto* from = t.as<float>();
  for (int64_t row = 0; row < t.shape()[0] * channels; ++row, from += inner) {
    float most = largest[size_t(row % channels)];
    for (int64_t i = 0; i < inner; ++i) most = std::max(most, std::abs(from[i]));
    largest[size_t(row % channels)] = most;
  }
}

// Calls f(0) to f(count - 1), each once, on as many threads as there are cores.
void OnThreads(size_t count, const std::function<void(size_t)>& f) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) f(i);
  };
  std::vector<std::jthread> others;
  for (unsigned t = 1; t < std::min<size_t>(std::thread::hardware_concurrency(), count); ++t)
    others.emplace_back(work);
  work();
}

}  // namespace

std::shared_ptr<Ready> PrepareFor(const Graph& graph, std::span<const ValueId> outputs, const Runs& runs) {
  return runs.processor.Prepare(WithOutputs(graph, outputs));
}

void ForEachSample(const Graph& graph, std::span<const ValueId> values, const Samples& samples,
                   const Runs& runs, const std::function<void(size_t, std::span<const Tensor>)>& see) {
  if (values.empty()) return;
  const auto ready = PrepareFor(graph, values, runs);
  for (size_t i = 0; i < samples.count; ++i) {
    if (runs.progress) runs.progress(i, samples.count);
    see(i, ready->Run(samples.inputs(i), {}));
  }
}

Measured Measure(const Graph& graph, const ValuesToMeasure& values, const Samples& samples,
                 const Runs& runs) {
  std::set<ValueId> distinct;
  for (const auto* of : {&values.histograms, &values.means, &values.magnitudes})
    distinct.insert(of->begin(), of->end());
  const std::vector<ValueId> all(distinct.begin(), distinct.end());
  // Each value is measured by one thread, so every place must be there before.
  Measured m;
  for (const ValueId id : values.histograms) m.histograms[id];
  for (const ValueId id : values.means) m.means[id];
  for (const ValueId id : values.magnitudes) m.magnitudes[id];
  ForEachSample(graph, all, samples, runs, [&](size_t, std::span<const Tensor> tensors) {
    OnThreads(all.size(), [&](size_t i) {
      const Tensor& t = tensors[i];
      if (const auto h = m.histograms.find(all[i]); h != m.histograms.end())
        h->second.Add({t.as<float>(), size_t(t.elements())});
      if (const auto sum = m.means.find(all[i]); sum != m.means.end()) AddTo(sum->second, t);
      if (const auto most = m.magnitudes.find(all[i]); most != m.magnitudes.end())
        WidenMagnitudes(most->second, t);
    });
  });
  for (auto& [id, sum] : m.means) {
    auto* mean = sum.mutable_view().as<float>();
    const int64_t count = sum.elements();
    for (int64_t i = 0; i < count; ++i) mean[i] /= float(samples.count);
  }
  return m;
}

}  // namespace mete
