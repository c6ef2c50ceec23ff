// Estimates the costs of a model on a device and a server that are described but not here (site_file.h).
#pragma once

#include "graph/graph.h"
#include "plan/site/site_costs.h"
#include "simulate/site/site_file.h"

namespace mete {

// `graph` is a graph before the pass `layout`. The layers are those of EstimatePool(): the device's pool, and
// the server as one more device with all of its cores. A photo and the states' loads are the file's, those
// from the states killed and cold with what the parts add that are missing. Error if the file's server is not
// described.
SiteCosts EstimateSite(const Graph& graph, const SiteFile& site, StartState state, MissingParts missing = {});

}  // namespace mete
