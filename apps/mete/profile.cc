// mete profile: measures what kernels take on each cluster of this machine, and says how good the predictions are that follow from it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "commands.h"
#include "engine/model.h"
#include "engine/stored_profile.h"
#include "left_frequencies.h"
#include "machine/core_list.h"
#include "mete/statistics.h"
#include "model_flags.h"
#include "profile/check.h"
#include "profile/profile.h"
#include "profile_energy.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

struct ProfileFlags {
  ModelFlags model;  // of --check
  double seconds = 0;
  bool nodes = false;
  ProfileEnergyFlags energy;
  bool energy_curves = false;
};

constexpr double kProfileSeconds = 50, kCheckSeconds = 5;  // guess: some tens of rounds, and a profile within a minute

struct KindRow {
  std::string kind;
  std::vector<CheckedNode> nodes;
};

// By operator; all products together first.
std::vector<KindRow> ByKind(const std::vector<CheckedNode>& nodes) {
  KindRow products{"convolutions and matrix products", {}}, all{"all", nodes};
  std::map<std::string, std::vector<CheckedNode>> kinds;
  for (const CheckedNode& n : nodes) {
    if (n.product) products.nodes.push_back(n);
    kinds[n.op].push_back(n);
  }
  std::vector<KindRow> rows{products, all};
  for (const auto& [kind, list] : kinds) rows.push_back({kind, list});
  return rows;
}

double MedianError(const std::vector<CheckedNode>& nodes, double drift) {
  std::vector<double> errors;
  for (const CheckedNode& n : nodes) errors.push_back(std::abs(n.ratio() * drift - 1));
  return Summarize(std::move(errors)).median;
}

std::string Percent(double part) { return fmt::format("{:.0f} %", 100 * part); }
std::string Us(double ns) { return fmt::format("{:.1f}", ns * 1e-3); }

double SumNs(const std::vector<CheckedNode>& nodes, bool predicted) {
  double sum = 0;
  for (const CheckedNode& n : nodes) sum += predicted ? n.predicted_ns : n.measured_ns;
  return sum;
}

void PrintCheck(const Check& check, int core, double speed, bool nodes) {
  fmt::print("core {}{}: just now it takes {:.3f} times as long as when it was profiled\n", core,
             speed < 1 ? fmt::format(", of which {} of the speed is emulated", speed) : "", check.drift);
  Rows rows{{"operator", "nodes", "measured", "predicted", "within 10 %", "drift taken out", "within 20 %", "median error"}};
  for (const KindRow& kind : ByKind(check.nodes)) {
    if (kind.nodes.empty()) continue;
    rows.push_back({kind.kind, fmt::format("{}", kind.nodes.size()), FormatMs(SumNs(kind.nodes, false) * 1e-6),
                    FormatMs(SumNs(kind.nodes, true) * 1e-6), Percent(ShareWithin(kind.nodes, 1, 0.1)),
                    Percent(ShareWithin(kind.nodes, check.drift, 0.1)), Percent(ShareWithin(kind.nodes, check.drift, 0.2)),
                    Percent(MedianError(kind.nodes, check.drift))});
  }
  fmt::print("{}\n", FormatTable(rows, "lrrrrrrr", "  "));
  if (!nodes) return;
  Rows each{{"node", "operator", "kernel", "predicted as", "measured, us", "predicted, us", "ratio"}};
  for (const CheckedNode& n : check.nodes)
    each.push_back({n.node, n.op, n.kernel, n.known ? n.predicted_kernel : n.predicted_kernel + " (not all measured)", Us(n.measured_ns),
                    Us(n.predicted_ns), fmt::format("{:.2f}", n.ratio())});
  fmt::print("{}\n", FormatTable(each, "llllrrr", "  "));
}

