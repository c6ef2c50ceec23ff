#include "simulate_pool.h"

#include <fmt/format.h>

#include <numeric>
#include <set>

#include "engine/model.h"
#include "engine/pool/pool_internals.h"
#include "objective.h"
#include "pool_figure.h"
#include "pool.h"
#include "plan/pool/named.h"
#include "simulate/pool/simulate_pool.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

// guess: filling a pipeline of ten processors then takes a fiftieth of the time
constexpr int kManyRequests = 500;

struct Outcome {
  std::string planner;
  Plan plan;
  PoolSimulation simulation;
  double figure = 0;  // the simulated value of the objective's figure
  int measured = 0;   // the number of plans that the planner had simulated, if it measures plans
};

struct Comparison {
  std::string model, pool, note, estimates;  // the origin of the costs, and which of them are estimates
  PoolObjective objective;
  int requests;  // the number of requests in a row
  Plan alone;
  std::vector<Outcome> outcomes;

  const std::string& objective_name() const { return PoolObjectives()[size_t(objective)]; }
  double alone_figure() const { return FigureOf(alone, objective); }
};

double FigureOf(const Outcome& o, PoolObjective objective, const Graph& graph, const PoolCosts& pool) {
  if (objective == PoolObjective::kThroughput) return o.simulation.period_us();
  return objective == PoolObjective::kEnergy ? JoulesOf(graph, o.plan, pool, o.simulation.us)
                                             : o.simulation.us;
}

void Simulate(const Graph& graph, const PoolCosts& pool, const std::string& planner, const Context& context,
              Comparison& c) {
  Progress progress(context, "simulating planner");
  const auto measure = [&](const Plan& plan) { return SimulatePool(graph, plan, pool).us; };
  std::vector<std::string> names{planner};
  if (planner == "all") {
    names = PoolPlanners();
    std::erase(names, "exhaustive");  // most networks are too large for it
  }
  for (const std::string& name : names) {
    progress.Update(int(c.outcomes.size()), int(names.size()));
    Outcome outcome{name, {}, {}};
    outcome.plan = PlanPoolBy(name, graph, pool, measure, &outcome.measured, c.objective);
    if (name == "network-to-processor" && c.objective == PoolObjective::kThroughput) {
      const InTurn turns = PlanInTurn(graph, pool);
      outcome.plan.period_us = turns.period_us;
      outcome.simulation = SimulatePool(graph, turns.plans, pool, c.requests);
    } else {
      outcome.simulation = SimulatePool(graph, outcome.plan, pool, c.requests);
    }
    outcome.figure = FigureOf(outcome, c.objective, graph, pool);
    c.outcomes.push_back(std::move(outcome));
  }
}

size_t ProcessorsOf(const Plan& plan) {
  std::set<int> processors;
  for (const PlannedGroup& group : plan.groups)
    for (const Share& share : group.shares)
      if (share.compute_us > 0) processors.insert(share.processor);
  return processors.size();
}

int64_t SentBytes(const PoolSimulation& simulation) {
  return std::accumulate(simulation.processors.begin(), simulation.processors.end(), int64_t(0),
                         [](int64_t sum, const SimulatedProcessor& d) { return sum + d.sent_bytes; });
}

int Groups(const Plan& plan) {
  int groups = 0;
  for (const PlannedGroup& group : plan.groups) groups += group.first < group.last;
  return groups;
}

// Returns an explanation of the other columns.
std::string Legend(const Comparison& c) {
  const std::string alone = FigureText(c.alone_figure(), c.objective_name());
  if (c.objective == PoolObjective::kThroughput)
    return fmt::format(
        "period: from one request to the next, of {} in a row, the first one's way through all processors "
        "shared out. "
        "speed: beside the best single processor, {}.",
        c.requests, alone);
  if (c.objective == PoolObjective::kEnergy)
    return fmt::format("energy: of a request. less: times as much takes the best single processor, {}.",
                       alone);
  return fmt::format("speed: beside the best single processor, {}.", alone);
}

