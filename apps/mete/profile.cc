// mete profile: measures the times of kernels on each cluster of this machine, and checks the predictions
// that follow from them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "checks.h"
#include "commands.h"
#include "pool.h"
#include "model_flags.h"
#include "processor/cpu/stored_profile.h"
#include "left_frequencies.h"
#include "machine/core_list.h"
#include "profile/profile.h"
#include "profile_check.h"
#include "profile_energy.h"
#include "profile_starts.h"
#include "terminal.h"
#include "site_run.h"
#include "text_file.h"

namespace mete::cli {
namespace {

struct ProfileFlags {
  ProfileCheckFlags check;
  double seconds = 0;
  ProfileEnergyFlags energy;
  ProfileStartsFlags starts;
  bool energy_curves = false;
  std::vector<std::string> models;  // of --processors
  std::string processors;
  bool exact = false;   // bytes of GPUs are those of a CPU's kernels
  std::vector<int> on;  // the cores of this device that take part with --processors
};

constexpr double kProfileSeconds = 45;  // guess: ten rounds, which end within a minute with the preparation

void PrintProfile(const Profile& profile, const std::string& path) {
  const Style style = StyleOf(1);
  PrintText(fmt::format("{}{}{}, {}: measured in {:.0f} s, kept in {}", style.bold, profile.key.cpu,
                        style.reset, profile.key.target, profile.seconds, path));
  PrintText(fmt::format("taking a block {:.2f} us, barrier {:.2f} us, waking threads {:.1f} us",
                        profile.take_ns * 1e-3, profile.barrier_ns * 1e-3, profile.wake_ns * 1e-3));
  for (const ClusterProfile& c : profile.clusters) {
    fmt::print("\n{}, cores {}{}{}\n", c.cluster, FormatCoreList(c.cores),
               c.governor.empty() ? "" : fmt::format(", {} at {:.0f} MHz", c.governor, double(c.khz) * 1e-3),
               c.celsius > 0 ? fmt::format(", {:.0f} C", c.celsius) : "");
    Rows rows{{"kernel", "layers", "within 10 %", "median error"}};
    for (const auto& [kernel, fit] : c.kernels)
      rows.push_back(
          {kernel, fmt::format("{}", fit.samples), FormatPercent(fit.within), FormatPercent(fit.spread)});
    fmt::print("{}", FormatTable(rows, "lrrr", "  "));
  }
  PrintText(
      "\nlayers: that were measured. within 10 %: of their times, those that the fit predicts. --json has "
      "what each kernel's time consists of.");
}

void Measure(const ProfileFlags& flags, const Context& context) {
  PutBackLeftFrequencies(context);
  const Machine machine = ReadMachine();
  // checked first, so that a minute of measurement is not lost
  CheckMayWrite(FileToKeep(CacheFolder(), KeyOf(machine)));
  ProfileOptions options{
      flags.seconds > 0 ? flags.seconds : kProfileSeconds, {}, context.cancel, flags.check.probes};
  auto progress = std::make_unique<Progress>(context, "measuring");
  options.progress = [&](const std::string& what, int done, int total) {
    progress->SetLabel(what);
    progress->Update(done, total);
  };
  const Profile profile = MeasureProfile(machine, options);
  progress.reset();
  const std::string path = SaveProfile(CacheFolder(), profile);
  if (context.json) PrintJson(Json::parse(ToJson(profile)));
  else PrintProfile(profile, path);
}

void MeasureOnProcessors(const ProfileFlags& flags, const Context& context) {
  ModelFlags session;
  session.cores = flags.on;
  CheckCores(session);
  const std::optional<Pool> site = PoolOfSiteFile(flags.processors);
  const Pool pool = site ? *site : PoolFor(flags.processors);
  ProfileOnPool(flags.models, pool.WithExactBytes(flags.exact), session, context);
}

constexpr const char* kFooter =
    R"(Runs networks that are there for that, with layers of all sizes, on the first core of each cluster, takes of each layer the least
of its times, and fits to them what the things take that a kernel does: a register tile by its width, a strip of rows, a byte from
near and from far, an activation. The result is kept in the cache folder and serves the planner; it is refused where the
processor, the instruction set, the version or the kernels have changed since.

--check runs the models on each of --cores, all in turns, so that all meet the machine in the same state, and says how far the
machine has drifted since it was profiled. With --in-turns the profile's own networks run between the models too, on each core as
it is emulated: those predictions have no drift in them. That takes as long as a profile for each core, and longer
where one is emulated.

--energy needs a meter (powercap/RAPL, a battery, INA or hwmon sensors; 'mete machine' lists them). With the right to set them it
measures at several frequencies, and puts all back in the end, on signals, and, after a crash, on the next start of mete. What it
finds is for --objective of run and bench.

--processors FILE measures instead what the layers of MODEL take on each device of the file, and what the links to them do: seconds to
a minute for each model. plan, simulate, run and bench with --processors FILE need it. Without MODEL the links are shown, and not kept.
A site's file stands for this device and the worker of its server: run --site then knows the layers of a cut.

--starts MODEL measures what a start of a model costs on this host until its first answer, by what is left of the model there: a session
that has just answered (resident); a process whose files, and those that it maps, are no longer in memory (evicted); no process, and all
files in memory (killed); no process, and no file of the model, of what is kept or of the program in memory (cold); the same, and nothing
kept, neither timings nor packed weights (first ever). What the kept parts save is shown as starts without them. Each start is a process
of its own, with a copy of the program and an own cache folder; the pages that are in memory before it are counted, and a start is not
called cold or evicted where one is left. Memory that belongs to no file stays in the state evicted, as there may be nowhere to put it.
The costs are kept in the cache folder. With --processors LIST, the session is one on these processors.

Examples:
  mete profile
  mete profile --check resnet50.onnx --nodes
  mete profile --check resnet50.onnx vgg16.onnx --cores 0:1.0,1:0.4 --in-turns
  mete profile --processors home.toml
  mete profile resnet50.onnx --processors home.toml
  mete profile resnet50.onnx --processors site.toml
  mete profile --starts resnet50.onnx
  mete profile --starts net.prototxt --weights net.caffemodel --rounds 9 --json
  mete profile --energy --meter package-0 --frequencies 4)";

}  // namespace

