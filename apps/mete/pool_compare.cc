// mete bench --beside: plans in turns.
#include <fmt/format.h>

#include "engine/pool/pool_internals.h"
#include "mete/statistics.h"
#include "pool.h"
#include "run/compare_plans.h"
#include "terminal.h"

namespace mete::cli {
namespace {

Json ComparedJson(const ComparedPlan& c, const std::vector<ComparedPlan>& all) {
  const Spread time = Summarize(c.us);
  return {{"name", c.name},
          {"same_as", all[c.same_as].name},
          {"plan", Summary(c.made.plan)},
          {"predicted_ms", c.made.plan.predicted_us * 1e-3},
          {"median_ms", time.median * 1e-3},
          {"min_ms", time.least * 1e-3},
          {"p95_ms", time.p95 * 1e-3},
          {"plan_s", c.made.plan_s},
          {"measured", c.made.measured}};
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
