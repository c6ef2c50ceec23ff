#include "profile_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <set>

#include "processor/cpu/stored_profile.h"
#include "left_frequencies.h"
#include "mete/statistics.h"
#include "profile/check.h"
#include "terminal.h"

namespace mete::cli {
namespace {

// The profile's own networks get the time of this many models, and more on an emulated core. With
// kCheckSeconds this gives about as many rounds as in a profile (measured: 4 to 5 s per round, and 2.6 times
// that at speed 0.4); the least of fewer times would be larger.
constexpr double kProbesAsModels = 10;

// Returns the nodes of a check for which `in` is true.
Check Part(const Check& all, const std::function<bool(const CheckedNode&)>& in) {
  Check part{{}, {}, all.drift};
  std::copy_if(all.nodes.begin(), all.nodes.end(), std::back_inserter(part.nodes), in);
  std::copy_if(all.in_turns.begin(), all.in_turns.end(), std::back_inserter(part.in_turns), in);
  return part;
}

using Parts = std::vector<std::pair<std::string, Check>>;

Check Products(const Check& check) {
  return Part(check, [](const CheckedNode& n) { return n.product; });
}

// Returns a check for each operator; that of all products together comes first.
Parts ByKind(const Check& check) {
  std::set<std::string> kinds;
  for (const CheckedNode& n : check.nodes) kinds.insert(n.op);
  Parts parts{{"convolutions and matrix products", Products(check)}, {"all", check}};
  for (const std::string& kind : kinds)
    parts.push_back({kind, Part(check, [&](const CheckedNode& n) { return n.op == kind; })});
  return parts;
}

double MedianError(const std::vector<CheckedNode>& nodes, double drift) {
  std::vector<double> errors;
  for (const CheckedNode& n : nodes) errors.push_back(std::abs(n.ratio() * drift - 1));
  return Summarize(std::move(errors)).median;
}

std::string Us(double ns) { return fmt::format("{:.1f}", ns * 1e-3); }

double SumNs(const std::vector<CheckedNode>& nodes, double CheckedNode::*ns) {
  double sum = 0;
  for (const CheckedNode& n : nodes) sum += n.*ns;
  return sum;
}

void PrintParts(const std::string& title, const Parts& parts) {
  Rows rows{{title, "nodes", "measured", "predicted", "within 10 %", "drift taken out", "within 20 %",
             "median error"}};
  const bool in_turns = !parts[0].second.in_turns.empty();
  if (in_turns) rows[0].insert(rows[0].end(), {"in turns: within 10 %", "within 20 %", "median error"});
  for (const auto& [name, check] : parts) {
    if (check.nodes.empty()) continue;
    rows.push_back({name, fmt::format("{}", check.nodes.size()),
                    FormatMs(SumNs(check.nodes, &CheckedNode::measured_ns) * 1e-6),
                    FormatMs(SumNs(check.nodes, &CheckedNode::predicted_ns) * 1e-6),
                    FormatPercent(ShareWithin(check.nodes, 1, 0.1)),
                    FormatPercent(ShareWithin(check.nodes, check.drift, 0.1)),
                    FormatPercent(ShareWithin(check.nodes, check.drift, 0.2)),
                    FormatPercent(MedianError(check.nodes, check.drift))});
    if (in_turns)
      rows.back().insert(rows.back().end(), {FormatPercent(ShareWithin(check.in_turns, 1, 0.1)),
                                             FormatPercent(ShareWithin(check.in_turns, 1, 0.2)),
                                             FormatPercent(MedianError(check.in_turns, 1))});
  }
  fmt::print("{}\n", FormatTable(rows, in_turns ? "lrrrrrrrrrr" : "lrrrrrrr", "  "));
}

void PrintNodes(const std::string& model, const Check& check) {
  const bool in_turns = !check.in_turns.empty();
  Rows rows{
      {"node of " + model, "operator", "kernel", "predicted as", "measured, us", "predicted, us", "ratio"}};
  if (in_turns) rows[0].insert(rows[0].end(), {"in turns, us", "ratio"});
  for (size_t i = 0; i < check.nodes.size(); ++i) {
    const CheckedNode& n = check.nodes[i];
    rows.push_back({n.node, n.op, n.kernel,
                    n.known ? n.predicted_kernel : n.predicted_kernel + " (not all measured)",
                    Us(n.measured_ns), Us(n.predicted_ns), fmt::format("{:.2f}", n.ratio())});
    if (in_turns)
      rows.back().insert(rows.back().end(), {Us(check.in_turns[i].predicted_ns),
                                             fmt::format("{:.2f}", check.in_turns[i].ratio())});
  }
  fmt::print("{}\n", FormatTable(rows, in_turns ? "llllrrrrr" : "llllrrr", "  "));
}

// Joins the checks of all models on one core.
Check Joined(const Parts& by_model) {
  Check all = by_model[0].second;
  for (size_t m = 1; m < by_model.size(); ++m) {
    const Check& check = by_model[m].second;
    all.nodes.insert(all.nodes.end(), check.nodes.begin(), check.nodes.end());
    all.in_turns.insert(all.in_turns.end(), check.in_turns.begin(), check.in_turns.end());
  }
  return all;
}

void PrintCore(const TimedCore& core, const Parts& by_model, bool nodes) {
  const Check all = Joined(by_model);
  PrintText(fmt::format(
      "core {}{}: just now it takes {:.3f} times as long as when it was profiled", core.number,
      core.speed < 1 ? fmt::format(", of which {} of the speed is emulated", core.speed) : "", all.drift));
  PrintParts("operator", ByKind(all));
  if (by_model.size() > 1) {
    Parts products;
    for (const auto& [model, check] : by_model) products.push_back({model, Products(check)});
    PrintParts("convolutions and matrix products of", products);
  }
  if (!nodes) return;
  for (const auto& [model, check] : by_model) PrintNodes(model, check);
}

Json KindsJson(const Check& check) {
  Json json = Json::array();
  for (const auto& [kind, part] : ByKind(check)) {
    json.push_back({{"operator", kind},
                    {"nodes", part.nodes.size()},
                    {"within_10", ShareWithin(part.nodes, 1, 0.1)},
                    {"within_10_drift_out", ShareWithin(part.nodes, check.drift, 0.1)},
                    {"within_20_drift_out", ShareWithin(part.nodes, check.drift, 0.2)}});
    if (check.in_turns.empty()) continue;
    json.back()["within_10_in_turns"] = ShareWithin(part.in_turns, 1, 0.1);
    json.back()["within_20_in_turns"] = ShareWithin(part.in_turns, 1, 0.2);
  }
  return json;
}

Json NodesJson(const Check& check) {
  Json json = Json::array();
  for (size_t i = 0; i < check.nodes.size(); ++i) {
    const CheckedNode& n = check.nodes[i];
    json.push_back({{"node", n.node},
                    {"op", n.op},
                    {"kernel", n.kernel},
                    {"predicted_kernel", n.predicted_kernel},
                    {"known", n.known},
                    {"measured_ns", n.measured_ns},
                    {"predicted_ns", n.predicted_ns}});
    if (!check.in_turns.empty()) json.back()["predicted_in_turns_ns"] = check.in_turns[i].predicted_ns;
  }
  return json;
}

Json CoreJson(const TimedCore& core, const Parts& by_model) {
  const Check all = Joined(by_model);
  Json json{{"core", core.number},
            {"speed", core.speed},
            {"drift", all.drift},
            {"kinds", KindsJson(all)},
            {"models", Json::array()}};
  for (const auto& [model, check] : by_model)
    json["models"].push_back({{"model", model}, {"kinds", KindsJson(check)}, {"nodes", NodesJson(check)}});
  return json;
}

std::unique_ptr<Profile> StoredProfile(const Machine& machine) {
  std::string why;
  std::unique_ptr<Profile> profile = LoadProfile(CacheFolder(), machine, &why);
  if (!profile)
    throw Error(
        Code::kFailedPrecondition,
        why.empty() ? "[profile] there is none of this machine; try \"mete profile\" to measure it" : why);
  return profile;
}

std::vector<TimedCore> CoresToCheck(const ModelFlags& flags, const Machine& machine) {
  if (flags.cores.empty()) return {{machine.clusters[0].cores[0]}};
  std::vector<TimedCore> cores;
  for (size_t i = 0; i < flags.cores.size(); ++i)
    cores.push_back({flags.cores[i], i < flags.speeds.size() ? flags.speeds[i] : 1});
  return cores;
}

std::vector<Model> LoadAll(const ProfileCheckFlags& flags, const Context& context) {
  std::vector<Model> models;
  for (const std::string& name : flags.models) {
    ModelFlags one = flags.load;
    one.model = name;
    models.push_back(LoadModel(one, context));
  }
  return models;
}

// Measures the models as planned for all of the cores together.
Json CheckPlans(const ProfileCheckFlags& flags, const std::vector<Model>& models, const Machine& machine,
                const Profile& profile, double seconds, const Context& context) {
  const CpuChoice choice{int(flags.load.cores.size()), flags.load.cores, flags.load.speeds, "adaptive"};
  Json json = Json::array();
  for (size_t m = 0; m < models.size(); ++m) {
    const CheckedPlan plan = CheckPlan(models[m], machine, profile, choice, seconds, context.cancel);
    json.push_back({{"model", flags.models[m]},
                    {"predicted_ns", plan.predicted_ns},
                    {"least_ns", plan.least_ns},
                    {"median_ns", plan.median_ns}});
    if (!context.json)
      PrintText(
          fmt::format("{}, all of these cores together, as planned: predicted {}, measured {} (each node's "
                      "least time), {} (median of runs)",
                      flags.models[m], FormatMs(plan.predicted_ns * 1e-6), FormatMs(plan.least_ns * 1e-6),
                      FormatMs(plan.median_ns * 1e-6)));
  }
  return json;
}

}  // namespace

void AddProfileCheckFlags(CLI::App& command, ProfileCheckFlags& flags) {
  CLI::Option* check =
      command
          .add_option("--check", flags.models,
                      "compare what the profile predicts for these models with what is measured")
          ->type_name("MODEL")
          ->group("Check");
  AddCoresFlag(command, flags.load);
  command.get_option("--cores")->needs(check);  // cores of this device beside other devices are those of --on
  AddPrecisionFlags(command, flags.load);
  for (const char* name : {"--precision", "--error-bound"})
    command.get_option(name)->needs(check)->group("Check");
  command.add_flag("--nodes", flags.nodes, "a row a node")->needs(check)->group("Check");
  command
      .add_flag("--in-turns", flags.in_turns,
                "also by a profile measured in turns with the models, on each core")
      ->needs(check)
      ->group("Check");
}

void CheckPredictions(const ProfileCheckFlags& flags, double seconds, const Context& context) {
  PutBackLeftFrequencies(context);
  const Machine machine = ReadMachine();
  const std::unique_ptr<Profile> profile = StoredProfile(machine);
  const std::vector<Model> models = LoadAll(flags, context);
  if (seconds <= 0) seconds = kCheckSeconds;
  CheckOptions options{.cores = CoresToCheck(flags.load, machine),
                       .in_turns = flags.in_turns,
                       .probes = flags.probes,
                       .cancel = context.cancel};
  for (const TimedCore& core : options.cores)
    options.seconds +=
        seconds * (double(models.size()) + (flags.in_turns ? kProbesAsModels / core.speed : 0));
  std::unique_ptr<Progress> progress = std::make_unique<Progress>(context, "measuring every node");
  const std::vector<std::vector<Check>> checks = CheckModels(models, machine, *profile, options);
  progress.reset();
  Json json{{"cores", Json::array()}};
  for (size_t i = 0; i < options.cores.size(); ++i) {
    Parts by_model;
    for (size_t m = 0; m < models.size(); ++m) by_model.push_back({flags.models[m], checks[m][i]});
    if (context.json) json["cores"].push_back(CoreJson(options.cores[i], by_model));
    else PrintCore(options.cores[i], by_model, flags.nodes);
  }
  if (options.cores.size() > 1)
    json["together"] = CheckPlans(flags, models, machine, *profile, seconds, context);
  if (context.json) PrintJson(json);
}

}  // namespace mete::cli
