#include "plan/pool/segments.h"

#include <utility>

namespace mete {

Plan PlanOf(PoolModel& model, const std::vector<Segment>& segments) {
  Plan plan;
  Placement from = WholeOn(0);
  for (const Segment& s : segments) {
    GroupCosts group(model, s.end, s.placement);
    while (group.begin() > s.begin) group.Prepend();
    plan.groups.push_back(group.Describe(HoldingsOf(model, s.begin, from)));
    plan.predicted_us += plan.groups.back().us;
    from = s.placement;
  }
  if (!segments.empty() && segments.back().end == model.boundaries())
    plan.gather_us = GatherUs(model, HoldingsOf(model, model.boundaries(), from));
  plan.predicted_us += plan.gather_us;
  return plan;
}

Plan PredictedWith(const PoolCosts& pool, const Graph& graph, Plan plan) {
  std::vector<Segment> segments;
  for (const PlannedGroup& group : plan.groups)
    segments.push_back({group.first, group.last, group.placement});
  PoolModel model(graph, pool);
  Plan predicted = PlanOf(model, segments);
  plan.groups = std::move(predicted.groups);
  plan.predicted_us = predicted.predicted_us;
  plan.gather_us = predicted.gather_us;
  plan.period_us = plan.joules = 0;
  return plan;
}

}  // namespace mete
