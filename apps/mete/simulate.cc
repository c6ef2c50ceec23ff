// mete simulate: predicts how long a model takes on another machine with each policy, in virtual time.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "checks.h"
#include "cluster_flags.h"
#include "commands.h"
#include "energy_choice.h"
#include "installed_files.h"
#include "costs/estimate.h"
#include "engine/model.h"
#include "mete/statistics.h"
#include "model_flags.h"
#include "objective.h"
#include "mete/pool.h"
#include "plan_site.h"
#include "simulate/simulated.h"
#include "simulate/subsets.h"
#include "schedule/policy.h"
#include "simulate_pool.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

struct SimulateFlags {
  ModelFlags model;
  std::string machine;
  std::string policy = "all";
  std::vector<std::string> clusters;
  std::vector<std::string> interference;
  int runs = 20;
  SimulatePoolFlags pool;
  SiteFlags site;
};

// Errors in the flag become UsageErrors.
std::vector<Interference> InterferenceOf(const SimulateFlags& flags) {
  std::vector<Interference> list;
  try {
    for (const std::string& text : flags.interference) ParseInterference(text, "--interference", list);
    Verify(list);
  } catch (const Error& e) {
    throw UsageError(e.what());
  }
  return list;
}

struct Outcome {
  std::string policy;
  Simulation simulation;

  Spread later() const {  // in ms, of all runs but the first
    std::vector<double> ms;
    for (size_t i = simulation.run_ns.size() > 1; i < simulation.run_ns.size(); ++i)
      ms.push_back(double(simulation.run_ns[i]) * 1e-6);
    return Summarize(std::move(ms));
  }
};

struct ClusterTimes {
  double busy = 0, waiting = 0, total = 0;
};

ClusterTimes TimesOf(const Simulation& simulation, size_t cluster) {
  ClusterTimes times;
  for (const SimulatedCore& core : simulation.cores) {
    if (size_t(core.cluster) != cluster) continue;
    times.busy += double(core.busy_ns);
    times.waiting += double(core.waiting_ns);
    times.total += double(core.busy_ns + core.waiting_ns + core.taking_ns);
  }
  return times;
}

struct Report {
  const SimulateFlags& flags;
  const MachineFile& file;
  const Costs& costs;
  BestSubset best;
  std::vector<Outcome> outcomes;
};

std::vector<std::string> Row(const Report& report, const Outcome& outcome) {
  const Spread ms = outcome.later();
  const Simulation& s = outcome.simulation;
  std::vector<std::string> row{outcome.policy, FormatMs(double(s.run_ns[0]) * 1e-6), FormatMs(ms.median),
                               FormatMs(ms.p99), fmt::format("{:.3f}", s.efficiency())};
  row.push_back(report.best.cores.empty() ? "-"
                                          : fmt::format("{:.2f}x", report.best.median_ns / s.median_ns()));
  return row;
}

// Returns the busy and waiting time of each cluster's cores, a row for each policy.
std::string ClustersText(const Report& report) {
  Rows rows{{"policy"}};
  for (const Outcome& outcome : report.outcomes) rows.push_back({outcome.policy});
  for (size_t c = 0; c < report.costs.cores.size(); ++c) {
    if (report.costs.cores[c] == 0) continue;
    rows[0].insert(rows[0].end(), {report.file.machine.clusters[c].name + " busy", "waiting"});
    for (size_t i = 0; i < report.outcomes.size(); ++i) {
      const ClusterTimes times = TimesOf(report.outcomes[i].simulation, c);
      for (const double part : {times.busy, times.waiting})
        rows[i + 1].push_back(fmt::format("{:.1f} %", 100 * part / times.total));
    }
  }
  return FormatTable(rows, "l" + std::string(rows[0].size() - 1, 'r'), "  ");
}

