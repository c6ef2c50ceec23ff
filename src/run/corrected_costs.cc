#include "run/corrected_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mete {
namespace {

constexpr double kMostTimes = 3;  // of layers; guess
// Of bytes; guess: echoes are in the nearest caches, activations are not.
constexpr double kMostTimesSent = 10;
// Of messages without bytes; guess: whoever takes a core for some 100 us at a time makes each that late.
constexpr double kMostTimesEmpty = 100;

// The bytes of some hand-over are to take as many times the time of one without bytes, or else they are lost
// in its noise. Guess.
constexpr double kTelling = 3;

StageTimes TimesOf(const GroupTimes& took, int processor, size_t group) {
  const auto p = size_t(processor);
  return p < took.size() && group < took[p].size() ? took[p][group] : StageTimes{};
}

// How many times its prediction a share took; 1 where that is not known.
double TimesOf(const Share& share, double us) {
  return us > 0 && share.compute_us > 0 ? std::clamp(us / share.compute_us, 1 / kMostTimes, kMostTimes) : 1;
}

// What all shares of a group have in common: the factor that is nearest to 1, where all are on one side of
// it.
double CommonOf(const std::vector<double>& times) {
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  return *least > 1 ? *least : *most < 1 ? *most : 1;
}

// A layer of which the share `part` takes so many times its time, by what does not shrink with the share:
// what the whole layer takes stays, as far as that can be.
LayerCost WithShare(LayerCost cost, SplitAxis split, double part, double times) {
  const bool by_channels = split == SplitAxis::kChannels && cost.least_by_channels_us;
  double& least_us = by_channels ? *cost.least_by_channels_us : cost.least_us;
  const double us = times * (least_us + (cost.us - least_us) * part);
  least_us = (us - cost.us * part) / (1 - part);
  if (least_us < 0) {
    least_us = 0;
    cost.us = us / part;
  }
  if (least_us > cost.us) least_us = cost.us = us;
  cost.least_us = std::min(cost.least_us, cost.us);
  if (cost.least_by_channels_us) cost.least_by_channels_us = std::min(*cost.least_by_channels_us, cost.us);
  return cost;
}

// Where all shares of a divided group take longer it is their division that takes it, by rows or by channels;
// where one of them does it is its processor.
void CorrectLayers(const PlannedGroup& group, const std::vector<double>& times, PoolCosts& costs) {
  const Placement& placement = group.placement;
  const bool divided = placement.shares.size() > 1 && group.shares.size() == placement.shares.size();
  const double common = divided ? CommonOf(times) : 1;
  for (size_t k = 0; k < group.shares.size(); ++k) {
    std::vector<LayerCost>& layers = costs.processors[size_t(group.shares[k].processor)].layers;
    for (int l = group.first; l < group.last; ++l) {
      LayerCost& layer = layers[size_t(l)];
      layer = Scaled(layer, times[k] / common);
      if (common != 1) layer = WithShare(layer, placement.split, placement.shares[k], common);
    }
  }
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

// By how many times hand-overs take longer than predicted.
struct LinkFactors {
  double empty = 1, bytes = 1;
};

// By the line through all hand-overs: its slope is that of the bytes, its value at no bytes that of a message
// without any. Where all have few bytes, these are taken to be as predicted.
LinkFactors FactorsOf(const PoolCosts& costs, const std::vector<HandOver>& hand_overs) {
  const double empty_us = EmptyUs(costs);
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, most_us = 0;
  for (const HandOver& h : hand_overs) {
    n += 1;
    x += h.bytes_us;
    y += h.wait_us;
    xx += h.bytes_us * h.bytes_us;
    xy += h.bytes_us * h.wait_us;
    most_us = std::max(most_us, h.bytes_us);
  }
  if (n == 0) return {};
  LinkFactors factors;
  const double spread = n * xx - x * x;
  if (most_us >= kTelling * empty_us && spread > 0)
    factors.bytes = std::clamp((n * xy - x * y) / spread, 1 / kMostTimesSent, kMostTimesSent);
  const double at_none_us = (y - factors.bytes * x) / n;
  if (empty_us > 0) factors.empty = std::clamp(at_none_us / empty_us, 1 / kMostTimes, kMostTimesEmpty);
  return factors;
}

}  // namespace

PoolCosts Corrected(PoolCosts costs, const Plan& plan, const GroupTimes& took) {
  const LinkFactors factors = FactorsOf(costs, HandOversOf(costs, plan, took));
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    std::vector<double> times;
    for (const Share& share : plan.groups[g].shares)
      times.push_back(TimesOf(share, TimesOf(took, share.processor, g).compute_us));
    if (!times.empty()) CorrectLayers(plan.groups[g], times, costs);
  }
  for (ProcessorCosts& processor : costs.processors) {
    processor.link.latency_us *= factors.empty;
    processor.link.message_us *= factors.empty;
    processor.link.up_mbit_per_s /= factors.bytes;
    processor.link.down_mbit_per_s /= factors.bytes;
  }
  return costs;
}

}  // namespace mete
