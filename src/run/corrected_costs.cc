#include "run/corrected_costs.h"

#include <algorithm>
#include <limits>

namespace mete {
namespace {

constexpr double kMostTimes = 3;  // of layers; guess
constexpr double kMostTimesSent =
    10;  // of bytes; guess: echoes are in the nearest caches, activations are not

StageTimes TimesOf(const GroupTimes& took, int processor, size_t group) {
  const auto p = size_t(processor);
  return p < took.size() && group < took[p].size() ? took[p][group] : StageTimes{};
}

void CorrectLayers(const PlannedGroup& group, const Share& share, double us, PoolCosts& costs) {
  if (us <= 0 || share.compute_us <= 0) return;
  const double times = std::clamp(us / share.compute_us, 1 / kMostTimes, kMostTimes);
  std::vector<LayerCost>& layers = costs.processors[size_t(share.processor)].layers;
  for (int l = group.first; l < group.last; ++l) layers[size_t(l)] = Scaled(layers[size_t(l)], times);
}

// What a message without bytes takes until this processor has it, by the slowest of all links.
double EmptyUs(const PoolCosts& costs) {
  double message_us = 0, latency_us = 0;
  for (const ProcessorCosts& processor : costs.processors) {
    message_us = std::max(message_us, processor.link.message_us);
    latency_us += processor.link.latency_us;
  }
  return message_us + latency_us;
}

// By how many times the bytes between groups take longer than predicted. Of each group the processor counts
// that waited the least: the others also waited for the last one to compute.
double TimesSent(const PoolCosts& costs, const Plan& plan, const GroupTimes& took) {
  const double empty_us = EmptyUs(costs);
  double predicted_us = 0, measured_us = 0;
  for (size_t g = 1; g < plan.groups.size(); ++g) {
    const Share* least = nullptr;
    double least_us = std::numeric_limits<double>::infinity();
    for (const Share& share : plan.groups[g].shares)
      if (const double us = TimesOf(took, share.processor, g).wait_us; us < least_us) {
        least = &share;
        least_us = us;
      }
    if (!least || least->ready_us <= empty_us || least_us <= 0) continue;
    predicted_us += least->ready_us - empty_us;
    measured_us += std::max(0.0, least_us - empty_us);
  }
  return predicted_us > 0 ? std::clamp(measured_us / predicted_us, 1 / kMostTimesSent, kMostTimesSent) : 1;
}

}  // namespace

PoolCosts Corrected(PoolCosts costs, const Plan& plan, const GroupTimes& took) {
  const double times_sent = TimesSent(costs, plan, took);
  for (size_t g = 0; g < plan.groups.size(); ++g)
    for (const Share& share : plan.groups[g].shares)
      CorrectLayers(plan.groups[g], share, TimesOf(took, share.processor, g).compute_us, costs);
  for (ProcessorCosts& processor : costs.processors) {
    processor.link.up_mbit_per_s /= times_sent;
    processor.link.down_mbit_per_s /= times_sent;
  }
  return costs;
}

}  // namespace mete