void PrintInputs(const Report& report) {
  double flops = 0;
  int computed = 0, unknown = 0;
  for (const NodeCost& n : report.costs.nodes) {
    flops += double(n.flops);
    computed += n.computes();
    unknown += n.kind == NodeKind::kUnknown;
  }
  PrintText(fmt::format(
      "{} nodes compute, {:.3f} GFLOP{}\n", computed, flops * 1e-9,
      unknown == 0 ? ""
                   : fmt::format("; {} of shapes that only the data tell are counted as nothing", unknown)));
  PrintText(
      fmt::format("Nothing here was measured. Estimates: the time of every node, a roofline of the machine "
                  "file's figures; starting a "
                  "kernel; and, by the file's own word, {}.",
                  EstimatedFigures(report.file)));
}

void PrintReport(const Report& report) {
  const Style style = StyleOf(1);
  const Machine& machine = report.file.machine;
  PrintText(fmt::format("{}{}{} on a simulated {}: {}", style.bold, report.flags.model.model, style.reset,
                        machine.name, CoresText(machine, report.costs.cores)));
  Rows rows{{"policy", "first run", "median", "p99", "of ideal", "beside subset"}};
  for (const Outcome& outcome : report.outcomes) rows.push_back(Row(report, outcome));
  fmt::print("{}\n{}\n", FormatTable(rows, "lrrrrr", "  "), ClustersText(report));
  PrintText(fmt::format("ideal: {}, all cores' speeds added{}",
                        FormatMs(report.outcomes[0].simulation.ideal_ns * 1e-6),
                        report.flags.interference.empty()
                            ? ""
                            : ", less what interference takes in the mean: a median can be better"));
  if (!report.best.cores.empty())
    PrintText(fmt::format("best subset: {}, with {} on {}", FormatMs(report.best.median_ns * 1e-6),
                          report.best.policy, CoresText(machine, report.best.cores)));
  PrintInputs(report);
}

Json OutcomeJson(const Report& report, const Outcome& outcome) {
  const Spread ms = outcome.later();
  const Simulation& s = outcome.simulation;
  Json json{{"policy", outcome.policy}, {"first_ms", double(s.run_ns[0]) * 1e-6}, {"median_ms", ms.median},
            {"p99_ms", ms.p99},         {"efficiency", s.efficiency()},           {"runs_ns", s.run_ns},
            {"cores", Json::array()}};
  if (!report.best.cores.empty()) json["beside_best_subset"] = report.best.median_ns / s.median_ns();
  for (const SimulatedCore& core : s.cores) {
    const std::string& cluster = report.file.machine.clusters[size_t(core.cluster)].name;
    json["cores"].push_back({{"cpu", core.cpu},
                             {"cluster", cluster},
                             {"busy_ns", core.busy_ns},
                             {"taking_ns", core.taking_ns},
                             {"waiting_ns", core.waiting_ns},
                             {"takes", core.takes}});
  }
  return json;
}

Json ReportJson(const Report& report) {
  Json json{{"model", report.flags.model.model},
            {"machine", report.file.machine.name},
            {"runs", report.flags.runs},
            {"interference", report.flags.interference},
            {"ideal_ms", report.outcomes[0].simulation.ideal_ns * 1e-6},
            {"estimates", "all times of nodes; of the machine's figures " + EstimatedFigures(report.file)},
            {"policies", Json::array()}};
  if (!report.best.cores.empty())
    json["best_subset"] = {{"cores", CoresText(report.file.machine, report.best.cores)},
                           {"policy", report.best.policy},
                           {"median_ms", report.best.median_ns * 1e-6}};
  for (const Outcome& outcome : report.outcomes) json["policies"].push_back(OutcomeJson(report, outcome));
  for (const NodeCost& n : report.costs.nodes) {
    const NodeTimes times = TimesOn(report.costs, n, report.costs.cores);
    json["nodes"].push_back({{"node", n.node},
                             {"op", n.op},
                             {"kind", Name(n.kind)},
                             {"int8", n.int8},
                             {"flops", n.flops},
                             {"bytes", n.bytes},
                             {"blocks", times.blocks},
                             {"block_ns", times.block_ns}});
  }
  return json;
}

// --objective: chooses cores and clock frequencies instead of comparing policies.
void ChooseCommand(const SimulateFlags& flags, const Context& context) {
  const Objective objective = ParseObjectiveFlag(flags.model.objective);
  const EnergyCurves curves = CurvesOf(ReadMachineFile(FindBoard(flags.machine, "--machine")));
  const Model model = LoadModel(flags.model, context);
  const ModelWork work = WorkOf(GraphOf(model));
  PrintEnergyChoice(curves, work, Choose(curves, work, objective, context), flags.model, context);
}

