// The cost of a group with one placement when its inputs have another placement. The planners use it to
// search plans and to describe the plan that they found.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "plan/pool/exchange.h"
#include "plan/pool/least_ready.h"
#include "plan/pool/share_needs.h"
#include "plan/plan.h"

namespace mete {

// A model's layers on a pool of processors. Boundary b is the one before layer b.
class PoolModel {
 public:
  // Keeps references. Error if `pool` does not fit the graph.
  PoolModel(const Graph& graph, const PoolCosts& pool);
  PoolModel(const PoolModel&) = delete;  // needs_ has references to its parts

  const Graph& graph() const { return graph_; }
  const PoolCosts& pool() const { return pool_; }
  const std::vector<Layer>& layers() const { return layers_; }
  int boundaries() const { return int(layers_.size()); }  // index of the boundary after all layers
  const std::vector<ValueId>& Live(int boundary) const { return live_[size_t(boundary)]; }
  // Returns whether the layer behind the boundary is a join. At such a boundary the planners weigh placements
  // of kind kBranches only: with another one a group may as well end behind the join, which takes little and
  // needs no halo. Stages of a pipeline (pipeline.h) may end there all the same.
  bool IsBeforeJoin(int boundary) const { return boundary < boundaries() && layers_[size_t(boundary)].joins; }
  ShareNeeds& needs() { return needs_; }
  bool has_co_run() const { return has_co_run_; }  // whether processors slow each other

 private:
  const Graph& graph_;
  const PoolCosts& pool_;
  const std::vector<Layer> layers_;
  const std::vector<std::vector<ValueId>> live_;
  ShareNeeds needs_;
  const bool has_co_run_;
};

// The processors that have parts of each value that is live at a boundary, in the order of the live values.
using Holdings = std::vector<std::vector<PlacedPart>>;
Holdings HoldingsOf(const PoolModel& model, int boundary, const Placement& placement);
// Returns the same by processor.
HeldByProcessor ByProcessor(PoolModel& model, int boundary, const Holdings& held);

// Returns the time of the share of a layer that must be computed for `need`: infinite if the processor cannot
// compute the layer.
inline double UsOf(const LayerCost& layer, const LiveParts& need) {
  if (!layer.can()) return std::numeric_limits<double>::infinity();
  const double least_us =
      need.by_channels ? layer.least_by_channels_us.value_or(layer.least_us) : layer.least_us;
  return least_us + (layer.us - least_us) * need.fraction.value_or(0);
}

// A group that ends at a boundary under a placement, and grows backwards.
class GroupCosts {
 public:
  GroupCosts(PoolModel& model, int end, const Placement& placement);

  void Prepend();  // adds the layer before the group
  int begin() const { return begin_; }
  size_t computing() const;  // how many processors compute a part of the group
  // of the slowest processor; it never decreases when the group grows. Infinite: a processor lacks a layer of
  // its share
  double compute_us() const;
  bool possible() const { return std::isfinite(compute_us()); }          // no: longer groups are not, either
  double compute_us(size_t k) const { return shares_[k].compute_us; }    // of the placement's k-th processor
  int64_t need_bytes(size_t k) const { return shares_[k].need->bytes; }  // inputs of the k-th processor
  // Returns the energy of computing on all processors, without idle power; it never decreases when the group
  // grows. The pool must have power figures.
  double compute_joules() const;
  // Returns the transfers before the group. The reference is valid until the next call of Sent(), Us(),
  // JoulesToSend() or Describe().
  const Exchange& Sent(const Holdings& held);
  // Computes lower bounds of the group's time: each processor waits for the parts that it lacks as if no
  // other processor received anything. `ready` must be that of the boundary where the group begins.
  void Bound(LeastReady& ready);
  double least_us() const { return least_us_; }  // the lower bound for all placements of the inputs
  // Returns a lower bound for inputs that lie as in `way`. A result above `enough_us` may be smaller than the
  // best bound, but the group then takes more than `enough_us`.
  double LeastUs(const LeastReady& ready, size_t way, double enough_us) const;
  // Returns the time of the group, transfers included, if the values at its beginning lie as in `held`.
  double Us(const Holdings& held);
  double JoulesToSend(const Holdings& held) { return mete::JoulesToSend(Sent(held), model_.pool()); }
  PlannedGroup Describe(const Holdings& held);

 private:
  double LeastSentUs(const LeastReady& ready, size_t way) const;
  void SlowShares();  // sets compute_us of all shares from their times alone

  // The share of one of the placement's processors.
  struct Share {
    const LiveParts* wanted = nullptr;  // parts that the processor has at the end
    const LiveParts* need = nullptr;    // parts that the processor needs at the beginning
    double alone_us = 0;                // of computing, if no other processor computed
    double compute_us = 0;              // while the others compute
    bool computes = false;
    const LeastReady::Table* ready = nullptr;  // of Bound()
  };

  PoolModel& model_;
  const int end_;
  int begin_;
  const Placement& placement_;
  std::vector<Share> shares_;  // in the order of the placement's processors
  double least_us_ = 0;
  Exchange exchange_;
};

// GatherOf: the transfers of the outputs to the caller after the last group, if the outputs lie as in `held`.
// GatherUs: the time until the caller has them.
Exchange GatherOf(const PoolModel& model, const Holdings& held);
double GatherUs(const PoolModel& model, const Holdings& held);

}  // namespace mete
