// mete plan: prints which cores take part in each step, the predicted time, and the alternatives that were
// weighed. The model does not run.
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/json.h"
#include "checks.h"
#include "cluster_flags.h"
#include "commands.h"
#include "installed_files.h"
#include "costs/estimate.h"
#include "costs/profile.h"
#include "engine/model.h"
#include "processor/cpu/stored_profile.h"
#include "model_flags.h"
#include "plan/cores/cores.h"
#include "mete/pool.h"
#include "plan/plan.h"
#include "plan_pool.h"
#include "plan_site.h"
#include "pool.h"
#include "simulate/simulated.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

struct PlanFlags {
  ModelFlags model;
  std::string machine, processors, objective = "latency", planner = "dynamic", save_plan;
  std::vector<std::string> cores;
  std::string policy = "adaptive";
  bool explain = false;
  bool exact = false;
  SiteFlags site;
  bool has_objective = false;
};

// A plan, and what a reader needs to judge it.
struct Planned {
  const Graph& graph;
  ThreadPlan plan;
  Machine machine;
  std::string note;  // the origin of the times, or why there are none
};

Planned PlanForFile(const PlanFlags& flags, const Graph& graph) {
  const MachineFile file = ReadMachineFile(FindBoard(flags.machine, "--machine"));
  const Costs costs = EstimateCosts(graph, file, ClusterCores(flags.cores, file));
  return {graph, PlanSimulated(graph, file, costs, flags.policy), file.machine,
          fmt::format("Nothing here was measured. Estimates: the time of every node, a roofline of the "
                      "machine file's figures; starting a "
                      "kernel; and, by the file's own word, {}.",
                      EstimatedFigures(file))};
}

std::string NoteOf(const Costs& predicted) {
  const auto guessed = std::count_if(predicted.nodes.begin(), predicted.nodes.end(),
                                     [](const NodeCost& n) { return n.guessed; });
  std::string note =
      "Times are predictions from the profile of this machine; `mete profile --check MODEL` says how good "
      "they are.";
  if (guessed > 0)
    note += fmt::format(
        "\nOf {} nodes they are guesses, as the profile has nothing like them, or not all that they consist "
        "of.",
        guessed);
  return note;
}

std::string SharedCores(const ThreadPlan& plan, const Machine& machine) {
  const int counted = CountedThreads(plan, machine);
  // other policies give all threads to each step
  if (counted == plan.threads || plan.steps.empty() || plan.steps[0].policy != "adaptive") return "";
  return fmt::format("\nThreads of one core are counted once: of {} threads {} at most take part.",
                     plan.threads, counted);
}

Planned PlanForHere(PlanFlags flags, const Graph& graph, const Context& context) {
  ParseCores(flags.cores, flags.model);
  CheckCores(flags.model);
  const Machine machine = ReadMachine();
  const CpuChoice choice{int(flags.model.cores.size()), flags.model.cores, flags.model.speeds, flags.policy};
  std::string why;
  const auto profile = LoadProfile(CacheFolder(), machine, &why);
  if (!why.empty()) PrintNote(context, why);
  const ThreadPlan plan = PlanByProfile(graph, machine, choice, profile.get());
  if (profile)
    return {graph, plan, machine,
            NoteOf(PredictCosts(graph, *profile, machine)) + SharedCores(plan, machine)};
  return {graph, plan, machine,
          "There are no times of this machine to plan by, so every step has all threads. `mete profile` "
          "measures them; "
          "--machine FILE plans by the estimates of a machine file."};
}

// Returns "92 + 36": the blocks of each cluster that takes part.
std::string BlocksText(const Step& step, const Planned& planned) {
  std::vector<int64_t> blocks(planned.machine.clusters.size(), 0);
  std::vector<int> before = CoresOf(planned.plan, planned.machine, 0);
  for (int t = 0; t < step.threads; ++t) {
    const std::vector<int> after = CoresOf(planned.plan, planned.machine, t + 1);
    const auto cluster = std::mismatch(before.begin(), before.end(), after.begin()).first - before.begin();
    blocks[size_t(cluster)] += step.blocks[size_t(t)];
    before = after;
  }
  std::vector<std::string> parts;
  for (size_t c = 0; c < blocks.size(); ++c)
    if (before[c] > 0) parts.push_back(std::to_string(blocks[c]));
  return fmt::format("{}", fmt::join(parts, " + "));
}

