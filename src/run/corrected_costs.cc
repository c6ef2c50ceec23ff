#include "run/corrected_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mete {
namespace {

constexpr double kMostTimes = 3;  // of layers; guess
constexpr double kMostTimesSent =
    10;  // of bytes; guess: echoes are in the nearest caches, activations are not

// The bytes of some hand-over are to take as many times the time of one without bytes, or else they are lost
// in its noise. Guess.
constexpr double kTelling = 3;

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

// What one processor waited for before a group.
struct HandOver {
  double bytes_us = 0;  // that its bytes were predicted to take
  double wait_us = 0;
};

// Of each group the processor counts that waited the least: the others also waited for the last one to
// compute.
std::vector<HandOver> HandOversOf(const PoolCosts& costs, const Plan& plan, const GroupTimes& took) {
  const double empty_us = EmptyUs(costs);
  std::vector<HandOver> all;
  for (size_t g = 1; g < plan.groups.size(); ++g) {
    HandOver least{0, std::numeric_limits<double>::infinity()};
    for (const Share& share : plan.groups[g].shares)
      if (const double us = TimesOf(took, share.processor, g).wait_us; us > 0 && us < least.wait_us)
        least = {std::max(0.0, share.ready_us - empty_us), us};
    if (std::isfinite(least.wait_us)) all.push_back(least);
  }
  return all;
}

// By how many times the bytes between groups take longer than predicted: the slope of a line through all
// hand-overs, since each also takes a time without bytes. 1 where they do not tell: few bytes take less than
// that time.
double TimesSent(const PoolCosts& costs, const Plan& plan, const GroupTimes& took) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, most_us = 0;
  for (const HandOver& h : HandOversOf(costs, plan, took)) {
    n += 1, x += h.bytes_us, y += h.wait_us, xx += h.bytes_us * h.bytes_us, xy += h.bytes_us * h.wait_us;
    most_us = std::max(most_us, h.bytes_us);
  }
  const double spread = n * xx - x * x;
  if (most_us < kTelling * EmptyUs(costs) || spread <= 0) return 1;
  return std::clamp((n * xy - x * y) / spread, 1 / kMostTimesSent, kMostTimesSent);
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
