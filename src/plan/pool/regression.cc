#include "plan/pool/regression.h"

#include "costs/describe.h"
#include "costs/fit.h"
#include "partition/layers.h"

namespace mete {
namespace {

struct LayerFeatures {
  std::string kind;
  std::map<std::string, double> amounts;
};

enum class Features { kOperations, kOperationsAndBytes };

std::vector<LayerFeatures> FeaturesOf(const Graph& graph, Features which) {
  std::vector<LayerFeatures> all;
  for (const Layer& layer : LayersOf(graph)) {
    LayerFeatures features{graph.nodes[size_t(layer.anchor)].op, {{"layer", 1}}};
    for (int n = layer.begin; n < layer.end; ++n) {
      const NodeCost node = DescribeNode(graph, graph.nodes[size_t(n)]);
      features.amounts["operations"] += double(node.flops);
      if (which == Features::kOperationsAndBytes) features.amounts["bytes"] += double(node.bytes);
    }
    all.push_back(std::move(features));
  }
  return all;
}

std::vector<LayerCost> Regressed(const std::vector<LayerFeatures>& features, std::vector<LayerCost> layers) {
  std::map<std::string, std::vector<FitSample>> samples;
  for (size_t l = 0; l < layers.size(); ++l)
    if (layers[l].us > 0) samples[features[l].kind].push_back({features[l].amounts, layers[l].us * 1e3});
  std::map<std::string, Fit> fits;
  for (const auto& [kind, list] : samples) fits[kind] = FitUnits(list);
  for (size_t l = 0; l < layers.size(); ++l)
    if (layers[l].us > 0) layers[l] = {fits[features[l].kind].Predict(features[l].amounts) * 1e-3, 0};
  return layers;
}

PoolCosts WithRegressedLayers(const Graph& graph, const PoolCosts& pool, Features which) {
  const std::vector<LayerFeatures> features = FeaturesOf(graph, which);
  PoolCosts estimates = pool;
  for (size_t d = 0; d < pool.processors.size(); ++d) {
    const bool as_before = d > 0 && pool.processors[d].layers == pool.processors[d - 1].layers;
    estimates.processors[d].layers =
        as_before ? estimates.processors[d - 1].layers : Regressed(features, pool.processors[d].layers);
  }
  return estimates;
}

// the rate of a link that takes nothing; any rate of this size does
constexpr double kAtOnce = 1e12;

}  // namespace

PoolCosts RegressedCosts(const Graph& graph, const PoolCosts& pool) {
  return WithRegressedLayers(graph, pool, Features::kOperationsAndBytes);
}

PoolCosts FlopsLinearCosts(const Graph& graph, const PoolCosts& pool) {
  PoolCosts estimates = WithRegressedLayers(graph, pool, Features::kOperations);
  for (ProcessorCosts& processor : estimates.processors) {
    processor.link = {0, 0, kAtOnce, kAtOnce};
    processor.memory.reset();
    processor.share_us = 0;
    processor.co_run.reset();
  }
  return estimates;
}

}  // namespace mete
