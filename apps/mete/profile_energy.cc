#include "profile_energy.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "checks.h"
#include "left_frequencies.h"
#include "mete/device.h"
#include "model_flags.h"
#include "objective.h"
#include "profile/energy/energy_profile.h"
#include "profile/energy/thread_load.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

constexpr const char* kGroup = "Energy";

std::string OutputPath(const ProfileEnergyFlags& flags) {
  if (!flags.output.empty()) return flags.output;
  const std::string path = EnergyCurvesPath();
  std::error_code ignored;  // writing reports a folder that cannot be made
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  return path;
}

// A copied tree lists the meters of its machine, but they do not count.
[[noreturn]] void RefuseCopy(const std::vector<Meter>& meters) {
  std::string names;
  for (const Meter& m : meters)
    names += fmt::format("{}{} {}", names.empty() ? "" : " + ", Name(m.kind), m.name);
  Fail(Code::kFailedPrecondition, "--root",
       "a copied tree cannot be measured; on its machine {} would be read; try there", names);
}

// Returns the object that sets frequencies; if this is not permitted, frequencies stay as they are.
std::unique_ptr<ClusterFrequencies> MakeFrequencies(const Machine& machine, const Context& context) {
  const std::string why = WhyFrequenciesStay(machine.clusters);
  if (!why.empty()) {
    PrintNote(context,
              fmt::format("frequencies stay as they are ({}); only numbers of cores are compared", why));
    return std::make_unique<FixedFrequencies>(machine.clusters);
  }
  auto control = std::make_unique<FrequencyControl>(machine.clusters, FrequencyPlaces{"/", CacheFolder()});
  for (const std::string& note : control->notes()) PrintNote(context, note);
  return control;
}

EnergyCurves Measure(const Machine& machine, const std::vector<Meter>& meters,
                     const ProfileEnergyFlags& flags, const Context& context) {
  const std::unique_ptr<EnergyMeter> meter = OpenMeter("/", meters, NowNs);
  const std::unique_ptr<ClusterFrequencies> frequencies = MakeFrequencies(machine, context);
  ThreadLoad load(machine);
  EnergyBench bench{*frequencies, *meter, load,
                    [](int64_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); }};
  Progress progress(context, "measuring energy");
  const EnergyProfileOptions options{flags.frequencies, context.cancel,
                                     [&](int done, int all) { progress.Update(done, all); }};
  const EnergyEffort effort = EffortOf(machine, bench, options);
  PrintNote(context, fmt::format("{} points with {}, about {:.0f} s; nothing else should run", effort.points,
                                 meter->Read().meter, double(effort.ns) * 1e-9));
  EnergyCurves curves = MeasureEnergy(machine, bench, options);
  if (auto* control = dynamic_cast<FrequencyControl*>(frequencies.get())) control->Restore();
  return curves;
}

// Prints the ends of each curve: memory-bound and compute-bound, with one core and with all cores.
void PrintCurves(const EnergyCurves& curves) {
  fmt::print("{}, {}; {:.2f} W without work\n", curves.machine, curves.source, curves.idle_watts);
  for (const ClusterCurves& c : curves.clusters) {
    Rows rows{{"MHz", "cores", "flops/byte", "GFLOP/s", "W", "GFLOP/J"}};
    for (size_t i = 0; i < c.points.size(); ++i) {
      const EnergyPoint& p = c.points[i];
      const bool of_all = p.cores == 1 || size_t(p.cores) == c.cores.size();
      const bool first = i == 0 || c.points[i - 1].cores != p.cores || c.points[i - 1].khz != p.khz;
      if (of_all && (first || p.flops_per_byte == kComputeBoundRate))
        rows.push_back({fmt::format("{:.0f}", double(p.khz) * 1e-3), std::to_string(p.cores),
                        fmt::format("{:g}", p.flops_per_byte), fmt::format("{:.2f}", p.gflops),
                        fmt::format("{:.2f}", p.watts), fmt::format("{:.2f}", p.gflops / p.watts)});
    }
    fmt::print("\n{}\n{}", c.name, FormatTable(rows, "rrrrrr", "  "));
  }
}

}  // namespace

void AddProfileEnergyFlags(CLI::App& command, CLI::Option* energy, ProfileEnergyFlags& flags) {
  command
      .add_option("--meter", flags.meters,
                  "read this meter (a name or file that 'mete machine' shows); several add up")
      ->type_name("NAME")
      ->take_all()
      ->allow_extra_args(false)
      ->needs(energy)
      ->group(kGroup);
  command
      .add_option("--frequencies", flags.frequencies,
                  "of each cluster at most, evenly from those that it may have")
      ->type_name("N")
      ->check(Between(1, 1000))
      ->capture_default_str()
      ->needs(energy)
      ->group(kGroup);
  command
      .add_option("--energy-output", flags.output,
                  "write the curves there (default: energy.json in the cache folder)")
      ->type_name("FILE.json")
      ->needs(energy)
      ->group(kGroup);
  command
      .add_option("--root", flags.root,
                  "say which meters would be read in this copy of another machine's proc/ and sys/")
      ->type_name("DIR")
      ->check(Folder())
      ->needs(energy)
      ->group(kGroup);
}

void ProfileEnergy(const ProfileEnergyFlags& flags, const Context& context) {
  const bool copied = !std::filesystem::equivalent(flags.root, "/");
  if (!copied) PutBackLeftFrequencies(context);
  const std::string path = copied ? "" : OutputPath(flags);
  if (!copied) CheckMayWrite(path);  // checked first, so that minutes of measurement are not lost
  const Machine machine = ReadMachine(flags.root);
  const std::vector<Meter> meters = ChooseMeters(machine.meters, flags.meters);
  if (copied) RefuseCopy(meters);
  const EnergyCurves curves = Measure(machine, meters, flags, context);
  WriteOrPrint(path, ToJson(curves));
  if (context.json) return PrintJson(Json::parse(ToJson(curves)));
  PrintCurves(curves);
  fmt::print("\nwritten to {}\n", path);
}

}  // namespace mete::cli