void DevicesCommand(SimulateFlags flags, const Context& context) {
  flags.pool.model = flags.model.model;
  flags.pool.machine = flags.machine;
  flags.pool.trace = flags.model.trace;
  if (!flags.model.objective.empty()) flags.pool.objective = flags.model.objective;
  SimulateOverPool(LoadModel(flags.model, context), flags.pool, context);
}

void SimulateCommand(const SimulateFlags& flags, const Context& context) {
  if (flags.site.given())
    return PlanTheSite(LoadModel(flags.model, context), flags.model.model,
                       flags.model.objective.empty() ? "latency" : flags.model.objective, flags.site,
                       context);
  if (!flags.pool.processors.empty()) return DevicesCommand(flags, context);
  if (flags.machine.empty())
    throw UsageError(
        "[--machine] is missing; expected a machine file, or --processors; try --machine rk3399");
  if (!flags.model.objective.empty() && !flags.model.trace.empty())
    throw UsageError("[--trace] has nothing to show with --objective");
  if (!flags.model.objective.empty()) return ChooseCommand(flags, context);
  const bool all = flags.policy == "all";
  if (all && !flags.model.trace.empty())
    throw UsageError("[--trace] is of one policy; got all; try --policy adaptive");
  SimulationOptions options{flags.policy, flags.runs, InterferenceOf(flags), !flags.model.trace.empty(),
                            context.cancel};
  const MachineFile file = ReadMachineFile(FindBoard(flags.machine, "--machine"));
  const std::vector<int> cores = ClusterCores(flags.clusters, file);
  const Model model = LoadModel(flags.model, context);
  const Costs costs = EstimateCosts(GraphOf(model), file, cores);
  Report report{flags, file, costs, {}, {}};
  {
    const Progress progress(context, "simulating");
    report.best = FindBestSubset(GraphOf(model), file, cores, options);
    for (const std::string& policy : all ? PolicyNames() : std::vector{flags.policy}) {
      options.policy = policy;
      report.outcomes.push_back({policy, SimulateModel(GraphOf(model), file, costs, options)});
    }
  }
  if (!flags.model.trace.empty())
    WriteTextFile(flags.model.trace, report.outcomes[0].simulation.trace.ChromeJson() + "\n");
  if (context.json) PrintJson(ReportJson(report));
  else PrintReport(report);
}

constexpr const char* kFooter =
    R"(The policies are those that threads run; only clock and cores are simulated. What a node takes on a core is estimated from the
machine file: the larger of its arithmetic at the core's sustained peak and its bytes at the core's part of the bandwidth. With
adaptive each node has the cores that `mete plan` gives it, with the other policies all. Median and p99 leave out the first run,
before which nothing was learned. "of ideal" is 1 where all cores' speeds add up and dividing costs nothing. "beside subset"
is how many times as fast as the best subset of the cores it is (whole clusters, or a part of one; with equal slices, or adaptive
as planned for it): below 1x, some of the cores alone would have been faster.

Interference takes a share of the time of some cores (CPU numbers of the machine file; those that do not compute are ignored):
  steady:cores=4-5,share=0.5                   a second model on these cores, evenly
  periodic:cores=7,share=0.3,period_ms=5       the first 30 % of every 5 ms
  random:cores=0-3,share=0.5,period_ms=20,seed=1   pieces and pauses of random length, 20 ms together in the mean

With --objective no policy is simulated: printed is which cores at which frequencies take the least energy, by the roofline and
the power model of the machine file, as if dividing cost nothing.

With --processors the model is divided over several processors: by rows or channels of groups of fused layers, as each planner has it.
alone is the best single processor; layerwise, uniform, neurosurgeon, legion and fss (full search) stand for what others do
(fss-pruned: the plan of fss with fewer runs); network-to-processor, which has requests in turn, layer-to-processor, mulayer and codl stand for what others do on the CPU and the GPU of
a chip; dynamic is ours, which leaves out processors that harm. Each is
planned by the times of single layers, and simulated. With --objective latency, throughput or energy ours has least of that: a
request's time, the time from one request to the next, its joules.

