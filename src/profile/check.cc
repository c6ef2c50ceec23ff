#include "profile/check.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "engine/model.h"
#include "mete/statistics.h"
#include "plan/cores/cores.h"
#include "plan/plan.h"
#include "profile/probes.h"
#include "profile/profile.h"
#include "profile/runner.h"
#include "zoo/zoo.h"

namespace mete {
namespace {

const ClusterProfile& ProfileOfCore(const Profile& profile, const Machine& machine, int core) {
  const Cluster* cluster = machine.ClusterOf(core);
  const ClusterProfile* of_it = cluster ? ProfileOf(profile, cluster->name) : nullptr;
  if (!of_it) Invalid("--cores", "core {} is not one that was profiled", core);
  return *of_it;
}

constexpr int kCounted = 3;      // runs per round; a guess: further runs would find the same state
constexpr int kLeastRounds = 5;  // a guess: the first rounds fill the caches and the policy's knowledge

std::vector<Tensor> InputsFor(const Model& model) {
  std::vector<Tensor> inputs;
  for (const Port& port : model.inputs()) inputs.push_back(InputFor(port));
  return inputs;
}

// Counts as many rounds as there is time for, and at least kLeastRounds.
class Rounds {
 public:
  explicit Rounds(double seconds) : end_(NowNs() + int64_t(seconds * 1e9)) {}
  bool Next() { return done_++ < kLeastRounds || NowNs() < end_; }

 private:
  const int64_t end_;
  int done_ = 0;
};

// Makes a session as a user would, with tuned kernels. On an emulated core its times are those of a divided
// step on such a core.
Session MakeSession(const Model& model, const TimedCore& core) {
  SessionOptions options = SessionOptions::Estimated();
  options.cores = {core.number};
  options.tune = Tune::kBefore;
  if (core.speed < 1) options.speeds = {core.speed};
  return Session(model, options);
}

void Keep(const Trace& trace, Trace& least) {
  if (least.events.empty()) least = trace;
  else least.KeepLeast(trace);
}

// A model on one core with the shortest time of each step.
class TimedModel {
 public:
  TimedModel(const Model& model, const TimedCore& core)
      : model_(model), session_(MakeSession(model, core)), inputs_(InputsFor(model)) {}

  void Run(const CancelToken* cancel) {
    session_.Run(inputs_, {.cancel = cancel});  // this run finds the caches as other programs left them
    for (int i = 0; i < kCounted; ++i) {
      Trace trace;
      session_.Run(inputs_, {.cancel = cancel, .trace = &trace});
      Keep(trace, least_);
    }
  }

  // Compares the times with the predictions of `profile` for a core with `speed` times the speed of the
  // profiled one.
  std::vector<CheckedNode> Compare(const ClusterProfile& profile, double speed) const {
    std::vector<CheckedNode> nodes;
    const Graph& graph = GraphOf(model_);
    const RepeatedRun run = RunOf(graph);
    const std::vector<StepInfo> steps = session_.Steps(least_);
    for (size_t i = 0; i < steps.size(); ++i) {
      const NodePrediction p = Predict(profile, graph, graph.nodes[i], run);
      if (steps[i].ns <= 0 || p.kernel.empty()) continue;
      nodes.push_back({steps[i].node, steps[i].op, steps[i].kernel, p.kernel, IsProduct(graph.nodes[i]),
                       p.known, p.ns / speed, double(steps[i].ns)});
    }
    return nodes;
  }

 private:
  const Model model_;
  Session session_;
  const std::vector<Tensor> inputs_;
  Trace least_;
};

// The measurements on one core.
class CoreCheck {
 public:
  CoreCheck(const std::vector<Model>& models, const std::vector<Model>& probes, const Machine& machine,
            const Profile& profile, const TimedCore& core, const CancelToken* cancel)
      : core_(core),
        profile_(ProfileOfCore(profile, machine, core.number)),
        drift_(machine, profile_, core.number),
        cancel_(cancel) {
    for (const Model& model : models) models_.push_back(std::make_unique<TimedModel>(model, core));
    if (!probes.empty()) probes_.emplace(probes, machine, *machine.ClusterOf(core.number), core, cancel);
  }

  void RunDrift() { drift_.Run(); }
  void RunModel(size_t m) { models_[m]->Run(cancel_); }
  void RunProbes() {
    if (probes_) probes_->Round();
  }

  // Returns one Check per model.
  std::vector<Check> Results() const {
    std::optional<ClusterProfile> fitted;
    if (probes_) fitted = probes_->Fitted();
    std::vector<Check> checks;
    for (const auto& model : models_) {
      checks.push_back({model->Compare(profile_, core_.speed), {}, drift_.factor()});
      // This profile was measured at the core's emulated speed.
      if (fitted) checks.back().in_turns = model->Compare(*fitted, 1);
    }
    return checks;
  }

 private:
  const TimedCore core_;
  const ClusterProfile& profile_;
  Drift drift_;
  const CancelToken* cancel_;
  std::vector<std::unique_ptr<TimedModel>> models_;
  std::optional<ProbeRunners> probes_;
};

}  // namespace

std::vector<std::vector<Check>> CheckModels(const std::vector<Model>& models, const Machine& machine,
                                            const Profile& profile, const CheckOptions& options) {
  std::vector<Model> probes;
  const int count = options.in_turns ? ProbesToUse(options.probes) : 0;
  for (int i = 0; i < count; ++i) probes.push_back(LoadProbe(i));
  std::vector<std::unique_ptr<CoreCheck>> cores;
  for (const TimedCore& core : options.cores)
    cores.push_back(std::make_unique<CoreCheck>(models, probes, machine, profile, core, options.cancel));
  Rounds rounds(options.seconds);
  while (rounds.Next()) {
    for (const auto& core : cores) core->RunDrift();
    for (size_t m = 0; m < models.size(); ++m)
      for (const auto& core : cores) core->RunModel(m);
    for (const auto& core : cores) core->RunProbes();
  }
  std::vector<std::vector<Check>> checks(models.size());
  for (const auto& core : cores) {
    std::vector<Check> results = core->Results();
    for (size_t m = 0; m < models.size(); ++m) checks[m].push_back(std::move(results[m]));
  }
  return checks;
}

CheckedPlan CheckPlan(const Model& model, const Machine& machine, const Profile& profile,
                      const CpuChoice& choice, double seconds, const CancelToken* cancel) {
  const Graph& graph = GraphOf(model);
  const ThreadPlan plan = PlanByProfile(graph, machine, choice, &profile);
  SessionOptions options = SessionOptions::Estimated();
  options.plan_json = ToJson(PlanOnOne(graph, kSessionProcessor, plan), graph);
  options.tune = Tune::kBefore;  // the prediction is for the fastest way too
  Session session(model, options);
  const std::vector<Tensor> inputs = InputsFor(model);
  std::vector<double> runs;
  Trace least;
  Rounds rounds(seconds);
  while (rounds.Next()) {
    Trace trace;
    session.Run(inputs, {.cancel = cancel, .trace = &trace, .alone = RunOptions::Alone::kNever});
    runs.push_back(double(trace.total_ns));
    Keep(trace, least);
  }
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
