// What a Pool holds, for the library's own code and the programs that the layer table names.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "costs/pool.h"
#include "engine/pool/network.h"
#include "graph/graph.h"
#include "machine/pool_file.h"
#include "mete/pool.h"
#include "run/pool_session.h"

namespace mete {

struct Pool::Impl {
  PoolFile file;
  std::shared_ptr<const Network> network;
  std::string name;
  std::vector<PoolProcessor> processors;
};

// Costs of a model on a pool, and their origin.
struct KnownCosts {
  PoolCosts costs;
  std::string note;       // where they come from
  std::string estimates;  // which of them are estimates; empty: none
  PoolFile file = {};     // the pool that they are of
};

// Returns the microseconds of a request on each session.
using TimeOfSessions =
    std::function<std::vector<double>(const std::vector<PoolSession*>&, const CancelToken*)>;

struct PoolInternals {
  using Impl = Pool::Impl;
  static Pool Make(std::shared_ptr<const Impl> impl) { return Pool(std::move(impl)); }
  // Makes a pool of a description that is no pool's file.
  static Pool Make(PoolFile file, std::shared_ptr<const Network> network);
  // Error FAILED_PRECONDITION if the pool is empty.
  static const Impl& Of(const Pool& pool);

  // Returns the costs that were measured, or the estimates of boards that are not here. Error
  // FAILED_PRECONDITION if the model was not measured.
  static KnownCosts CostsOf(const Pool& pool, const Graph& graph, const PoolOptions& options);
  // Returns the costs on one CPU's cores as several processors (engine/pool/several_processors.h); nothing if
  // the pool is another one, or if they were not measured.
  static std::optional<KnownCosts> CostsAsSeveral(const Pool& pool, const Graph& graph,
                                                  const PoolOptions& options);
  // Returns a session that chooses by these times between one CPU and its cores as several processors.
  static Session MakeSession(const Model& model, const Pool& pool, const PoolOptions& options,
                             const TimeOfSessions& time);
  // The internal session of a session on a pool.
  static PoolSession& SessionOf(const Session& session);
};

}  // namespace mete
