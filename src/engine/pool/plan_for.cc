#include "engine/pool/plan_for.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "engine/model.h"
#include "engine/pool/kernel_names.h"
#include "engine/pool/pool_internals.h"
#include "engine/pool/stored_profile.h"
#include "plan/pool/dynamic.h"
#include "plan/pool/instead.h"
#include "plan/pool/lacks.h"
#include "plan/pool/named.h"
#include "plan/pool/placements.h"
#include "plan/pool/plan_exchanges.h"
#include "plan/pool/plan_for.h"
#include "simulate/pool/simulate_pool.h"

namespace mete {
namespace {

// The alternatives of a plan, before they are put into a report.
struct Weighed {
  const Graph& graph;
  const PoolCosts& costs;
  PoolObjective objective;
  Plan plan;
  std::vector<LeftOutProcessor> left_out;
  std::vector<Plan> alone;  // for each processor the plan with the whole model on it
};

// The plan of another planner; those that measure plans get simulated times.
Plan PlanOfOthers(const std::string& planner, const Graph& graph, const PoolCosts& costs,
                  PoolObjective objective) {
  const auto simulated_us = [&](const Plan& plan) { return SimulatePool(graph, plan, costs).us; };
  return PlanPoolBy(planner, graph, costs, simulated_us, nullptr, objective);
}

Weighed Weigh(const Graph& graph, const PoolCosts& costs, PoolObjective objective,
              const std::string& planner) {
  Weighed w{graph, costs, objective, {}, {}, {}};
  if (planner != "dynamic") {
    w.plan = PlanOfOthers(planner, graph, costs, objective);
  } else if (objective == PoolObjective::kLatency) {
    PlanAndLeftOut planned = PlanPoolAndLeftOut(graph, costs);
    w.plan = std::move(planned.plan);
    w.left_out = std::move(planned.left_out);
    RatePlan(w.plan, graph, costs);
  } else {
    w.plan = PlanPoolFor(objective, graph, costs);
  }
  for (size_t p = 0; p < costs.processors.size(); ++p) {
    w.alone.push_back(PlanAlone(graph, costs, int(p)));
    RatePlan(w.alone.back(), graph, costs);
  }
  return w;
}

// Names the processors where "by rows" could mean several sets of them.
std::string HowText(const Placement& placement, const PoolCosts& costs) {
  if (placement.split == SplitAxis::kNone)
    return "whole on " + costs.processors[size_t(placement.processors[0])].name;
  const std::string how = std::string("by ") + Name(placement.split);
  if (FullSets(costs).size() < 2) return how;
  std::vector<std::string> names;
  for (const int p : placement.processors) names.push_back(costs.processors[size_t(p)].name);
  return fmt::format("{} on {}", how, fmt::join(names, "+"));
}

void AddInstead(const Weighed& w, PoolPlan& report) {
  if (w.objective != PoolObjective::kLatency) return;
  PoolModel model(w.graph, w.costs);
  const auto all = InsteadOf(model, w.plan);
  for (size_t g = 0; g < all.size(); ++g)
    for (const Instead& other : all[g])
      report.groups[g].instead.push_back({HowText(other.placement, w.costs), other.us});
}

void AddGroups(const Weighed& w, PoolPlan& report) {
  for (const PlannedGroup& group : w.plan.groups) {
    PoolPlan::Group& g =
        report.groups.emplace_back(PoolPlan::Group{LayersText(w.plan, group), {}, group.us, {}});
    for (const Share& share : group.shares)
      g.shares.push_back({share.processor, PartText(w.graph, share, group.placement), share.bytes,
                          share.ready_us, share.compute_us});
  }
}

// The first processor that has the same costs; the home is like none.
int AlikeOf(const PoolCosts& costs, size_t processor) {
  for (size_t other = 1; other < processor; ++other)
    if (Alike(costs.processors[other], costs.processors[processor])) return int(other);
  return int(processor);
}

// The time of the best plan in which the processor, or one with the same link and layers, has a part.
std::optional<double> WithIt(const Weighed& w, size_t processor) {
  const ProcessorCosts& own = w.costs.processors[processor];
  for (const LeftOutProcessor& left_out : w.left_out) {
    const ProcessorCosts& other = w.costs.processors[size_t(left_out.processor)];
    if (SameTimes(other, own)) return left_out.us;
  }
  return std::nullopt;
}

void AddProcessors(const Weighed& w, PoolPlan& report) {
  const std::set<int> used = UsedProcessors(w.plan);
  const std::vector<ProcessorLoad> loads = LoadsOf(w.graph, w.plan, w.costs);
  for (size_t p = 0; p < w.costs.processors.size(); ++p) {
    PoolPlan::Processor& processor = report.processors.emplace_back();
    processor.name = w.costs.processors[p].name;
    processor.is_used = used.count(int(p)) > 0;
    processor.compute_us = loads[p].compute_us;
    for (const LinkLoad& link : loads[p].links) {
      processor.up_us += link.up_us;
      processor.down_us += link.down_us;
    }
    processor.alone_us = w.alone[p].predicted_us;
    processor.alone_compute_us = w.alone[p].groups[0].shares[0].compute_us;
    processor.alone_figure = FigureOf(w.alone[p], w.objective);
    processor.there_and_back_us =
        AloneReadyUs({0, int(p), 0}, w.costs) + AloneReadyUs({int(p), 0, 0}, w.costs);
    processor.share_us = w.costs.processors[p].share_us;
    if (w.costs.processors[p].co_run) processor.slowed = w.costs.processors[p].co_run->slowed;
    processor.lacks = LacksOf(w.graph, w.costs.processors[p]);
    processor.alike = AlikeOf(w.costs, p);
    if (!processor.is_used) processor.with_it_us = WithIt(w, p);
    if (processor.alone_figure < report.processors[size_t(report.best_alone)].alone_figure)
      report.best_alone = int(p);
  }
}

void AddTransfers(const Weighed& w, PoolPlan& report) {
  PlanExchanges exchanges(w.graph, w.plan, w.costs);
  for (size_t at = 0; at < exchanges.count(); ++at)
    for (const Transfer& t : exchanges.At(at).All()) {
      report.transfers.push_back({int(at), t.from, t.to, t.bytes, AloneReadyUs(t, w.costs)});
      report.processors[size_t(t.from)].sent_bytes += t.bytes;
      report.processors[size_t(t.to)].received_bytes += t.bytes;
    }
}

PoolPlan ReportOf(const Graph& graph, const KnownCosts& known, const PoolOptions& options,
                  const std::string& pool) {
  const PoolObjective objective = ObjectiveOf(options);
  const Weighed w = Weigh(graph, known.costs, objective, options.planner);
  PoolPlan report;
  report.pool = pool;
  report.objective = PoolObjectives()[size_t(objective)];
  report.note = known.note;
  AddGroups(w, report);
  AddInstead(w, report);
  AddProcessors(w, report);
  AddTransfers(w, report);
  if (options.kernel_names) AddKernelNames(graph, w.plan, AsMeasured(known.file, known.costs), report);
  for (const LeftOutProcessor& left_out : w.left_out)
    report.left_out.push_back({left_out.processor, left_out.us});
  report.predicted_us = w.plan.predicted_us;
  report.gather_us = w.plan.gather_us;
  report.period_us = w.plan.period_us;
  report.joules = w.plan.joules;
  report.figure = FigureOf(w.plan, objective);
  report.simulated_us = SimulatePool(graph, w.plan, known.costs).us;
  report.summary = Summary(w.plan);
  report.table = SharesTable(w.plan, graph);
  report.text = ToText(w.plan, graph);
  report.json = ToJson(w.plan, graph);
  return report;
}

int UsedProcessors(const PoolPlan& plan) {
  return int(std::count_if(plan.processors.begin(), plan.processors.end(),
                           [](const PoolPlan::Processor& processor) { return processor.is_used; }));
}

}  // namespace

PoolObjective ObjectiveOf(const PoolOptions& options) {
  if (!options.objective.empty()) return ParsePoolObjective(options.objective, "objective");
  return options.lanes > 1 ? PoolObjective::kThroughput : PoolObjective::kLatency;
}

void CheckPlanner(const PoolOptions& options) {
  const auto& names = PoolPlanners();
  if (std::find(names.begin(), names.end(), options.planner) == names.end())
    Invalid("planner", "unknown planner; got '{}', expected one of those of PoolPlanners()",
            Printable(options.planner));
  if (!options.objective.empty() && !PlansFor(options.planner, options.objective))
    Invalid("planner", "{} plans for latency alone; got objective {}, try planner dynamic", options.planner,
            options.objective);
}

PoolPlan Pool::Plan(const Model& model, const PoolOptions& options) const {
  const Graph& graph = DivisibleOf(model);
  CheckPlanner(options);
  PoolPlan one = ReportOf(graph, PoolInternals::CostsOf(*this, graph, options), options, name());
  const std::optional<KnownCosts> known = PoolInternals::CostsAsSeveral(*this, graph, options);
  if (!known || ObjectiveOf(options) != PoolObjective::kLatency) return one;
  PoolPlan several = ReportOf(graph, *known, options, name());
  if (UsedProcessors(several) < 2 || several.predicted_us >= one.predicted_us) return one;
  several.note +=
      fmt::format(" One pool of threads is predicted to take {:.2f} ms.", one.predicted_us * 1e-3);
  return several;
}

}  // namespace mete
