#include "profile/profile.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "engine/stored_profile.h"
#include "machine/temperature.h"
#include "profile/hand_off.h"
#include "profile/runner.h"
#include "zoo/zoo.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

constexpr ConvAlgorithm kWays[] = {ConvAlgorithm::kDirect, ConvAlgorithm::kWinogradF2, ConvAlgorithm::kWinogradF4};

Model LoadProbe(int number) {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) Fail(Code::kUnavailable, "TMPDIR", "no folder for probe networks; got {}, expected a folder; try another one",
                  error.message());
  std::string name = (folder / "mete-probe-XXXXXX.onnx").string();
  const int file = mkstemps(name.data(), 5);
  if (file < 0) Fail(Code::kUnavailable, name, "cannot write a probe network; try another folder in TMPDIR");
  close(file);
  struct Remover {
    const std::string& name;
    ~Remover() {
      std::error_code ignored;
      fs::remove(name, ignored);
    }
  } remover{name};
  ZooMakeProbe(number, name);
  return Model::Load(name);
}

// Whether to run a network with its convolutions computed in each way: for few of them it would take too long.
bool HasWinograd(const Graph& graph) {
  constexpr int64_t kFew = 3;  // guess: the network of first layers has two
  return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                       [&](const Node& n) { return n.op == "Conv" && WorksOf(graph, n, 1).size() > 1; }) > kFew;
}

class ClusterMeasurement {
 public:
  ClusterMeasurement(const Machine& machine, const Cluster& cluster, const std::vector<Model>& probes, const ProfileOptions& options)
      : machine_(machine), cluster_(cluster), options_(options) {
    for (const Model& probe : probes)
      for (const ConvAlgorithm way : kWays) {
        if (way != ConvAlgorithm::kDirect && !HasWinograd(probe.impl().graph)) continue;
        CheckCancelled();
        runners_.push_back(std::make_unique<Runner>(probe, machine, cluster.cores[0], way));
      }
  }

  // All networks in turns until the time is up, so that what else the machine does for a while meets all of them; thrice at least.
  void Run(double seconds) {
    constexpr int kLeastRounds = 3;  // guess: the least of fewer is mostly noise
    const int64_t start = NowNs();
    for (int round = 0; round < kLeastRounds || double(NowNs() - start) < seconds * 1e9; ++round)
      for (const auto& runner : runners_) {
        CheckCancelled();
        if (options_.progress)
          options_.progress("measuring " + cluster_.name, int(std::min(99.0, double(NowNs() - start) / seconds * 1e-7)), 100);
        runner->Run();
      }
  }

  ClusterProfile Fitted() const {
    constexpr double kNearBytes = 1 << 20;  // guess, where nothing tells how large the second-level cache is
    ClusterProfile profile;
    profile.cluster = cluster_.name;
    profile.cores = cluster_.cores;
    profile.near_bytes = cluster_.cache_bytes(2) > 0 ? double(cluster_.cache_bytes(2)) : kNearBytes;
    profile.reference_ns = runners_[0]->SumNs();
    Samples samples;
    for (const auto& runner : runners_) Collect(*runner, profile.near_bytes, samples);
    for (const auto& [kernel, nodes] : samples) {
      std::vector<FitSample> list;
      for (const auto& [node, sample] : nodes) list.push_back(sample);
      profile.kernels[kernel] = FitUnits(list);
    }
    return profile;
  }

 private:
  void CheckCancelled() const {
    if (options_.cancel && options_.cancel->cancelled())
      Fail(Code::kCancelled, "profile", "the measurement was cancelled; nothing was kept");
  }

  using Samples = std::map<std::string, std::map<const Node*, FitSample>>;  // by kernel

  // Of each node the way that the runner computed it; what several runners computed in the same way is one sample.
  static void Collect(const Runner& runner, double near_bytes, Samples& samples) {
    for (const Runner::Timed& t : runner.Times()) {
      if (t.least_ns <= 0) continue;
      const std::string kernel = t.kernel.substr(0, t.kernel.find(' '));
      const std::vector<Work> works = WorksOf(runner.graph(), *t.node, near_bytes);
      for (const Work& work : works) {
        if (works.size() > 1 && work.kernel != kernel) continue;
        FitSample& sample = samples[work.key()].emplace(t.node, FitSample{work.amounts, t.least_ns}).first->second;
        sample.ns = std::min(sample.ns, t.least_ns);
      }
    }
  }

  const Machine& machine_;
  const Cluster& cluster_;
  const ProfileOptions& options_;
  std::vector<std::unique_ptr<Runner>> runners_;
};

}  // namespace

Profile MeasureProfile(const Machine& machine, const ProfileOptions& options) {
  const int64_t start = NowNs();
  Profile profile;
  profile.key = KeyOf(machine);
  std::vector<Model> probes;
  const int count = options.probes > 0 ? options.probes : ZooProbes();
  for (int i = 0; i < count; ++i) {
    if (options.progress) options.progress("making probe networks", i, count);
    probes.push_back(LoadProbe(i));
  }
  std::vector<int> cores;
  for (const Cluster& c : machine.clusters) cores.insert(cores.end(), c.cores.begin(), c.cores.end());
  const HandOff hand_off = MeasureHandOff(cores);
  profile.take_ns = hand_off.take_ns, profile.barrier_ns = hand_off.barrier_ns, profile.wake_ns = hand_off.wake_ns;
  for (const Cluster& cluster : machine.clusters) {
    ClusterMeasurement measurement(machine, cluster, probes, options);
    measurement.Run(options.seconds / double(machine.clusters.size()));
    ClusterProfile fitted = measurement.Fitted();
    const Machine now = ReadMachine();
    for (const Cluster& c : now.clusters)
      if (c.name == cluster.name) fitted.khz = c.frequency.current_khz, fitted.governor = c.frequency.governor;
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
    : profile_(profile), probe_(new Probe{Runner(LoadProbe(0), machine, core, kWays[0])}) {}
Drift::~Drift() = default;

void Drift::Run() { probe_->runner.Run(); }

double Drift::factor() const {
  const double now = probe_->runner.SumNs();
  return now > 0 && profile_.reference_ns > 0 ? now / profile_.reference_ns : 1;
}

}  // namespace mete
