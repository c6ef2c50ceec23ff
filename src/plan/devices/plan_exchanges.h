// What is sent in a plan for several devices: before each group, and to the caller in the end.
#pragma once

#include <vector>

#include "plan/devices/devices_plan.h"
#include "plan/devices/exchange.h"

namespace mete {

class PlanExchanges {
 public:
  // Keeps references. The plan is one of PlanDevices() for this graph and pool, or one like it.
  PlanExchanges(const Graph& graph, const DevicesPlan& plan, const PoolCosts& pool);

  size_t count() const { return plan_.groups.size() + 1; }
  // Of group `at`, or, behind the last one, of the outputs. Valid until the next call.
  const Exchange& At(size_t at);
  std::vector<int> Receivers(size_t at) const;  // who may get something there

 private:
  // How what is live at a boundary lies there.
  struct Lying {
    Placement placement;
    int boundary = 0;
  };
  Lying Before(size_t at) const;
  void Need(int device, const ValuePart& need, const Lying& from);

  const Graph& graph_;
  const DevicesPlan& plan_;
  const std::vector<std::vector<ValueId>> live_;
  Exchange exchange_;
};

}  // namespace mete