Json CheckJson(const Check& check, int core, double speed) {
  Json json{{"core", core}, {"speed", speed}, {"drift", check.drift}, {"kinds", Json::array()}, {"nodes", Json::array()}};
  for (const KindRow& kind : ByKind(check.nodes))
    json["kinds"].push_back({{"operator", kind.kind}, {"nodes", kind.nodes.size()}, {"within_10", ShareWithin(kind.nodes, 1, 0.1)},
                             {"within_10_drift_out", ShareWithin(kind.nodes, check.drift, 0.1)},
                             {"within_20_drift_out", ShareWithin(kind.nodes, check.drift, 0.2)}});
  for (const CheckedNode& n : check.nodes)
    json["nodes"].push_back({{"node", n.node}, {"op", n.op}, {"kernel", n.kernel}, {"predicted_kernel", n.predicted_kernel},
                             {"known", n.known}, {"measured_ns", n.measured_ns}, {"predicted_ns", n.predicted_ns}});
  return json;
}

void PrintProfile(const Profile& profile, const std::string& path) {
  const Style style = StyleOf(1);
  fmt::print("{}{}{}, {}: measured in {:.0f} s, kept in {}\n", style.bold, profile.key.cpu, style.reset, profile.key.target,
             profile.seconds, path);
  fmt::print("taking a block {:.2f} us, barrier {:.2f} us, waking threads {:.1f} us\n", profile.take_ns * 1e-3, profile.barrier_ns * 1e-3,
             profile.wake_ns * 1e-3);
  for (const ClusterProfile& c : profile.clusters) {
    fmt::print("\n{}, cores {}{}{}\n", c.cluster, FormatCoreList(c.cores),
               c.governor.empty() ? "" : fmt::format(", {} at {:.0f} MHz", c.governor, double(c.khz) * 1e-3),
               c.celsius > 0 ? fmt::format(", {:.0f} C", c.celsius) : "");
    Rows rows{{"kernel", "layers", "within 10 %", "median error", "of what there is most: ns each"}};
    for (const auto& [kernel, fit] : c.kernels) {
      std::string things;
      for (const auto& [thing, ns] : fit.ns) things += fmt::format("{}{} {:.3g}", things.empty() ? "" : "; ", thing, ns);
      if (things.size() > 90) things = things.substr(0, 90) + "...";
      rows.push_back({kernel, fmt::format("{}", fit.samples), Percent(fit.within), Percent(fit.spread), things});
    }
    fmt::print("{}", FormatTable(rows, "lrrrl", "  "));
  }
}

void Measure(const ProfileFlags& flags, const Context& context) {
  PutBackLeftFrequencies();
  const Machine machine = ReadMachine();
  CheckMayWrite(FileToKeep(CacheFolder(), KeyOf(machine)));  // what is measured for a minute shall not be lost
  ProfileOptions options{flags.seconds > 0 ? flags.seconds : kProfileSeconds, {}, context.cancel};
  std::unique_ptr<Progress> progress;
  std::string label;
  options.progress = [&](const std::string& what, int done, int total) {
    if (what != label) progress.reset(), progress = std::make_unique<Progress>(what), label = what;
    progress->Update(done, total);
  };
  const Profile profile = MeasureProfile(machine, options);
  progress.reset();
  const std::string path = SaveProfile(CacheFolder(), profile);
  if (context.json) PrintJson(Json::parse(ToJson(profile)));
  else PrintProfile(profile, path);
}