bool IsPredicted(const ThreadPlan& plan) { return PredictedUs(plan) > 0; }

// Returns a row for each step that computes.
Rows PredictedRows(const Planned& planned) {
  Rows rows{{"node", "cores", "blocks", "predicted", "rather than"}};
  for (const Step& s : planned.plan.steps) {
    if (s.predicted_us <= 0) continue;
    rows.push_back({s.node, CoresText(planned.machine, CoresOf(planned.plan, planned.machine, s.threads)),
                    BlocksText(s, planned), FormatMs(s.predicted_us * 1e-3)});
    if (s.rejected.empty()) rows.back().push_back("nothing: " + s.reason);
    else
      rows.back().push_back(fmt::format("{} in {}: {}", s.rejected[0].choice,
                                        FormatMs(s.rejected[0].predicted_us * 1e-3), s.rejected[0].reason));
  }
  return rows;
}

Rows PlainRows(const Planned& planned) {
  Rows rows{{"node", "cores", "why"}};
  for (const Step& s : planned.plan.steps)
    rows.push_back(
        {s.node, CoresText(planned.machine, CoresOf(planned.plan, planned.machine, s.threads)), s.reason});
  return rows;
}

void PrintPlan(const PlanFlags& flags, const Planned& planned) {
  const Style style = StyleOf(1);
  const ThreadPlan& plan = planned.plan;
  PrintText(fmt::format(
      "{}{}{} on {}: {}, policy {}\n", style.bold, flags.model.model, style.reset, planned.machine.name,
      CoresText(planned.machine, CoresOf(plan, planned.machine, plan.threads)), flags.policy));
  if (!IsPredicted(plan)) {
    fmt::print("{}", FormatTable(PlainRows(planned), "llw"));
  } else {
    const Rows rows = PredictedRows(planned);
    fmt::print("{}", FormatTable(rows, "llrrw"));
    fmt::print("\npredicted: {} a run", FormatMs(PredictedUs(plan) * 1e-3));
    if (const size_t nothing = plan.steps.size() + 1 - rows.size(); nothing > 0)
      fmt::print("; {} nodes take none of it", nothing);
    fmt::print("\n");
  }
  fmt::print("\n");
  PrintText(planned.note);
}

// Returns the plan in the form that `mete run --plan` reads, with cores and a note.
Json PlanJson(const Planned& planned) {
  Json json = Json::parse(ToJson(PlanOnOne(planned.graph, kSessionProcessor, planned.plan), planned.graph));
  Json& steps = json["groups"][0]["shares"][0]["threads"]["steps"];
  for (size_t i = 0; i < planned.plan.steps.size(); ++i)
    steps[i]["cores"] =
        CoresText(planned.machine, CoresOf(planned.plan, planned.machine, planned.plan.steps[i].threads));
  json["note"] = planned.note;
  return json;
}

void PlanCommand(const PlanFlags& flags, const Context& context) {
  if (flags.site.given())
    return PlanTheSite(LoadModel(flags.model, context), flags.model.model, flags.objective, flags.site,
                       context);
  if (flags.has_objective && flags.processors.empty())
    throw UsageError(
        "[--objective] is of a plan for several processors or for a site; try --processors or --site");
  if (!flags.processors.empty()) {
    return PlanForPool(LoadModel(flags.model, context),
                       {flags.model.model, flags.processors, flags.machine, flags.exact, flags.objective,
                        flags.planner, flags.save_plan, flags.explain},
                       context);
  }
  const Model model = LoadModel(flags.model, context);
  const Graph& graph = GraphOf(model);
  const Planned planned =
      flags.machine.empty() ? PlanForHere(flags, graph, context) : PlanForFile(flags, graph);
  if (!flags.save_plan.empty()) WriteTextFile(flags.save_plan, JsonText(PlanJson(planned), 2) + "\n");
  if (context.json) PrintJson(PlanJson(planned));
  else PrintPlan(flags, planned);
}

constexpr const char* kFooter =
    R"(A step is a node with the nodes that were fused into it. Cores are in the order of their speeds, and a step has the first N of them.
The time for each N is predicted from the time of the node's blocks on each kind of core, the cost of taking blocks, the last block
that other cores wait for, the barrier at the end, the memory that all cores share, and the time to wake a thread that has slept
(after 100 us without work). More cores must gain 1 %. A step that is too small to divide stays on one core.

