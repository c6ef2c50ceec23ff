// Costs of a device and a server for tests.
#pragma once

#include <vector>

#include "partition/layers.h"
#include "plan/site/site_costs.h"

namespace mete {

// A link of a processor that takes nothing.
inline constexpr LinkCosts kNoLink{0, 0, 1e12, 1e12};

// Each layer takes `device_us` on the device and `server_us` on the server; the model is resident, and the
// connection warm.
inline SiteCosts SiteOf(const Graph& graph, double device_us, double server_us, const NetworkLink& link) {
  const size_t layers = LayersOf(graph).size();
  SiteCosts costs;
  costs.pool.processors = {{"phone", kNoLink, std::vector<LayerCost>(layers, {device_us, 0})}};
  costs.pool.processors[0].power = PowerCosts{1, 2, 1e-7, 5e-8};
  AddServer(costs, {"server", kNoLink, std::vector<LayerCost>(layers, {server_us, 0})}, link);
  costs.loads[size_t(StartState::kResident)] = LoadCost{};
  return costs;
}

}  // namespace mete
