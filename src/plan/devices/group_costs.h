// What a group takes under a placement when its inputs lie as another placement has them: shared by everybody
// who looks for a plan, and by who writes down what was found.
#pragma once

#include <vector>

#include "plan/devices/devices_plan.h"
#include "plan/devices/exchange.h"
#include "plan/devices/least_ready.h"
#include "plan/devices/share_needs.h"

namespace mete {

// A model's layers on a pool of devices; boundary b lies before layer b.
class PoolModel {
 public:
  // Keeps references. Error where `pool` does not fit the graph.
  PoolModel(const Graph& graph, const PoolCosts& pool);
  PoolModel(const PoolModel&) = delete;  // needs_ has references to its parts

  const Graph& graph() const { return graph_; }
  const PoolCosts& pool() const { return pool_; }
  const std::vector<Layer>& layers() const { return layers_; }
  int boundaries() const { return int(layers_.size()); }  // the last one is behind all layers
  const std::vector<ValueId>& Live(int boundary) const { return live_[size_t(boundary)]; }
  // Whether the layer behind the boundary is a join. There the planners weigh placements of kind kBranches
  // only: under another one a group may as well end behind the join, which takes little and needs no halo.
  // Stages of a pipeline (pipeline.h) may end there all the same.
  bool IsBeforeJoin(int boundary) const { return boundary < boundaries() && layers_[size_t(boundary)].joins; }
  ShareNeeds& needs() { return needs_; }

 private:
  const Graph& graph_;
  const PoolCosts& pool_;
  const std::vector<Layer> layers_;
  const std::vector<std::vector<ValueId>> live_;
  ShareNeeds needs_;
};

// Where the live values of a boundary lie under a placement, in their order.
using Holdings = std::vector<std::vector<DevicePart>>;
Holdings HoldingsOf(const PoolModel& model, int boundary, const Placement& placement);
// The same by device.
HeldByDevice ByDevice(PoolModel& model, int boundary, const Holdings& held);

// What a layer takes where such a part of it is computed, more than 0 to 1.
inline double UsOf(const LayerCost& layer, double fraction) {
  return layer.least_us + (layer.us - layer.least_us) * fraction;
}

// A group that ends at a boundary under a placement, and grows backwards.
class GroupCosts {
 public:
  GroupCosts(PoolModel& model, int end, const Placement& placement);

  void Prepend();  // the layer before
  int begin() const { return begin_; }
  size_t computing() const;   // how many devices compute something of it
  double compute_us() const;  // of the device that takes longest: no group that is longer takes less
  double compute_us(size_t k) const { return shares_[k].compute_us; }    // of the placement's k-th device
  int64_t need_bytes(size_t k) const { return shares_[k].need->bytes; }  // of what is live at its beginning
  double compute_joules() const;  // of all, more than idle; as monotonous. Where the pool has power figures
  // What is sent before it. Valid until the next call of any of these.
  const Exchange& Sent(const Holdings& held);
  // No more than what it takes: every device waits for what it lacks as if nobody else did. Of where it
  // begins.
  void Bound(LeastReady& ready);
  double least_us() const { return least_us_; }  // wherever values lie
  // Where it is more than `enough_us` it may be less than that, but still more than `enough_us`.
  double LeastUs(const LeastReady& ready, size_t way, double enough_us) const;
  // All of it, where what is live at its beginning lies as `held` says.
  double Us(const Holdings& held);
  double JoulesToSend(const Holdings& held) { return mete::JoulesToSend(Sent(held), model_.pool()); }
  PlannedGroup Describe(const Holdings& held);

 private:
  double LeastSentUs(const LeastReady& ready, size_t way) const;

  // Of one of the placement's devices.
  struct Share {
    const LiveParts* wanted = nullptr;  // what it has at the end
    const LiveParts* need = nullptr;    // what it needs at the beginning
    double compute_us = 0;
    bool computes = false;
    const LeastReady::Table* ready = nullptr;  // of Bound()
  };

  PoolModel& model_;
  const int end_;
  int begin_;
  const Placement& placement_;
  std::vector<Share> shares_;  // of the placement's devices
  double least_us_ = 0;
  Exchange exchange_;
};

// What is sent to the caller in the end, when all outputs lie as `held` says, and until it has them.
Exchange GatherOf(const PoolModel& model, const Holdings& held);
double GatherUs(const PoolModel& model, const Holdings& held);

}  // namespace mete