void CheckPredictions(const ProfileFlags& flags, const Context& context) {
  PutBackLeftFrequencies();
  const Machine machine = ReadMachine();
  std::string why;
  const std::unique_ptr<Profile> profile = LoadProfile(CacheFolder(), machine, &why);
  if (!profile)
    throw Error(Code::kFailedPrecondition,
                why.empty() ? "[profile] there is none of this machine; try \"mete profile\" to measure it" : why);
  const Model model = LoadModel(flags.model);
  const std::vector<int> cores = flags.model.cores.empty() ? std::vector{machine.clusters[0].cores[0]} : flags.model.cores;
  const double seconds = flags.seconds > 0 ? flags.seconds : kCheckSeconds;
  Json json{{"model", flags.model.model}, {"cores", Json::array()}};
  for (size_t i = 0; i < cores.size(); ++i) {
    const double speed = i < flags.model.speeds.size() ? flags.model.speeds[i] : 1;
    std::unique_ptr<Progress> progress = std::make_unique<Progress>("measuring every node");
    const Check check = CheckModel(model, machine, *profile, cores[i], speed, seconds, context.cancel);
    progress.reset();
    if (context.json) json["cores"].push_back(CheckJson(check, cores[i], speed));
    else PrintCheck(check, cores[i], speed, flags.nodes);
  }
  if (cores.size() > 1) {
    const CpuChoice choice{int(cores.size()), flags.model.cores, flags.model.speeds, "adaptive"};
    const CheckedPlan plan = CheckPlan(model, machine, *profile, choice, seconds, context.cancel);
    json["together"] = {{"predicted_ns", plan.predicted_ns}, {"least_ns", plan.least_ns}, {"median_ns", plan.median_ns}};
    if (!context.json)
      fmt::print("all of these cores together, as planned: predicted {}, measured {} (each node's least time), {} (median of runs)\n",
                 FormatMs(plan.predicted_ns * 1e-6), FormatMs(plan.least_ns * 1e-6), FormatMs(plan.median_ns * 1e-6));
  }
  if (context.json) PrintJson(json);
}

}  // namespace

void AddProfile(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("profile", "measure what kernels take on each cluster of this machine, for planning");
  auto flags = std::make_shared<ProfileFlags>();
  command->add_option("--check", flags->model.model, "compare what the profile predicts for this model with what is measured")
      ->type_name("MODEL")->group("Check");
  AddCoresFlag(*command, flags->model);
  command->add_flag("--nodes", flags->nodes, "with --check: a row a node")->group("Check");
  CLI::Option* energy = command->add_flag("--energy", flags->energy_curves,
                                          "measure energy curves instead: joules and speed by frequency, cores and data-reuse rate")
                            ->excludes("--check");
  AddProfileEnergyFlags(*command, energy, flags->energy);
  command->add_option("--seconds", flags->seconds,
                      fmt::format("how long to measure (default: {:.0f}, for a check {:.0f} a core)", kProfileSeconds, kCheckSeconds))
      ->type_name("N")->check(CLI::Range(1.0, 3600.0))->group("Measurement");
  AddJsonFlag(*command, context);
  command->footer(
      "Runs networks that are there for that, with layers of all sizes, on the first core of each cluster, takes of each layer the least\n"
      "of its times, and fits to them what the things take that a kernel does: a register tile by its width, a strip of rows, a byte from\n"
      "near and from far, an activation. The result is kept in the cache folder and serves the planner; it is refused where the\n"
      "processor, the instruction set, the version or the kernels have changed since.\n"
      "\n"
      "--energy needs a meter (powercap/RAPL, a battery, INA or hwmon sensors; 'mete machine' lists them). With the right to set them it\n"
      "measures at several frequencies, and puts all back in the end, on signals, and, after a crash, on the next start of mete. What it\n"
      "finds is for --objective of run and bench.\n"
      "\n"
      "Examples:\n"
      "  mete profile\n"
      "  mete profile --check resnet50.onnx --nodes\n"
      "  mete profile --check resnet50.onnx --cores 0:1.0,1:0.4\n"
      "  mete profile --energy --meter package-0 --frequencies 4");
  command->callback([flags, &context] {
    context.command = [flags, &context] {
      if (flags->energy_curves) ProfileEnergy(flags->energy, context);
      else if (flags->model.model.empty()) Measure(*flags, context);
      else CheckPredictions(*flags, context);
    };
  });
}

}  // namespace mete::cli
