#include "objective.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "checks.h"
#include "energy_choice.h"
#include "engine/model.h"
#include "machine/frequency.h"
#include "mete/device.h"
#include "mete/pool.h"
#include "pool_figure.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

EnergyCurves ReadCurves(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    Fail(Code::kFailedPrecondition, "--objective",
         "no energy curves of this machine in {}; try 'mete profile --energy', or 'mete "
         "simulate' with a machine file",
         path);
  return ParseEnergyCurves(ReadTextFile(path), path);
}

void CheckMachine(const EnergyCurves& curves, const Machine& machine, const std::string& path) {
  bool same = curves.machine == machine.name && curves.clusters.size() == machine.clusters.size();
  for (size_t i = 0; same && i < machine.clusters.size(); ++i)
    same = curves.clusters[i].cores == FirstThreads(machine.clusters[i]);
  if (!same)
    Fail(Code::kFailedPrecondition, path,
         "the energy curves are of another machine or of other cores than this process has (those of '{}'); "
         "try 'mete profile --energy' "
         "again",
         Printable(curves.machine));
}

// Returns why the chosen frequencies cannot be set, or "".
std::string WhyNot(const FrequencyControl& control, const EnergyCandidate& chosen) {
  for (size_t c = 0; c < chosen.clusters.size(); ++c) {
    const auto [khz, cores] = chosen.clusters[c];
    const std::vector<int64_t> may = control.Khz(c);
    if (cores > 0 && std::find(may.begin(), may.end(), khz) == may.end())
      return "the curves are of frequencies that cannot be set";
  }
  return "";
}

void TakeCores(const EnergyCurves& curves, const EnergyCandidate& chosen, ModelFlags& flags) {
  for (size_t c = 0; c < chosen.clusters.size(); ++c) {
    const std::vector<int>& cores = curves.clusters[c].cores;
    flags.cores.insert(flags.cores.end(), cores.begin(), cores.begin() + chosen.clusters[c].cores);
  }
}

}  // namespace

CLI::Option* AddObjectiveOption(CLI::App& command, ModelFlags& flags) {
  return command
      .add_option("--objective", flags.objective,
                  "choose cores and frequencies: the least energy, or the least that meets a time")
      ->type_name("energy|latency=30ms")
      ->group("Machine");
}

void AddObjectiveFlag(CLI::App& command, ModelFlags& flags) {
  command
      .add_option("--objective", flags.objective,
                  "choose cores and frequencies, instead of --threads and --cores: the least energy, or the "
                  "least that meets a time; with --processors, or --site of run: what the plan has least of, "
                  "latency, throughput or energy")
      ->type_name("energy|latency=30ms|...")
      ->excludes(command.get_option("--plan"))
      ->group("Machine");
}

void CheckPoolObjective(const std::string& name) {
  const auto& names = PoolObjectives();
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw UsageError(fmt::format(
        "[--objective] not an objective for several processors or a site; got '{}', expected one of: {}",
        name, fmt::join(names, ", ")));
}

void AddDeadlineFlag(CLI::App& command, CLI::Option* site, double& deadline_ms) {
  command
      .add_option("--deadline-ms", deadline_ms,
                  "with --objective energy: the least energy of what is done in this time with the link at "
                  "its 95th percentile")
      ->type_name("MS")
      ->check(Between(0.001, 1e7))
      ->needs(site)
      ->group("Site");
}

void CheckSiteObjective(const std::string& name, double deadline_ms) {
  CheckPoolObjective(name);
  if (deadline_ms > 0 && name != "energy")
    throw UsageError("[--deadline-ms] is of the least energy; got --objective " + name +
                     "; try --objective energy");
}

void CheckObjective(const ModelFlags& flags, bool processors) {
  if (flags.objective.empty()) return;
  if (processors) return CheckPoolObjective(flags.objective);
  (void)ParseObjectiveFlag(flags.objective);
  if (flags.threads != 0 || !flags.cores.empty())
    throw UsageError("[--objective] chooses the cores; got --threads or --cores, too; try without them");
}

std::string EnergyCurvesPath() {
  const std::string folder = CacheFolder();
  if (folder.empty())
    throw UsageError("[--energy] no folder to keep energy curves in; set METE_CACHE, XDG_CACHE_HOME or HOME");
  return folder + "/energy.json";
}

std::shared_ptr<const FrequencyControl> ApplyObjective(const Model& model, ModelFlags& flags,
                                                       const Context& context) {
  if (flags.objective.empty()) return nullptr;
  const Objective objective = ParseObjectiveFlag(flags.objective);
  const std::string path = EnergyCurvesPath();
  const EnergyCurves curves = ReadCurves(path);
  const Machine machine = ReadMachine();
  CheckMachine(curves, machine, path);
  const ModelWork work = WorkOf(GraphOf(model));
  EnergyChoice choice = Choose(curves, work, objective, context);
  std::shared_ptr<FrequencyControl> control;
  std::string why = WhyFrequenciesStay(machine.clusters);
  if (why.empty()) {
    control = std::make_shared<FrequencyControl>(machine.clusters, FrequencyPlaces{"/", CacheFolder()});
    for (const std::string& note : control->notes()) PrintNote(context, note);
    why = WhyNot(*control, choice.best);
  }
  if (!why.empty()) {
    control.reset();
    std::vector<int64_t> now;
    for (const Cluster& c : machine.clusters) now.push_back(LoadedKhz(c.frequency));
    choice = Choose(curves, work, objective, context, now);
    PrintNote(context, fmt::format("frequencies stay as they are ({}); only the cores are chosen", why));
  }
  TakeCores(curves, choice.best, flags);
  for (size_t c = 0; control && c < choice.best.clusters.size(); ++c)
    if (choice.best.clusters[c].cores > 0) control->Set(c, choice.best.clusters[c].khz);
  PrintNote(context,
            fmt::format("{}: {}, predicted {} and {}; {}", flags.objective, ToText(curves, choice.best),
                        FormatMs(choice.best.ms), JoulesText(choice.best.joules), choice.reason));
  return control;
}

}  // namespace mete::cli
