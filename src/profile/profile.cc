#include "profile/profile.h"

#include <algorithm>

#include "base/clock.h"
#include "processor/cpu/stored_profile.h"
#include "machine/temperature.h"
#include "profile/hand_off.h"
#include "profile/probes.h"
#include "zoo/zoo.h"

namespace mete {
namespace {

// Runs all networks in turns until the time is up, at least kLeastRounds times, so that a disturbance of the
// machine affects all networks equally.
void RunRounds(ProbeRunners& runners, double seconds, const ProfileOptions& options,
               const std::string& what) {
  constexpr int kLeastRounds = 3;  // this value is a guess: the shortest of fewer times is mostly noise
  const int64_t start = NowNs();
  for (int round = 0; round < kLeastRounds || double(NowNs() - start) < seconds * 1e9; ++round)
    runners.Round([&] {
      if (options.progress)
        options.progress(what, int(std::min(99.0, double(NowNs() - start) / seconds * 1e-7)), 100);
    });
}

}  // namespace

Profile MeasureProfile(const Machine& machine, const ProfileOptions& options) {
  const int64_t start = NowNs();
  Profile profile;
  profile.key = KeyOf(machine);
  std::vector<Model> probes;
  const int count = ProbesToUse(options.probes);
  for (int i = 0; i < count; ++i) {
    if (options.progress) options.progress("making probe networks", i, count);
    probes.push_back(LoadProbe(i));
  }
  std::vector<int> cores;
  for (const Cluster& c : machine.clusters) cores.insert(cores.end(), c.cores.begin(), c.cores.end());
  const HandOff hand_off = MeasureHandOff(cores);
  profile.take_ns = hand_off.take_ns;
  profile.barrier_ns = hand_off.barrier_ns;
  profile.wake_ns = hand_off.wake_ns;
  for (const Cluster& cluster : machine.clusters) {
    ProbeRunners runners(probes, machine, cluster, {cluster.cores[0]}, options.cancel);
    RunRounds(runners, options.seconds / double(machine.clusters.size()), options,
              "measuring " + cluster.name);
    ClusterProfile fitted = runners.Fitted();
    const Machine now = ReadMachine();
    for (const Cluster& c : now.clusters)
      if (c.name == cluster.name) {
        fitted.khz = c.frequency.current_khz;
        fitted.governor = c.frequency.governor;
      }
    fitted.celsius = ReadCelsius();
    profile.clusters.push_back(std::move(fitted));
  }
  profile.seconds = double(NowNs() - start) * 1e-9;
  return profile;
}

struct Drift::Probe {
  Runner runner;
};

Drift::Drift(const Machine& machine, const ClusterProfile& profile, int core)
    : profile_(profile), probe_(new Probe{Runner(LoadProbe(0), machine, {core}, ConvAlgorithm::kDirect)}) {}
Drift::~Drift() = default;

void Drift::Run() { probe_->runner.Run(); }

double Drift::factor() const {
  const double now = probe_->runner.SumNs();
  return now > 0 && profile_.reference_ns > 0 ? now / profile_.reference_ns : 1;
}

}  // namespace mete
