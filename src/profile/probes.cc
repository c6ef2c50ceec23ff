#include "profile/probes.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "dispatch/halves.h"
#include "engine/model.h"
#include "graph/fused.h"
#include "passes/pass.h"
#include "zoo/zoo.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

constexpr ConvAlgorithm kWays[] = {ConvAlgorithm::kDirect, ConvAlgorithm::kWinogradF2,
                                   ConvAlgorithm::kWinogradF4};

// Returns whether a network is run once for each way to compute its convolutions; for few convolutions this
// would take too long.
bool HasWinograd(const Graph& graph) {
  constexpr int64_t kFew = 3;  // this value is a guess: the network of first layers has two
  return std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) {
           return n.op == "Conv" && WorksOf({graph, n, {1, 1}}).size() > 1;
         }) > kFew;
}

using Samples = std::map<std::string, std::map<const Node*, FitSample>>;  // by kernel

// Adds a sample for each node, of the way in which the runner computed it. If several runners computed a node
// in the same way, they give one sample.
void Collect(const Runner& runner, const CoreCaches& caches, Samples& samples) {
  const RepeatedRun run = RunOf(runner.graph());
  for (const Runner::Timed& t : runner.Times()) {
    if (t.least_ns <= 0) continue;
    const std::string kernel = t.kernel.substr(0, t.kernel.find(' '));
    const std::vector<Work> works = WorksOf({runner.graph(), *t.node, caches, run});
    for (const Work& work : works) {
      if (works.size() > 1 && work.kernel != kernel) continue;
      FitSample& sample =
          samples[work.key()].emplace(t.node, FitSample{work.amounts, t.least_ns}).first->second;
      sample.ns = std::min(sample.ns, t.least_ns);
    }
  }
}

CoreCaches CachesOf(const Cluster& cluster) {
  // These values are guesses: the size of a second-level cache of unknown size, and the least size of the
  // last cache as a multiple of it, for machines whose third level is missing, small or unknown.
  constexpr double kNearBytes = 1 << 20, kTimesLarger = 4;
  const double near = cluster.cache_bytes(2) > 0 ? double(cluster.cache_bytes(2)) : kNearBytes;
  return {near, std::max(double(cluster.cache_bytes(3)), kTimesLarger * near)};
}

// Returns the network with the permission to round all operands that may be rounded.
Model InHalves(const Model& probe, Precision half) {
  auto impl = std::make_shared<ModelInternals::Impl>(ModelInternals::Of(probe));
  std::map<std::string, Precision> precisions;
  for (const Node& node : impl->graph.nodes)
    if (MayRound(impl->graph, node, half)) precisions[node.name] = half;
  impl->graph = WithOperands(impl->graph, precisions);
  return ModelInternals::Make(std::move(impl));
}

}  // namespace

int ProbesToUse(int asked) { return asked > 0 ? std::min(asked, ZooProbes()) : ZooProbes(); }

Model LoadProbe(int number) {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error)
    Fail(Code::kUnavailable, "TMPDIR",
         "no folder for probe networks; got {}, expected a folder; try another one", error.message());
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

ProbeRunners::ProbeRunners(const std::vector<Model>& probes, const Machine& machine, const Cluster& cluster,
                           const TimedCore& core, const CancelToken* cancel)
    : cluster_(cluster), cancel_(cancel) {
  const Precision half = FastHalf();
  for (const Model& probe : probes) {
    for (const ConvAlgorithm way : kWays) {
      if (way != ConvAlgorithm::kDirect && !HasWinograd(GraphOf(probe))) continue;
      CheckCancelled();
      runners_.push_back(std::make_unique<Runner>(probe, machine, core, way));
    }
    // Products of other halves are predicted by the units of f32 (Work::stand_in).
    if (half == Precision::kF32) continue;
    CheckCancelled();
    runners_.push_back(std::make_unique<Runner>(InHalves(probe, half), machine, core, AlgorithmWith(half)));
  }
}

void ProbeRunners::CheckCancelled() const {
  if (cancel_ && cancel_->cancelled())
    Fail(Code::kCancelled, "profile", "the measurement was cancelled; nothing was kept");
}

void ProbeRunners::Round(const std::function<void()>& before) {
  for (const auto& runner : runners_) {
    CheckCancelled();
    before();
    runner->Run();
  }
}

ClusterProfile ProbeRunners::Fitted() const {
  ClusterProfile profile;
  profile.cluster = cluster_.name;
  profile.cores = cluster_.cores;
  profile.caches = CachesOf(cluster_);
  profile.reference_ns = runners_[0]->SumNs();
  Samples samples;
  for (const auto& runner : runners_) Collect(*runner, profile.caches, samples);
  for (const auto& [kernel, nodes] : samples) {
    std::vector<FitSample> list;
    for (const auto& [node, sample] : nodes) list.push_back(sample);
    profile.kernels[kernel] = FitUnits(list);
  }
  return profile;
}

}  // namespace mete