void Print(const Comparison& c) {
  const Style style = StyleOf(1);
  const bool latency = c.objective == PoolObjective::kLatency;
  PrintText(fmt::format("{}{}{} on simulated processors: {}", style.bold, c.model, style.reset, c.pool));
  const std::string figure = latency ? "simulated" : FigureName(c.objective_name()) + ", simulated";
  Rows rows{{"planner", figure, c.objective == PoolObjective::kEnergy ? "less" : "speed", "predicted",
             "processors", "groups", "sent", "tried"}};
  for (const Outcome& o : c.outcomes)
    rows.push_back({o.planner, FigureText(o.figure, c.objective_name()),
                    fmt::format("{:.2f}x", c.alone_figure() / o.figure),
                    FigureText(FigureOf(o.plan, c.objective), c.objective_name()),
                    std::to_string(ProcessorsOf(o.plan)), std::to_string(Groups(o.plan)),
                    FormatBytes(SentBytes(o.simulation) / c.requests),
                    o.measured > 0 ? std::to_string(o.measured) : "-"});
  fmt::print("{}\n", FormatTable(rows, "lrrrrrrr", "  "));
  PrintText(
      Legend(c) +
      " processors: those that compute. sent: for a request. tried: plans that the planner had simulated.\n");
  PrintText(c.note + (c.objective == PoolObjective::kEnergy
                          ? " Watts are those of the machine files' power models."
                          : ""));
}

Json OutcomeJson(const Outcome& o, const Comparison& c) {
  Json json{{"planner", o.planner},
            {"simulated_us", o.simulation.us},
            {"simulated_period_us", o.simulation.period_us()},
            {"predicted_us", o.plan.predicted_us},
            {"predicted_period_us", o.plan.period_us},
            {"predicted_joules", o.plan.joules},
            {"speed_up", c.alone_figure() / o.figure},
            {"groups", Groups(o.plan)},
            {"computing_processors", ProcessorsOf(o.plan)},
            {"measured", o.measured},
            {"processors", Json::array()}};
  for (const SimulatedProcessor& d : o.simulation.processors)
    json["processors"].push_back({{"name", d.name},
                                  {"busy_us", d.busy_us},
                                  {"sent_bytes", d.sent_bytes},
                                  {"received_bytes", d.received_bytes},
                                  {"messages", d.messages}});
  if (c.objective == PoolObjective::kEnergy) json["simulated_joules"] = o.figure;
  return json;
}

Json ComparisonJson(const Comparison& c) {
  Json json{{"model", c.model},
            {"processors", c.pool},
            {"objective", c.objective_name()},
            {"requests", c.requests},
            {"alone_us", c.alone.predicted_us},
            {"alone_period_us", c.alone.period_us},
            {"alone_joules", c.alone.joules},
            {"planners", Json::array()},
            {"estimates", c.estimates},
            {"note", c.note}};
  for (const Outcome& o : c.outcomes) json["planners"].push_back(OutcomeJson(o, c));
  return json;
}

}  // namespace

void SimulateOverPool(const Model& model, const SimulatePoolFlags& flags, const Context& context) {
  CheckPoolObjective(flags.objective);
  const PoolObjective objective = ParsePoolObjective(flags.objective, "--objective");
  const Graph& graph = DivisibleOf(model);
  if (!flags.trace.empty() && flags.planner == "all")
    throw UsageError("[--trace] is of one planner; got all; try --planner dynamic");
  if (flags.requests > 1 && objective != PoolObjective::kThroughput)
    throw UsageError("[--requests] is of --objective throughput; got " + flags.objective);
  const Pool named = NamedPool(flags.processors, flags.machine);
  PoolOptions options;
  options.note = [&context](const std::string& note) { PrintNote(context, note); };
  CheckMeasured(named, model, options);
  const KnownCosts known = PoolInternals::CostsOf(named, graph, options);
  const PoolCosts& pool = known.costs;
  const int requests = objective != PoolObjective::kThroughput ? 1
                       : flags.requests > 0                    ? flags.requests
                                                               : kManyRequests;
  Comparison c{flags.model,
               named.name(),
               known.note,
               known.estimates,
               objective,
               requests,
               PlanBestAlone(objective, graph, pool),
               {}};
  Simulate(graph, pool, flags.planner, context, c);
  if (!flags.trace.empty())
    WriteTextFile(flags.trace, ChromeJson(c.outcomes[0].simulation, c.outcomes[0].plan, pool) + "\n");
  if (context.json) PrintJson(ComparisonJson(c));
  else Print(c);
}

}  // namespace mete::cli
