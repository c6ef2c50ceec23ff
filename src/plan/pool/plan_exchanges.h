// The transfers of a plan for several processors: before each group, and to the caller at the end.
#pragma once

#include <vector>

#include "plan/pool/exchange.h"
#include "plan/plan.h"

namespace mete {

class PlanExchanges {
 public:
  // Keeps references. The plan must be one for this graph and pool, for example from PlanPool().
  PlanExchanges(const Graph& graph, const Plan& plan, const PoolCosts& pool);

  size_t count() const { return plan_.groups.size() + 1; }
  // Returns the transfers before group `at`, or, after the last group, those of the outputs. The reference is
  // valid until the next call.
  const Exchange& At(size_t at);
  std::vector<int> Receivers(size_t at) const;  // the processors that may receive something there

 private:
  // The placement of the live values at a boundary.
  struct Lying {
    Placement placement;
    int boundary = 0;
  };
  Lying Before(size_t at) const;
  void Need(int processor, const ValuePart& need, const Lying& from);

  const Graph& graph_;
  const Plan& plan_;
  const std::vector<std::vector<ValueId>> live_;
  Exchange exchange_;
};

}  // namespace mete