With --site a device and a server compute, of which neither is here: the four steps of each way, as `mete plan --site` has them.

Examples:
  mete simulate resnet50.onnx --machine tensor-g4
  mete simulate vgg16.onnx --processors rk3399x6
  mete simulate vgg16.onnx --machine snapdragon-855 --processors cpu,gpu
  mete simulate vgg16.onnx --processors rk3399x6 --objective throughput --planner dynamic --trace t.json
  mete simulate resnet50.onnx --machine tensor-g4 --objective latency=30ms
  mete simulate resnet50.onnx --machine tensor-g4 --cores prime,middle:2 --policy adaptive --trace t.json
  mete simulate net.onnx --machine rk3399 --interference periodic:cores=4,share=0.5,period_ms=10 --runs 200
  mete simulate resnet18.onnx --site bench/site/dads.toml --link dads-4g)";

}  // namespace

void AddSimulate(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("simulate", "predict latency on a machine that is not here, by its machine file");
  auto flags = std::make_shared<SimulateFlags>();
  AddLoadFlags(*command, flags->model);
  command->add_option("--machine", flags->machine, "the machine file (boards/*.toml)")
      ->type_name("FILE.toml")
      ->group("Machine");
  std::vector<std::string> policies = PolicyNames();
  policies.insert(policies.begin(), "all");
  command->add_option("--policy", flags->policy, "how blocks reach the cores")
      ->type_name("NAME")
      ->check(OneOf(policies))
      ->capture_default_str()
      ->group("Machine");
  command
      ->add_option("--cores", flags->clusters,
                   "clusters that compute, or NAME:N for N cores of a cluster (default: all)")
      ->type_name("big,little:2,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Machine");
  command
      ->add_option("--interference", flags->interference,
                   "what others take of some cores; may be repeated, for other cores")
      ->type_name("KIND:cores=...,share=...")
      ->take_all()
      ->allow_extra_args(false)
      ->group("Machine");
  command->add_option("--runs", flags->runs, "runs of each policy, which learns from one to the next")
      ->type_name("N")
      ->check(Between(1, 10000))
      ->capture_default_str()
      ->group("Measurement");
  command
      ->add_option("--trace", flags->model.trace,
                   "write the last run's trace for chrome://tracing or Perfetto; needs one policy "
                   "or planner")
      ->type_name("FILE.json")
      ->group("Report");
  CLI::Option* objective =
      AddObjectiveOption(*command, flags->model)
          ->type_name("energy|latency=30ms, or of --processors latency|throughput|energy");
  for (const char* other : {"--policy", "--cores", "--interference", "--runs"})
    objective->excludes(command->get_option(other));
  CLI::Option* processors =
      command
          ->add_option("--processors", flags->pool.processors,
                       "several processors instead: of a file, over their network (boards/rk3399x6.toml), or "
                       "cpu,gpu of --machine")
          ->type_name("LIST|FILE")
          ->group("Machine");
  for (const char* other : {"--policy", "--cores", "--interference", "--runs"})
    processors->excludes(command->get_option(other));
  std::vector<std::string> planners = PoolPlanners();
  planners.insert(planners.begin(), "all");
  command
      ->add_option("--planner", flags->pool.planner,
                   "who divides the model over processors; all: each but exhaustive")
      ->type_name("NAME")
      ->check(OneOf(planners))
      ->capture_default_str()
      ->needs(processors)
      ->group("Machine");
  command
      ->add_option("--requests", flags->pool.requests,
                   "requests in a row, for --objective throughput (default: 500)")
      ->type_name("N")
      ->check(Between(1, 10000))
      ->needs(processors)
      ->group("Measurement");
  AddSiteFlags(*command, flags->site);
  AddJsonFlag(*command, context);
  command->footer(kFooter);
  command->callback(
      [flags, &context] { context.command = [flags, &context] { SimulateCommand(*flags, context); }; });
}

}  // namespace mete::cli