For each step the table has the best of the other choices, its time, and why it was not taken; --json has all of
them, and is a plan that `mete run --plan` executes on the machine that it is for.

With --processors a group is consecutive layers of which each processor computes its rows while nothing is sent; before the group
processors get the data that they lack. --explain adds for each group how long a processor waits for the slower one, and by how much
the request would take longer with that group elsewhere; the kernels of each share, with the type that each reads; each link; and the time that
processors without a part would take.
With --machine as well, the processors are a board's: its cores (cpu) and its GPU (gpu, or gpu:f16 with products of halves), which share its memory.
A list with both, cpu,gpu,gpu:f16, has the GPU in the type that is sooner, group by group.

With --site the model is computed on a device, on a server, or on both, as a file describes them (bench/site/phone.toml). Four ways are
weighed: the device alone; the photo as it is to the server; the photo scaled by the device to the server; and the best cut, for which the
device computes some layers and sends their values. Each has four steps, which add up: loading the model, by its --state on the device, decoding
and scaling, uploading with the answer that comes back, and computing with the server's queue.

Examples:
  mete plan resnet50.onnx --machine tensor-g4
  mete plan resnet50.onnx --machine tensor-g4 --cores prime,middle:2 --json
  mete plan resnet50.onnx --cores 0,1
  mete plan resnet50.onnx --processors rk3399x6 --explain
  mete plan resnet50.onnx --processors rk3399x6 --objective throughput
  mete plan resnet50.onnx --machine snapdragon-855 --processors cpu,gpu --explain
  mete plan alexnet.onnx --machine snapdragon-855 --processors cpu,gpu --planner exhaustive
  mete plan resnet50.onnx --site bench/site/phone.toml --state cold --link wifi)";

}  // namespace

void AddPlan(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "plan", "print which cores take part in each step, how long it would take, and why not otherwise");
  auto flags = std::make_shared<PlanFlags>();
  AddLoadFlags(*command, flags->model);
  command
      ->add_option("--machine", flags->machine,
                   "plan for this machine file (boards/*.toml); default: for this machine")
      ->type_name("FILE.toml")
      ->group("Machine");
  command
      ->add_option("--processors", flags->processors,
                   "plan for the processors of this file, over the network that they share, or for those of "
                   "a list: cpu:0,cpu:1 "
                   "here, or cpu,gpu of --machine")
      ->type_name("LIST|FILE")
      ->group("Machine");
  command
      ->add_option("--cores", flags->cores,
                   "cores that may take part: CPU numbers of this machine, or clusters of the machine file")
      ->type_name("0,1,... | big,little:2,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Machine");
  command->add_option("--policy", flags->policy, "how blocks reach the cores; only adaptive leaves cores out")
      ->type_name("NAME")
      ->check(OneOf(PolicyNames()))
      ->capture_default_str()
      ->group("Machine");
  command
      ->add_option(
          "--objective", flags->objective,
          "what a plan for processors or for a site has least of: a request's time, the time from one to the "
          "next, or a request's joules")
      ->type_name("NAME")
      ->check(OneOf(PoolObjectives()))
      ->capture_default_str()
      ->group("Machine");
  command
      ->add_option("--planner", flags->planner,
                   "who plans for processors: dynamic is Mete's own, exhaustive weighs far more plans of a "
                   "small network, the others are those of other systems")
      ->type_name("NAME")
      ->check(OneOf(PoolPlanners()))
      ->capture_default_str()
      ->needs("--processors")
      ->group("Machine");
  AddExactFlag(*command, flags->exact);
  command->get_option("--processors")->excludes("--cores")->excludes("--policy");
  command->add_option("--save-plan", flags->save_plan, "write the plan, for --plan of run and bench")
      ->type_name("FILE.json")
      ->group("Report");
  command
      ->add_flag("--explain", flags->explain,
                 "with --processors: also how long processors wait in each group, what other ways for it "
                 "would take, which kernels compute it, what each link carries, and why processors have no "
                 "part")
      ->needs("--processors")
      ->group("Report");
  AddSiteFlags(*command, flags->site);
  AddJsonFlag(*command, context);
  command->footer(kFooter);
  command->callback([flags, command, &context] {
    flags->has_objective = command->count("--objective") > 0;
    context.command = [flags, &context] { PlanCommand(*flags, context); };
  });
}

}  // namespace mete::cli
