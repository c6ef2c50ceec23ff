#include "plan_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "pool_figure.h"
#include "explain_pool.h"
#include "plan/pool/named.h"
#include "plan/pool/plan_for.h"
#include "simulate/pool/simulate_pool.h"
#include "terminal.h"

namespace mete::cli {
namespace {

PlannedPool PlanThePool(const Graph& graph, const std::string& path, PoolObjective objective,
                        const Context& context) {
  const Progress progress(context, "planning");
  PlannedPool p{graph, PoolCostsOf(graph, path, context), objective, {}, {}, 0, {}};
  if (objective == PoolObjective::kLatency) {
    PlanAndLeftOut planned = PlanPoolAndLeftOut(graph, p.pool());
    p.plan = std::move(planned.plan), p.left_out = std::move(planned.left_out);
    RatePlan(p.plan, graph, p.pool());
  } else {
    p.plan = PlanPoolFor(objective, graph, p.pool());
  }
  for (size_t d = 0; d < p.pool().processors.size(); ++d) {
    p.alone.push_back(PlanAlone(graph, p.pool(), int(d)));
    RatePlan(p.alone.back(), graph, p.pool());
    if (FigureOf(p.alone[d], objective) < FigureOf(p.alone[p.best_alone], objective)) p.best_alone = d;
  }
  p.simulated_us = SimulatePool(graph, p.plan, p.pool()).us;
  return p;
}

// "rows 0 to 20 of 56", of the first value that is divided; "branches: 3 of 4 values", each of them whole.
std::string PartText(const Graph& graph, const Share& share, const Placement& placement) {
  const SplitAxis split = placement.split;
  if (split == SplitAxis::kBranches)
    return fmt::format("branches: {} of {} values", share.outputs.size(), placement.owners.size());
  for (const ValuePart& output : share.outputs)
    if (!output.part.all())
      return fmt::format("{} {} to {} of {}", Name(split), output.part.rows.begin, output.part.rows.end,
                         graph.value(output.value).shape[output.part.axis]);
  return "all";
}

Rows SharesRows(const PlannedPool& p) {
  Rows rows{{"group", "layers", "processor", "computes", "gets", "ready after", "computing"}};
  for (size_t g = 0; g < p.plan.groups.size(); ++g) {
    const PlannedGroup& group = p.plan.groups[g];
    for (size_t k = 0; k < group.shares.size(); ++k) {
      const Share& share = group.shares[k];
      rows.push_back({k == 0 ? std::to_string(g + 1) : "", k == 0 ? LayersText(p.plan, group) : "",
                      p.plan.processors[size_t(share.processor)], PartText(p.graph, share, group.placement),
                      share.bytes > 0 ? FormatBytes(share.bytes) : "-",
                      share.bytes > 0 ? FormatMs(share.ready_us * 1e-3) : "-",
                      FormatMs(share.compute_us * 1e-3)});
    }
  }
  return rows;
}

void PrintBesideAlone(const PlannedPool& p) {
  const double ours = FigureOf(p.plan, p.objective), alone = FigureOf(p.alone[p.best_alone], p.objective);
  if (p.objective != PoolObjective::kLatency)
    fmt::print("{}: {}\n", FigureName(p.objective), FigureText(ours, p.objective));
  fmt::print("{} alone: {}, {:.2f} times as {}\n", p.plan.processors[p.best_alone],
             FigureText(alone, p.objective), alone / ours,
             p.objective == PoolObjective::kEnergy ? "much" : "long");
}

void PrintLeftOut(const PlannedPool& p) {
  for (const auto& [device, us] : p.left_out)
    PrintText(fmt::format(
        "{} has no part: with it, and others like it as far as they help, {}",
        p.plan.processors[size_t(device)],
        std::isfinite(us) ? fmt::format("{} at least", FormatMs(us * 1e-3)) : "no plan was weighed"));
}

void Print(const PlannedPool& p, const std::string& model, bool explain) {
  const Style style = StyleOf(1);
  PrintText(fmt::format("{}{}{} on {}: {} of {} processors, {} group{}\n", style.bold, model, style.reset,
                        p.file.name, UsedProcessors(p.plan).size(), p.pool().processors.size(),
                        p.plan.groups.size(), p.plan.groups.size() == 1 ? "" : "s"));
  fmt::print("{}", FormatTable(SharesRows(p), "lllllrr"));
  fmt::print("\n");
  PrintText(
      fmt::format("predicted: {}, of which {} until the caller has the outputs; simulated, where nobody "
                  "waits for all others: {}",
                  FormatMs(p.plan.predicted_us * 1e-3), FormatMs(p.plan.gather_us * 1e-3),
                  FormatMs(p.simulated_us * 1e-3)));
  PrintBesideAlone(p);
  if (explain) fmt::print("{}", ExplainPool(p));
  else PrintLeftOut(p);
  fmt::print("\n");
  PrintText(p.file.note);
}

// Returns the plan with the alternatives that were weighed.
Json PoolJson(const PlannedPool& p) {
  Json json = Json::parse(ToJson(p.plan, p.graph));
  json["objective"] = PoolObjectives()[size_t(p.objective)];
  json["beside_best_alone"] = FigureOf(p.alone[p.best_alone], p.objective) / FigureOf(p.plan, p.objective);
  json["simulated_us"] = p.simulated_us;
  json["alone_us"] = Json::array();
  json["sent"] = SentJson(p);
  json["left_out"] = Json::array();
  json["note"] = p.file.note;
  for (const Plan& alone : p.alone) json["alone_us"].push_back(alone.predicted_us);
  for (const auto& [device, us] : p.left_out)
    json["left_out"].push_back({{"processor", p.plan.processors[size_t(device)]}, {"least_us_with_it", us}});
  return json;
}

}  // namespace

void PlanForPool(const Graph& graph, const std::string& model, const std::string& processors,
                 const std::string& objective, bool explain, const Context& context) {
  const PlannedPool planned = PlanThePool(graph, processors, ParsePoolObjectiveFlag(objective), context);
  if (context.json) PrintJson(PoolJson(planned));
  else Print(planned, model, explain);
}

}  // namespace mete::cli
