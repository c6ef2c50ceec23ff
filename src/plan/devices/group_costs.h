// What a group takes under a placement when its inputs lie as another placement has them: shared by everybody who looks for a plan, and by
// who writes down what was found.
#pragma once

#include <vector>

#include "plan/devices/devices_plan.h"
#include "plan/devices/exchange.h"
#include "plan/devices/share_sweep.h"

namespace mete {

// A model's layers on a pool of devices; boundary b lies before layer b.
class PoolModel {
 public:
  // Keeps references. Error where `pool` does not fit the graph.
  PoolModel(const Graph& graph, const PoolCosts& pool);

  const Graph& graph() const { return graph_; }
  const PoolCosts& pool() const { return pool_; }
  const std::vector<Layer>& layers() const { return layers_; }
  int boundaries() const { return int(layers_.size()); }  // the last one is behind all layers
  const std::vector<ValueId>& Live(int boundary) const { return live_[size_t(boundary)]; }
  RowNeeds& needs() { return needs_; }

 private:
  const Graph& graph_;
  const PoolCosts& pool_;
  const std::vector<Layer> layers_;
  const std::vector<std::vector<ValueId>> live_;
  RowNeeds needs_;
};

// Where the live values of a boundary lie under a placement, in their order.
using Holdings = std::vector<std::vector<DevicePart>>;
Holdings HoldingsOf(const PoolModel& model, int boundary, const Placement& placement);

// A group that ends at a boundary under a placement, and grows backwards.
class GroupCosts {
 public:
  GroupCosts(PoolModel& model, int end, const Placement& placement);

  void Prepend();  // the layer before
  int begin() const { return begin_; }
  double compute_us() const;  // of the device that takes longest: no group that is longer takes less
  // No more than what it takes, in a fraction of the time: every device waits for what it lacks, but for nobody's link.
  double LeastUs(const Holdings& held) const;
  // All of it, where what is live at its beginning lies as `held` says.
  double Us(const Holdings& held);
  PlannedGroup Describe(const Holdings& held);

 private:
  void Fill(const Holdings& held);

  PoolModel& model_;
  const int end_;
  int begin_;
  const Placement& placement_;
  std::vector<ShareSweep> sweeps_;  // of the placement's devices
  std::vector<std::vector<ValuePart>> wanted_;
  Exchange exchange_;
};

// Until the caller has all outputs, which lie as `held` says.
double GatherUs(const PoolModel& model, const Holdings& held);

}  // namespace mete