void AddProfile(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "profile", "measure what kernels take on each cluster of this machine, for planning");
  auto flags = std::make_shared<ProfileFlags>();
  AddProfileCheckFlags(*command, flags->check);
  CLI::Option* energy =
      command
          ->add_flag(
              "--energy", flags->energy_curves,
              "measure energy curves instead: joules and speed by frequency, cores and data-reuse rate")
          ->excludes("--check");
  AddProfileEnergyFlags(*command, energy, flags->energy);
  command
      ->add_option("--seconds", flags->seconds,
                   fmt::format("how long to measure, after some 15 s in which networks are made and prepared "
                               "(default: {:.0f}, for a check "
                               "{:.0f} a model and core)",
                               kProfileSeconds, kCheckSeconds))
      ->type_name("N")
      ->check(Between(1, 3600))
      ->group("Measurement");
  command
      ->add_option("--probes", flags->check.probes,
                   "measure the first N of the networks alone, which is sooner done and predicts worse "
                   "(default: all)")
      ->type_name("N")
      ->check(Between(1, 1000))
      ->envname("METE_PROBES")
      ->group("Measurement");
  CLI::Option* processors =
      command
          ->add_option("--processors", flags->processors,
                       "measure the links to the processors of this file, and MODEL's layers on them")
          ->type_name("LIST|FILE")
          ->group("Devices")
          ->excludes("--check")
          ->excludes("--energy")
          ->excludes("--seconds");
  AddExactFlag(*command, flags->exact);
  command->add_option("MODEL", flags->models, "models to measure on processors")
      ->needs(processors)
      ->group("Devices");
  command
      ->add_option("--on", flags->on, "cores of this device that take part, as --cores of run (default: all)")
      ->type_name("0,1,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(processors)
      ->group("Devices");
  CLI::Option* starts = AddProfileStartsFlags(*command, flags->starts);
  for (const char* other : {"--check", "--energy", "--seconds", "--exact", "--on", "MODEL"})
    starts->excludes(other);
  AddJsonFlag(*command, context);
  command->footer(kFooter);
  command->callback([flags, &context] {
    context.command = [flags, &context] {
      flags->starts.processors = flags->processors;
      if (!flags->starts.model.empty()) ProfileStarts(flags->starts, context);
      else if (!flags->processors.empty()) MeasureOnProcessors(*flags, context);
      else if (flags->energy_curves) ProfileEnergy(flags->energy, context);
      else if (flags->check.models.empty()) Measure(*flags, context);
      else CheckPredictions(flags->check, flags->seconds, context);
    };
  });
}

}  // namespace mete::cli
