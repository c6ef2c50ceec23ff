#include "costs/pool.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/problems.h"
#include "machine/pool_file.h"

namespace mete {
namespace {

bool IsTime(double us) { return std::isfinite(us) && us >= 0; }

void CheckPower(const ProcessorCosts& processor, Problems& problems) {
  const PowerCosts power = processor.power.value_or(PowerCosts{});
  problems.Try([&] {
    for (const double x :
         {power.idle_w, power.compute_w, power.sent_joules_per_byte, power.received_joules_per_byte})
      if (!std::isfinite(x) || x < 0)
        Invalid(processor.name, "takes no such power; got {} W or joules a byte, expected 0 or more", x);
  });
}

void CheckLink(const std::string& processor, const LinkCosts& link, Problems& problems) {
  problems.Try([&] {
    if (!IsTime(link.latency_us) || !IsTime(link.message_us))
      Invalid(processor, "a link takes no such time; got {} and {} us, expected 0 or more", link.latency_us,
              link.message_us);
  });
  problems.Try([&] {
    for (const double rate : {link.up_mbit_per_s, link.down_mbit_per_s})
      if (!std::isfinite(rate) || rate <= 0)
        Invalid(processor, "a link has no such rate; got {} Mbit/s, expected more than 0", rate);
  });
}

void CheckMemory(const PoolCosts& costs, const ProcessorCosts& processor, Problems& problems) {
  if (!processor.memory) return;
  CheckLink(processor.name, processor.memory->link, problems);
  problems.Try([&] {
    if (processor.memory->device.empty())
      Invalid(processor.name, "shares the memory of a device without a name; expected the worker's name");
    if (&processor == &costs.processors[0])
      Invalid(processor.name, "is the home and shares the memory of a worker; got '{}', expected none",
              Printable(processor.memory->device));
  });
}

void CheckCoRun(const ProcessorCosts& processor, Problems& problems) {
  if (!processor.co_run) return;
  problems.Try([&] {
    if (processor.co_run->memory.empty())
      Invalid(processor.name, "is slowed by others of a device without a name; expected the device's name");
    if (const double by = processor.co_run->slowed; !std::isfinite(by) || by < 1)
      Invalid(processor.name, "is not slowed by others; got {} times its time alone, expected 1 or more", by);
  });
}

void CheckLayer(const std::string& processor, size_t layer, const LayerCost& cost) {
  if (!cost.can() && (cost.us != 0 || cost.least_us != 0 || cost.least_by_channels_us))
    Invalid(processor, "layer {} takes a time and cannot be computed; got {} us, expected 0", layer, cost.us);
  for (const double least_us : {cost.least_us, cost.least_by_channels_us.value_or(0)})
    if (!IsTime(cost.us) || !IsTime(least_us) || least_us > cost.us)
      Invalid(processor, "layer {} takes no such time; got {} us, at least {}", layer, cost.us, least_us);
}

void CheckLayers(const ProcessorCosts& processor, size_t layers, Problems& problems) {
  problems.Try([&] {
    if (!IsTime(processor.share_us))
      Invalid(processor.name, "a share takes no such time; got {} us, expected 0 or more",
              processor.share_us);
  });
  problems.Try([&] {
    if (processor.layers.size() != layers)
      Invalid(processor.name, "has other layers; got {}, expected {}", processor.layers.size(), layers);
    for (size_t i = 0; i < layers; ++i) CheckLayer(processor.name, i, processor.layers[i]);
  });
}

// The home computes what all others lack, and every request alone where they fail.
void CheckHome(const ProcessorCosts& home, Problems& problems) {
  problems.Try([&] {
    for (const LayerCost& layer : home.layers)
      if (!layer.can())
        Invalid(home.name,
                "is the home and cannot compute all layers: {}; try another processor as the first",
                Printable(layer.why_not));
  });
}

// The work of one processor among others that have begun with it.
struct Running {
  const CoRun* co_run;
  double rest_us;  // of its work, at its speed alone
  double* us;      // gets the time at which it is done
};

bool SlowEachOther(const Running& a, const Running& b) {
  return &a != &b && a.co_run->memory == b.co_run->memory;
}

// Returns the time that the rest of `one` takes as long as all of `running` run.
double RestUs(const Running& one, const std::vector<Running>& running) {
  const bool slowed = std::any_of(running.begin(), running.end(),
                                  [&](const Running& other) { return SlowEachOther(one, other); });
  return one.rest_us * (slowed ? one.co_run->slowed : 1);
}

}  // namespace

PowerCosts PowerCostsOf(const ProcessorPower& power) {
  return {power.idle_w.value, power.compute_w.value, power.sent_nj_per_byte.value * 1e-9,
          power.received_nj_per_byte.value * 1e-9};
}

LayerCost Scaled(const LayerCost& cost, double by) {
  LayerCost scaled{cost.us * by, cost.least_us * by, {}, cost.why_not};
  if (cost.least_by_channels_us) scaled.least_by_channels_us = *cost.least_by_channels_us * by;
  return scaled;
}

bool CanCompute(const ProcessorCosts& processor, size_t first, size_t last) {
  const auto begin = processor.layers.begin();
  return std::all_of(begin + ptrdiff_t(first), begin + ptrdiff_t(last),
                     [](const LayerCost& layer) { return layer.can(); });
}

double UsWithHome(const PoolCosts& costs, int processor) {
  double us = 0;
  const std::vector<LayerCost>& own = costs.processors[size_t(processor)].layers;
  for (size_t l = 0; l < own.size(); ++l) us += own[l].can() ? own[l].us : costs.processors[0].layers[l].us;
  return us;
}

std::vector<std::string> NamesOf(const PoolCosts& costs) {
  std::vector<std::string> names;
  for (const ProcessorCosts& processor : costs.processors) names.push_back(processor.name);
  return names;
}

int FirstOfUnit(const PoolCosts& costs, int processor) {
  const std::string& unit = costs.processors[size_t(processor)].unit;
  if (unit.empty()) return processor;
  int first = 0;
  while (costs.processors[size_t(first)].unit != unit) ++first;
  return first;
}

bool CanShareGroup(const PoolCosts& costs, std::span<const int> processors) {
  std::set<int> units;
  return std::all_of(processors.begin(), processors.end(),
                     [&](int p) { return units.insert(FirstOfUnit(costs, p)).second; });
}

PoolCosts WithoutTimes(const std::vector<std::string>& names, size_t layers) {
  PoolCosts costs;
  for (const std::string& name : names)
    costs.processors.push_back({name, {0, 0, 1, 1}, std::vector<LayerCost>(layers)});
  return costs;
}

LinksBetween LinkBetween(const ProcessorCosts& from, const ProcessorCosts& to) {
  if (from.memory && to.memory && from.memory->device == to.memory->device)
    return {LinkKind::kMemory, from.memory->link, to.memory->link};
  return {LinkKind::kNetwork, from.link, to.link};
}

LinkCosts BestLinkOf(const ProcessorCosts& processor) {
  if (!processor.memory) return processor.link;
  const LinkCosts &a = processor.link, &b = processor.memory->link;
  return {std::min(a.latency_us, b.latency_us), std::min(a.message_us, b.message_us),
          a.up_mbit_per_s + b.up_mbit_per_s, a.down_mbit_per_s + b.down_mbit_per_s};
}

void SlowTogether(const PoolCosts& costs, std::span<const int> processors, std::span<double> us) {
  std::vector<Running> running;
  for (size_t k = 0; k < processors.size(); ++k)
    if (const auto& co_run = costs.processors[size_t(processors[k])].co_run;
        co_run && us[k] > 0 && std::isfinite(us[k]))
      running.push_back({&*co_run, us[k], &us[k]});
  double now_us = 0;
  while (!running.empty()) {
    std::vector<double> rests_us;
    for (const Running& r : running) rests_us.push_back(RestUs(r, running));
    const auto first = std::min_element(rests_us.begin(), rests_us.end()) - rests_us.begin();
    const double step_us = rests_us[size_t(first)];
    for (size_t r = 0; r < running.size(); ++r)
      running[r].rest_us -= running[r].rest_us * (step_us / rests_us[r]);
    now_us += step_us;
    *running[size_t(first)].us = now_us;
    running.erase(running.begin() + first);
  }
}

void Verify(const PoolCosts& costs, size_t layers) {
  Problems problems;
  if (costs.processors.empty()) Invalid("processors", "there are none; expected one or more");
  std::set<std::string> names;
  for (const ProcessorCosts& processor : costs.processors) {
    problems.Try([&] {
      if (!names.insert(processor.name).second) Invalid(processor.name, "two processors have this name");
    });
    CheckLink(processor.name, processor.link, problems);
    CheckMemory(costs, processor, problems);
    CheckCoRun(processor, problems);
    CheckLayers(processor, layers, problems);
    CheckPower(processor, problems);
  }
  CheckHome(costs.processors[0], problems);
  problems.ThrowIfAny();
}

}  // namespace mete
