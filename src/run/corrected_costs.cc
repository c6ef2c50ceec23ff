#include "run/corrected_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plan/pool/segments.h"

namespace mete {
namespace {

constexpr double kMostTimes = 3;  // of layers; guess
// Of bytes; guess: echoes are in the nearest caches, activations are not.
constexpr double kMostTimesSent = 10;
// Of messages without bytes; guess: a program that takes a core for some 100 us at a time delays each by
// that.
constexpr double kMostTimesEmpty = 100;

// Of a whole plan; guess: waits were up to a tenth.
constexpr double kMostTimesInAll = 1.25;
// Hand-overs off the critical path change nothing, so that one round finds a part of the difference.
constexpr int kRounds = 4;

// The bytes of some hand-over must take this many times the time of a hand-over without bytes; otherwise
// they are lost in its noise. Guess.
constexpr double kTelling = 3;

StageTimes TimesOf(const GroupTimes& took, int processor, size_t group) {
  const auto p = size_t(processor);
  return p < took.size() && group < took[p].size() ? took[p][group] : StageTimes{};
}

// Returns the ratio of a share's time to its prediction; 1 if it is not known.
double TimesOf(const Share& share, double us) {
  return us > 0 && share.compute_us > 0 ? std::clamp(us / share.compute_us, 1 / kMostTimes, kMostTimes) : 1;
}

// Returns the factor that all shares of a group have in common: the one that is nearest to 1, if all are on
// one side of 1; otherwise 1.
double CommonOf(const std::vector<double>& times) {
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  return *least > 1 ? *least : *most < 1 ? *most : 1;
}

// Returns the cost of a layer whose share `part` takes `times` its time. The part of the cost that does not
// shrink with the share changes; the time of the whole layer stays, as far as possible.
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

// If all shares of a divided group take longer, their division by rows or by channels gets the common
// factor; each processor gets the rest.
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

// Returns the time of a message without bytes, with the slowest message time and all latencies of the links.
double EmptyUs(const PoolCosts& costs) {
  double message_us = 0, latency_us = 0;
  for (const ProcessorCosts& processor : costs.processors) {
    message_us = std::max(message_us, processor.link.message_us);
    latency_us += processor.link.latency_us;
  }
  return message_us + latency_us;
}

// The wait of one processor before a group.
struct HandOver {
  double bytes_us = 0;  // the predicted time of its bytes
  double wait_us = 0;
};

// For each group the processor with the least wait counts, because the others also waited for the last one
// to compute.
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

// The ratios of the times of hand-overs to their predictions.
struct LinkFactors {
  double empty = 1, bytes = 1;
};

// Fits a line through all hand-overs: its slope is the factor of the bytes, its value at no bytes the time
// of a message without any. If all hand-overs have few bytes, the factor of the bytes is 1.
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

int CountHandOvers(const Plan& plan) {
  const auto has = [](const PlannedGroup& group) {
    return std::any_of(group.shares.begin(), group.shares.end(),
                       [](const Share& share) { return share.ready_us > 0; });
  };
  return int(std::count_if(plan.groups.begin(), plan.groups.end(), has)) + (plan.gather_us > 0 ? 1 : 0);
}

}  // namespace

PoolCosts CorrectedInAll(PoolCosts costs, const Graph& graph, const Plan& plan, double us) {
  for (int round = 0; round < kRounds; ++round) {
    const Plan predicted = PredictedWith(costs, graph, plan);
    const int hand_overs = CountHandOvers(predicted);
    if (round == 0) us = std::min(us, predicted.predicted_us * kMostTimesInAll);
    if (hand_overs == 0 || us <= predicted.predicted_us) return costs;
    const double each_us = (us - predicted.predicted_us) / hand_overs;
    // a hand-over takes the latencies of both ends
    for (ProcessorCosts& processor : costs.processors) processor.link.latency_us += each_us / 2;
  }
  return costs;
}

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
