#include "plan_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explain_pool.h"
#include "pool.h"
#include "pool_figure.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

PoolPlan PlanThePool(const Model& model, const PlanPoolFlags& flags, const Context& context) {
  const Progress progress(context, "planning");
  const Pool pool = NamedPool(flags.processors, flags.machine).WithExactBytes(flags.exact);
  PoolOptions options;
  options.objective = flags.objective;
  options.planner = flags.planner;
  options.kernel_names = flags.explain || context.json;
  options.note = [&context](const std::string& note) { PrintNote(context, note); };
  CheckMeasured(pool, model, options);
  return pool.Plan(model, options);
}

void PrintBesideAlone(const PoolPlan& p) {
  const PoolPlan::Processor& best = p.processors[size_t(p.best_alone)];
  if (p.objective != "latency")
    fmt::print("{}: {}\n", FigureName(p.objective), FigureText(p.figure, p.objective));
  fmt::print("{} alone: {}, {:.2f} times as {}\n", best.name, FigureText(best.alone_figure, p.objective),
             best.alone_figure / p.figure, p.objective == "energy" ? "much" : "long");
}

void PrintLeftOut(const PoolPlan& p) {
  for (const auto& [processor, us] : p.left_out)
    PrintText(fmt::format(
        "{} has no part: with it, and others like it as far as they help, {}",
        p.processors[size_t(processor)].name,
        std::isfinite(us) ? fmt::format("{} at least", FormatMs(us * 1e-3)) : "no plan was weighed"));
}

void Print(const PoolPlan& p, const PlanPoolFlags& flags) {
  const Style style = StyleOf(1);
  const auto used = std::count_if(p.processors.begin(), p.processors.end(),
                                  [](const PoolPlan::Processor& processor) { return processor.is_used; });
  PrintText(fmt::format("{}{}{} on {}: {} of {} processors, {} group{}\n", style.bold, flags.model,
                        style.reset, p.pool, used, p.processors.size(), p.groups.size(),
                        p.groups.size() == 1 ? "" : "s"));
  fmt::print("{}\n", FormatTable(p.table, "lllllrr"));
  PrintText(fmt::format(
      "predicted: {}, of which {} until the caller has the outputs; simulated, where no processor "
      "waits for all others: {}",
      FormatMs(p.predicted_us * 1e-3), FormatMs(p.gather_us * 1e-3), FormatMs(p.simulated_us * 1e-3)));
  PrintBesideAlone(p);
  if (flags.explain) fmt::print("{}", ExplainPool(p));
  else PrintLeftOut(p);
  fmt::print("{}", LacksText(p));
  fmt::print("\n");
  PrintText(p.note);
}

// Returns the plan with the alternatives that were weighed.
Json PoolJson(const PoolPlan& p) {
  Json json = Json::parse(p.json);
  json["objective"] = p.objective;
  json["beside_best_alone"] = p.processors[size_t(p.best_alone)].alone_figure / p.figure;
  json["simulated_us"] = p.simulated_us;
  json["alone_us"] = Json::array();
  json["sent"] = SentJson(p);
  json["instead"] = Json::array();
  for (const PoolPlan::Group& group : p.groups) {
    json["instead"].push_back(Json::array());
    for (const PoolPlan::Instead& other : group.instead)
      json["instead"].back().push_back({{"how", other.how}, {"us", other.us}});
  }
  json["kernels"] = KernelsJson(p);
  json["lacks"] = Json::array();
  for (const PoolPlan::Processor& processor : p.processors) json["lacks"].push_back(processor.lacks);
  json["left_out"] = Json::array();
  json["note"] = p.note;
  for (const PoolPlan::Processor& processor : p.processors) json["alone_us"].push_back(processor.alone_us);
  for (const auto& [processor, us] : p.left_out)
    json["left_out"].push_back(
        {{"processor", p.processors[size_t(processor)].name}, {"least_us_with_it", us}});
  return json;
}

}  // namespace

void PlanForPool(const Model& model, const PlanPoolFlags& flags, const Context& context) {
  const PoolPlan plan = PlanThePool(model, flags, context);
  if (!flags.save_plan.empty()) WriteTextFile(flags.save_plan, plan.json + "\n");
  if (context.json) PrintJson(PoolJson(plan));
  else Print(plan, flags);
}

}  // namespace mete::cli
