// mete bench --beside: plans in turns.
#include <fmt/format.h>

#include "engine/pool/pool_internals.h"
#include "mete/statistics.h"
#include "plan/pool/regression.h"
#include "pool.h"
#include "run/compare_plans.h"
#include "terminal.h"

namespace mete::cli {
namespace {

// What each share was predicted to take, and what it took; only shares that compute.
Json SharesJson(const ComparedPlan& c) {
  Json json = Json::array();
  for (size_t g = 0; g < c.made.plan.groups.size(); ++g)
    for (const Share& share : c.made.plan.groups[g].shares) {
      const auto p = size_t(share.processor);
      const double us = p < c.groups.size() && g < c.groups[p].size() ? c.groups[p][g].compute_us : 0;
      if (us > 0)
        json.push_back({{"group", g},
                        {"processor", c.made.plan.processors[p]},
                        {"predicted_us", share.compute_us},
                        {"measured_us", us}});
    }
  return json;
}

Json ComparedJson(const ComparedPlan& c, const std::vector<ComparedPlan>& all) {
  const Spread time = Summarize(c.us);
  return {{"name", c.name},
          {"same_as", all[c.same_as].name},
          {"plan", Summary(c.made.plan)},
          {"predicted_ms", c.made.plan.predicted_us * 1e-3},
          {"median_ms", time.median * 1e-3},
          {"min_ms", time.least * 1e-3},
          {"p95_ms", time.p95 * 1e-3},
          {"shares", SharesJson(c)},
          {"plan_s", c.made.plan_s},
          {"measured", c.made.measured}};
}

// By processor what each layer takes, as measured by itself, and as a line over its operations has it
// (muLayer's predictor).
Json LayersJson(PoolSession& session) {
  const HeldPlans held = session.HoldPlans();
  const PoolCosts& costs = held.part.costs;
  const PoolCosts linear = FlopsLinearCosts(held.runner.graph(), costs);
  Json json = Json::object();
  for (size_t p = 0; p < costs.processors.size(); ++p) {
    Json us = Json::array(), linear_us = Json::array();
    for (const LayerCost& layer : costs.processors[p].layers) us.push_back(layer.us);
    for (const LayerCost& layer : linear.processors[p].layers) linear_us.push_back(layer.us);
    json[costs.processors[p].name] = {{"us", us}, {"flops_linear_us", linear_us}};
  }
  return json;
}

}  // namespace

void ComparePlans(const Session& session, const PoolFigures& figures, const std::vector<Tensor>& inputs,
                  const std::string& model, const std::vector<std::string>& planners, int rounds,
                  const Context& context) {
  const std::vector<ComparedPlan> compared = [&] {
    const Progress progress(context, "planning, and running plans in turns");
    return ComparePlans(PoolInternals::SessionOf(session), planners, inputs, rounds);
  }();
  if (context.json) {
    Json json{{"model", model},
              {"rounds", rounds},
              {"profile_s", figures.seconds},
              {"profile_prepare_s", figures.prepare_seconds},
              {"layers", LayersJson(PoolInternals::SessionOf(session))},
              {"slowed", figures.slowed},
              {"plans", Json::array()}};
    for (const ComparedPlan& c : compared) json["plans"].push_back(ComparedJson(c, compared));
    return PrintJson(json);
  }
  Rows rows{{"", "median", "least", "predicted", "over the chosen", "planned in", "runs for it", "plan"}};
  const double chosen = Summarize(compared[0].us).median;
  for (const ComparedPlan& c : compared) {
    const Spread time = Summarize(c.us);
    rows.push_back({c.name, FormatMs(time.median * 1e-3), FormatMs(time.least * 1e-3),
                    FormatMs(c.made.plan.predicted_us * 1e-3),
                    c.same_as == 0 ? "the same" : fmt::format("{:.2f}", time.median / chosen),
                    FormatMs(c.made.plan_s * 1e3), std::to_string(c.made.measured), Summary(c.made.plan)});
  }
  PrintText(
      fmt::format("{}, {} rounds; single layers were measured in {:.1f} s", model, rounds, figures.seconds));
  fmt::print("{}", FormatTable(rows, "lrrrrrrw", "  "));
}

}  // namespace mete::cli
