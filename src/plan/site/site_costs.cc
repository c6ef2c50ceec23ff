#include "plan/site/site_costs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/problems.h"
#include "partition/layers.h"

namespace mete {
namespace {

bool IsTime(double ms) { return std::isfinite(ms) && ms >= 0; }

double StartMs(const StartCost& start) { return start.steps.process_ms + start.steps.load_ms; }

void CheckLoad(const std::string& where, const LoadCost& load, Problems& problems) {
  problems.Try([&] {
    if (!IsTime(load.ms) || !IsTime(load.least_ms) || load.least_ms > load.ms)
      Invalid(where, "no model takes such a time to load; got {} ms, at least {}", load.ms, load.least_ms);
  });
}

void CheckPicture(const std::string& where, const PictureCosts& picture, Problems& problems) {
  for (const auto& ms :
       {picture.decode_ms, picture.scale_ms, picture.encode_scaled_ms, picture.decode_scaled_ms})
    problems.Try([&] {
      if (ms && !IsTime(*ms))
        Invalid(where, "a step of a photo takes no such time; got {} ms, expected 0 or more", *ms);
    });
}

void CheckPhoto(const PhotoCosts& photo, const Graph& graph, Problems& problems) {
  CheckPicture("device", photo.device, problems);
  CheckPicture("server", photo.server, problems);
  problems.Try([&] {
    if (photo.file_bytes <= 0 || photo.scaled_bytes <= 0)
      Invalid("photo", "has no such size; got {} bytes and {} scaled, expected more than 0", photo.file_bytes,
              photo.scaled_bytes);
  });
  problems.Try([&] {
    if (graph.inputs.size() != 1)
      Invalid("photo", "is the input of a model with one input; got {} inputs; try the request as tensors",
              graph.inputs.size());
  });
}

}  // namespace

const std::vector<std::string>& StartStates() {
  static const std::vector<std::string> names{"resident", "evicted", "killed", "cold", "first-ever"};
  return names;
}

StartState ParseStartState(const std::string& name, const std::string& where) {
  const auto& names = StartStates();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    Invalid(where, "is no state of a model; got '{}', expected one of: {}", Printable(name),
            fmt::join(names, ", "));
  return StartState(found - names.begin());
}

Loads LoadsOf(const StartCosts& starts) {
  const auto load_of = [&](const StartCost& start) {
    return LoadCost{std::max(0.0, start.ms - StartMs(start) - starts.resident.ms), 0};
  };
  Loads loads;
  loads[size_t(StartState::kResident)] = LoadCost{};
  loads[size_t(StartState::kKilled)] = load_of(starts.killed);
  for (const auto& [state, start] : {std::pair(StartState::kEvicted, starts.evicted),
                                     {StartState::kCold, starts.cold},
                                     {StartState::kFirstEver, starts.first}})
    if (start) loads[size_t(state)] = load_of(*start);
  return loads;
}

StartTimes StartsOf(const StartCosts& starts) {
  StartTimes times = {};
  times[size_t(StartState::kKilled)] = StartMs(starts.killed);
  if (starts.cold) times[size_t(StartState::kCold)] = StartMs(*starts.cold);
  if (starts.first) times[size_t(StartState::kFirstEver)] = StartMs(*starts.first);
  return times;
}

ProcessorCosts InProportion(const ProcessorCosts& like, const std::string& name, double us) {
  double all_us = 0;
  for (const LayerCost& layer : like.layers) all_us += layer.us;
  if (all_us <= 0)
    Invalid(like.name, "its layers take no time, and others cannot be in proportion to them; got {} us",
            all_us);
  ProcessorCosts processor{name, like.link, {}};
  for (const LayerCost& layer : like.layers) processor.layers.push_back(Scaled(layer, us / all_us));
  return processor;
}

void AddServer(SiteCosts& costs, ProcessorCosts server, const NetworkLink& link) {
  server.link = PoolLinkOf(link);
  costs.link = link;
  costs.has_server = true;
  costs.pool.processors.push_back(std::move(server));
}

PoolCosts DevicePool(const SiteCosts& costs) {
  PoolCosts device = costs.pool;
  if (costs.has_server) device.processors.pop_back();
  return device;
}

const ProcessorCosts& ServerOf(const SiteCosts& costs) { return costs.pool.processors.back(); }

void Verify(const SiteCosts& costs, const Graph& graph) {
  Problems problems;
  problems.Try([&] { Verify(costs.pool, LayersOf(graph).size()); });
  problems.Try([&] {
    if (costs.has_server && costs.pool.processors.size() < 2)
      Invalid("server", "is the only processor; expected those of the device before it");
  });
  if (costs.has_server) problems.Try([&] { Verify(costs.link, "link"); });
  problems.Try([&] {
    if (!IsTime(costs.server_wait_ms))
      Invalid("server", "nobody waits for such a time; got {} ms, expected 0 or more", costs.server_wait_ms);
  });
  problems.Try([&] {
    if (costs.device_ms && !IsTime(*costs.device_ms))
      Invalid("device", "no model takes such a time; got {} ms, expected 0 or more", *costs.device_ms);
  });
  problems.Try([&] {
    if (!IsTime(costs.cut.ready_ms) || !IsTime(costs.cut.stream_ms))
      Invalid("cut", "no part of a model takes such times; got {} and {} ms, expected 0 or more",
              costs.cut.ready_ms, costs.cut.stream_ms);
  });
  if (costs.cut.load) CheckLoad("cut", *costs.cut.load, problems);
  CheckLoad("server", costs.server_load, problems);
  for (size_t s = 0; s < kStartStates; ++s) {
    if (costs.loads[s]) CheckLoad(StartStates()[s], *costs.loads[s], problems);
    problems.Try([&] {
      if (!IsTime(costs.start_ms[s]))
        Invalid(StartStates()[s], "no start takes such a time; got {} ms, expected 0 or more",
                costs.start_ms[s]);
    });
  }
  problems.Try([&] {
    if (!IsTime(costs.ask_ms) || !IsTime(costs.asked_ms))
      Invalid("server", "nobody asks for such times; got {} and {} ms, expected 0 or more", costs.ask_ms,
              costs.asked_ms);
  });
  if (costs.photo) CheckPhoto(*costs.photo, graph, problems);
  problems.ThrowIfAny();
}

}  // namespace mete
