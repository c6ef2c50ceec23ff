#include "plan/plan.h"

#include <algorithm>
#include <map>

#include "base/error.h"

namespace mete {
namespace {

// Returns the parts that a share needs for its outputs: those of the nodes that it computes, and parts that
// it keeps of `before`, the values that are live before the group; of each value the smallest part that has
// all of them.
std::vector<ValuePart> NeedsOf(const Graph& graph, const std::vector<int>& nodes,
                               const std::vector<ValueId>& before, const std::vector<ValuePart>& outputs) {
  std::vector<ValuePart> computed, needed;
  for (const ValuePart& output : outputs)
    (std::binary_search(before.begin(), before.end(), output.value) ? needed : computed).push_back(output);
  if (!computed.empty()) {
    const ShareParts parts = PartsOf(graph, nodes, computed);
    needed.insert(needed.end(), parts.inputs.begin(), parts.inputs.end());
  }
  std::map<ValueId, Part> hulls;
  for (const ValuePart& need : needed) {
    const auto [at, is_new] = hulls.emplace(need.value, need.part);
    if (!is_new) at->second = Normalized(Hull(at->second, need.part), graph.value(need.value).shape);
  }
  std::vector<ValuePart> needs;
  for (const auto& [value, part] : hulls) needs.push_back({value, part});
  return needs;
}

}  // namespace

std::set<int> UsedProcessors(const Plan& plan) {
  std::set<int> used;
  for (const PlannedGroup& group : plan.groups)
    for (const Share& share : group.shares) used.insert(share.processor);
  return used;
}

void NamePlan(Plan& plan, const Graph& graph, const std::vector<std::string>& processors,
              const std::string& planner) {
  plan.model = graph.name;
  plan.planner = planner;
  plan.processors = processors;
  plan.layers.clear();
  for (const Layer& layer : LayersOf(graph)) plan.layers.push_back(layer.name);
}

std::vector<Share> SharesOf(const Graph& graph, const std::vector<Layer>& layers,
                            const std::vector<std::vector<ValueId>>& live, int first, int last,
                            const Placement& placement) {
  std::map<int, std::vector<ValuePart>> outputs;
  if (placement.split == SplitAxis::kNone) outputs[placement.processors[0]] = {};
  const std::vector<ValueId>& values = live[size_t(last)];
  for (size_t v = 0; v < values.size(); ++v)
    for (const PlacedPart& part : PartsOn(placement, graph.value(values[v]).shape, v))
      outputs[part.processor].push_back({values[v], part.part});
  const std::vector<int> nodes = NodesOf(layers, first, last);
  std::vector<Share> shares;
  for (auto& [processor, parts] : outputs)
    shares.push_back({processor, NeedsOf(graph, nodes, live[size_t(first)], parts), std::move(parts)});
  return shares;
}

Plan PlanOnOne(const Graph& graph, const std::vector<std::string>& processors, int processor) {
  Plan plan;
  NamePlan(plan, graph, processors, "alone");
  plan.groups.push_back({0, int(plan.layers.size()), WholeOn(processor), {}, 0});
  DeriveShares(plan, graph);
  return plan;
}

Plan PlanOnOne(const Graph& graph, const std::string& processor, ThreadPlan threads) {
  Plan plan = PlanOnOne(graph, std::vector{processor}, 0);
  const double us = PredictedUs(threads);
  plan.planner = "threads";
  plan.groups[0].us = us;
  plan.groups[0].shares[0].compute_us = us;
  plan.groups[0].shares[0].threads = std::move(threads);
  plan.predicted_us = us;
  plan.period_us = us;
  return plan;
}

}  // namespace mete
