// The report of a model on several processors.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "engine/model.h"
#include "engine/pool/pool_internals.h"
#include "inputs.h"
#include "left_frequencies.h"
#include "mete/statistics.h"
#include "plan/plan.h"
#include "report/parts.h"
#include "report/plan_section.h"
#include "report/timeline.h"
#include "simulate/pool/simulate_pool.h"
#include "terminal.h"

namespace mete::cli {
namespace {

// Costs of the processors that the plan names: those of the pool, or of one CPU's cores as several.
std::optional<KnownCosts> CostsFor(const Plan& plan, const Pool& pool, const Graph& graph,
                                   const PoolOptions& options) {
  const auto is_for = [&](const KnownCosts& known) {
    std::vector<std::string> names;
    for (const auto& processor : known.costs.processors) names.push_back(processor.name);
    return names == plan.processors;
  };
  KnownCosts known = PoolInternals::CostsOf(pool, graph, options);
  if (is_for(known)) return known;
  std::optional<KnownCosts> several = PoolInternals::CostsAsSeveral(pool, graph, options);
  return several && is_for(*several) ? several : std::nullopt;
}

// Adds the plan in virtual time, in which messages and computing go on side by side.
void AddSimulation(const Model& model, const Pool& pool, const std::string& plan_json,
                   const PoolOptions& options, Report& report) {
  const Graph& graph = DivisibleOf(model);
  const Plan plan = PlanFromJson(plan_json, graph);
  const std::optional<KnownCosts> known = CostsFor(plan, pool, graph, options);
  if (!known) return;
  const std::string trace = ChromeJson(SimulatePool(graph, plan, known->costs), plan, known->costs);
  report.timelines.push_back(TimelineOf({"A request over time",
                                         "The plan in virtual time, by the times of single layers and of "
                                         "links: what is expected, not measured.",
                                         "simulated"},
                                        Json::parse(trace), "report"));
}

struct Requests {
  std::vector<double> ms;
  std::vector<std::vector<double>> compute_us;  // by processor, of each request
  std::vector<std::string> processors;
  int alone = 0;  // computed by the home alone
};

Requests RunRequests(Session& session, const std::vector<Tensor>& inputs, int runs, const Context& context) {
  Progress progress(context, "request");
  for (int i = 0; i < 3; ++i) (void)session.Run(inputs);  // not counted
  Requests requests;
  for (int i = 0; i < runs; ++i) {
    CheckCancelled(context);
    RunReport run;
    (void)session.Run(inputs, {.report = &run});
    requests.ms.push_back(run.us * 1e-3);
    requests.alone += run.alone;
    progress.Update(i + 1, runs);
    if (run.alone) continue;
    requests.processors = run.processors;
    requests.compute_us.resize(run.compute_us.size());
    for (size_t p = 0; p < run.compute_us.size(); ++p) requests.compute_us[p].push_back(run.compute_us[p]);
  }
  return requests;
}

void AddMeasured(const Requests& requests, const PoolStats& stats, Report& report) {
  const Spread time = Summarize(requests.ms);
  report.facts.insert(report.facts.begin(), {"median request", FormatMs(time.median)});
  report.says.insert(
      report.says.begin(),
      fmt::format("A request takes {}: the median of {} requests, which took {} to {}.",
                  FormatMs(time.median), time.count, FormatMs(time.least), FormatMs(time.most)));
  if (requests.alone > 0)
    report.says.push_back(
        fmt::format("The home computed {} of these {} requests alone.", requests.alone, time.count));
  if (stats.predicted_us > 0)
    report.compared.push_back(
        {{"what", "a request"}, {"predicted_us", stats.predicted_us}, {"measured_us", time.median * 1e3}});
  for (size_t p = 0; p < std::min(requests.compute_us.size(), stats.parts.size()); ++p)
    if (stats.parts[p].compute_us > 0)
      report.compared.push_back({{"what", stats.parts[p].processor + " computes"},
                                 {"predicted_us", stats.parts[p].compute_us},
                                 {"measured_us", Summarize(requests.compute_us[p]).median}});
}

// Returns the plans for each objective that the pool has figures for and the planner plans for.
std::vector<PoolPlan> PlansOf(const Pool& pool, const Model& model, PoolOptions options,
                              const PoolPlan& chosen) {
  std::vector<PoolPlan> plans;
  if (chosen.joules <= 0) return plans;  // without watts there is no energy
  for (const std::string& objective : PoolObjectives()) {
    if (!PlansFor(options.planner, objective)) continue;
    options.objective = objective;
    plans.push_back(pool.Plan(model, options));
  }
  return plans;
}

void SayProcessors(const Pool& pool, Report& report) {
  std::string emulated;
  for (const PoolProcessor& p : pool.processors())
    if (p.speed < 1 || p.kind == "emulated") emulated += (emulated.empty() ? "" : ", ") + p.name;
  if (!emulated.empty())
    report.says.push_back(fmt::format("Emulated, by stretching the time of each block: {}.", emulated));
}

void AddFacts(const Model& model, const PoolPlan& plan, Report& report) {
  const auto used = std::count_if(plan.processors.begin(), plan.processors.end(),
                                  [](const PoolPlan::Processor& p) { return p.is_used; });
  report.facts = {{"predicted request", FormatMs(plan.predicted_us * 1e-3)},
                  {"processors in use", fmt::format("{} of {}", used, plan.processors.size())},
                  {"groups of layers", std::to_string(plan.groups.size())},
                  {"operations", fmt::format("{:.3f} GFLOP", double(model.stats().flops) * 1e-9)},
                  {"nodes", std::to_string(model.stats().nodes)}};
}

}  // namespace

Report ReportOfPool(const ReportFlags& flags, const Context& context) {
  PutBackLeftFrequencies(context);
  const std::vector<TensorFile> files = ReadTensorFiles(flags.inputs);
  const Model model = LoadModel(flags.model, context, nullptr, ShapesOf(files));
  const Pool pool = NamedPool(flags.pool.processors, flags.machine).WithExactBytes(flags.pool.exact);
  PoolOptions options = PoolOptionsOf(flags.model, context);
  options.objective = flags.model.objective;
  options.planner = flags.pool.planner;
  if (!pool.is_here())
    PrintNote(context, "the processors are not here: the plan is shown, and no request is run");
  Report report;
  report.title = std::filesystem::path(flags.model.model).filename().string();
  std::optional<Requests> requests;
  PoolStats stats;
  std::string plan_json;
  if (pool.is_here()) {
    std::vector<Tensor> inputs = PlaceTensors(model, files);
    FillRandom(model, flags.seed, inputs);
    Session session = MakePoolSession(model, flags.model, flags.pool, context);
    SettlePool(session, context);
    requests = RunRequests(session, inputs, flags.runs, context);
    stats = session.pool_stats();
    plan_json = session.PlanJson();
  }
  const PoolPlan plan = [&] {
    const Progress progress(context, "planning");
    return pool.Plan(model, options);
  }();
  report.about = fmt::format("{}, planned for {}", plan.pool, plan.objective);
  AddFacts(model, plan, report);
  AddPlan(plan, report);
  AddEnergy(PlansOf(pool, model, options, plan), plan.objective, report);
  const bool other = requests && stats.plan != plan.summary;  // trials have found a faster one
  AddSimulation(model, pool, requests && !other ? plan_json : plan.json, options, report);
  if (requests) AddMeasured(*requests, stats, report);
  if (other)
    report.says.push_back(
        fmt::format("Another plan than the one shown here computed the requests, because trials found it "
                    "faster or a processor was lost: one of {} group{}, predicted to take {}.",
                    stats.groups, stats.groups == 1 ? "" : "s", FormatMs(stats.predicted_us * 1e-3)));
  SayProcessors(pool, report);
  return report;
}

}  // namespace mete::cli
