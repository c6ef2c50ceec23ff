#include "simulate/site/estimate_site.h"

#include "base/error.h"
#include "simulate/pool/estimate_pool.h"

namespace mete {

namespace {

void AddMissing(const SiteFile& site, MissingParts missing, SiteCosts& costs) {
  std::optional<LoadCost>& load = costs.loads[size_t(costs.state)];
  const bool finds_what_is_kept = costs.state == StartState::kKilled || costs.state == StartState::kCold;
  if (!finds_what_is_kept || !load) return;
  const LoadNow now = LoadWith({load->ms}, site.without, missing).value();
  load->ms = now.ms;
  costs.load_terms = now.terms;
}

}  // namespace

SiteCosts EstimateSite(const Graph& graph, const SiteFile& site, StartState state, MissingParts missing) {
  if (site.has_server && !site.server)
    Invalid(
        "server",
        "has an address and no machine file, and what is not there cannot be estimated; expected 'machine'");
  if (site.device.devices.empty())
    Invalid("device", "is not described, and cannot be estimated; expected 'device' with a machine file");
  PoolFile pool = site.device;
  if (site.server) {
    const Figure nothing{0, "derived: the site's link"}, at_once{1e12, "derived: the site's link"};
    pool.devices.push_back(
        {"server",
         "",
         {},
         std::nullopt,
         DescribedDevice{
             int(pool.machines.size()), nothing, nothing, at_once, at_once, std::nullopt, {}, {}}});
    pool.machines.push_back(*site.server);
  }
  SiteCosts costs;
  costs.pool = EstimatePool(graph, pool);
  if (site.server) {
    ProcessorCosts server = std::move(costs.pool.processors.back());
    costs.pool.processors.pop_back();
    AddServer(costs, std::move(server), site.link);
  }
  costs.connection = site.connection;
  costs.server_wait_ms = site.server_wait_ms;
  costs.server_load = {site.server_load_ms, site.server_load_ms};
  costs.state = state;
  costs.loads = site.loads;
  AddMissing(site, missing, costs);
  costs.photo = site.photo;
  return costs;
}

}  // namespace mete
