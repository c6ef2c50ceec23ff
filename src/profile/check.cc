#include "profile/check.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/clock.h"
#include "base/error.h"
#include "engine/model.h"
#include "mete/statistics.h"
#include "plan/cores/cores.h"
#include "profile/profile.h"
#include "profile/runner.h"

namespace mete {
namespace {

const ClusterProfile& ProfileOfCore(const Profile& profile, const Machine& machine, int core) {
  const Cluster* cluster = machine.ClusterOf(core);
  const ClusterProfile* of_it = cluster ? ProfileOf(profile, cluster->name) : nullptr;
  if (!of_it) Invalid("--cores", "core {} is not one that was profiled", core);
  return *of_it;
}

constexpr int kCounted = 3;      // runs of a round; guess: more would meet the machine in the same state
constexpr int kLeastRounds = 5;  // guess: the first of them prepare caches and what the policy knows

std::vector<Tensor> InputsFor(const Model& model) {
  std::vector<Tensor> inputs;
  for (const Port& port : model.inputs()) inputs.push_back(InputFor(port));
  return inputs;
}

// The least of each step in as many rounds as there is time for.
Trace LeastOfRounds(double seconds, const std::function<Trace()>& round) {
  const int64_t start = NowNs();
  Trace least = round();
  for (int i = 1; i < kLeastRounds || double(NowNs() - start) < seconds * 1e9; ++i) least.KeepLeast(round());
  return least;
}

// As a user would run it, kernels tuned; of a core that is emulated, the time that a divided step would take on it.
Session MakeSession(const Model& model, int core, double speed) {
  SessionOptions options;
  options.cores = {core};
  options.tune = true;
  if (speed < 1) options.speeds = {speed};
  return Session(model, options);
}

}  // namespace

Check CheckModel(const Model& model, const Machine& machine, const Profile& profile, int core, double speed, double seconds,
                 const CancelToken* cancel) {
  const ClusterProfile& cluster = ProfileOfCore(profile, machine, core);
  Session session = MakeSession(model, core, speed);
  const std::vector<Tensor> inputs = InputsFor(model);
  Drift drift(machine, cluster, core);
  const Trace least = LeastOfRounds(seconds, [&] {
    drift.Run();
    session.Run(inputs, {.cancel = cancel});  // finds the caches as the drift left them
    Trace least;
    for (int i = 0; i < kCounted; ++i) {
      Trace trace;
      session.Run(inputs, {.cancel = cancel, .trace = &trace});
      if (i == 0) least = trace;
      else least.KeepLeast(trace);
    }
    return least;
  });
  Check check;
  check.drift = drift.factor();
  const Graph& graph = model.impl().graph;
  const std::vector<StepInfo> steps = session.Steps(least);
  for (size_t i = 0; i < steps.size(); ++i) {
    const NodePrediction p = Predict(cluster, graph, graph.nodes[i]);
    if (steps[i].ns <= 0 || p.kernel.empty()) continue;
    check.nodes.push_back({steps[i].node, steps[i].op, steps[i].kernel, p.kernel, IsProduct(graph.nodes[i]), p.known, p.ns / speed,
                           double(steps[i].ns)});
  }
  return check;
}

CheckedPlan CheckPlan(const Model& model, const Machine& machine, const Profile& profile, const CpuChoice& choice, double seconds,
                      const CancelToken* cancel) {
  const Graph& graph = model.impl().graph;
  const Plan plan = PlanByProfile(graph, machine, choice, &profile);
  SessionOptions options;
  options.plan_json = ToJson(plan);
  options.tune = true;  // the prediction takes the best way too
  Session session(model, options);
  const std::vector<Tensor> inputs = InputsFor(model);
  std::vector<double> runs;
  const Trace least = LeastOfRounds(seconds, [&] {
    Trace trace;
    session.Run(inputs, {.cancel = cancel, .trace = &trace});
    runs.push_back(double(trace.total_ns));
    return trace;
  });
  CheckedPlan check{PredictedUs(plan) * 1e3, 0, Summarize(std::move(runs)).median};
  for (const StepInfo& step : session.Steps(least)) check.least_ns += double(step.ns);
  return check;
}

double ShareWithin(const std::vector<CheckedNode>& nodes, double drift, double most) {
  if (nodes.empty()) return 1;
  const auto close = [&](const CheckedNode& n) { return std::abs(n.ratio() * drift - 1) <= most; };
  return double(std::count_if(nodes.begin(), nodes.end(), close)) / double(nodes.size());
}

}  // namespace mete
