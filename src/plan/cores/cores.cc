#include "plan/cores/cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "costs/describe.h"
#include "plan/cores/paths.h"

namespace mete {
namespace {

int ClusterOf(const Machine& machine, int core) {
  const Cluster* cluster = machine.ClusterOf(core);
  if (!cluster) Invalid("plan", "core {} is not on {}", core, machine.name);
  return int(cluster - machine.clusters.data());
}

// Returns the cluster of each thread of the plan. Threads that are not pinned are put on the cores in turn,
// as the kernel does: first one on each physical core, then on the other threads of these cores.
std::vector<int> ClustersOf(const ThreadPlan& plan, const Machine& machine) {
  std::vector<int> clusters;
  for (const int core : plan.cores) clusters.push_back(ClusterOf(machine, core));
  const std::vector<int> physical = PhysicalCores(machine);
  while (int(clusters.size()) < plan.threads) {
    for (size_t c = 0; c < physical.size(); ++c) clusters.insert(clusters.end(), size_t(physical[c]), int(c));
    for (size_t c = 0; c < physical.size(); ++c)
      clusters.insert(clusters.end(), machine.clusters[c].cores.size() - size_t(physical[c]), int(c));
  }
  clusters.resize(size_t(plan.threads));
  return clusters;
}

std::vector<PlannedThread> ThreadsOf(const ThreadPlan& plan, const Machine& machine) {
  std::vector<PlannedThread> threads;
  for (const int cluster : ClustersOf(plan, machine)) threads.push_back({cluster});
  for (size_t t = 0; t < std::min(plan.speeds.size(), threads.size()); ++t) threads[t].speed = plan.speeds[t];
  threads.resize(size_t(CountedThreads(plan, machine)));
  return threads;
}

void CheckCosts(const Graph& graph, const Machine& machine, const Costs& costs) {
  Verify(costs);
  if (costs.cores.size() != machine.clusters.size())
    Invalid(machine.name, "costs of another machine; got {} clusters, expected {}", costs.cores.size(),
            machine.clusters.size());
  if (costs.nodes.size() != graph.nodes.size())
    Invalid(graph.name, "costs of another model; got {} nodes, expected {}", costs.nodes.size(),
            graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (costs.nodes[i].node != graph.nodes[i].name)
      Invalid(graph.nodes[i].name, "costs of another node; got '{}'", costs.nodes[i].node);
}

std::string Percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

// Returns for example "1.6 times as long", or "4.2 % longer" for small differences.
std::string Longer(double ratio) {
  return ratio < 1.5 ? Percent(ratio - 1) + " longer" : fmt::format("{:.1f} times as long", ratio);
}

// Fills in the decision for one step, and its reason.
class StepWriter {
 public:
  StepWriter(const Machine& machine, const Prediction& prediction, size_t node, const Decision& decision,
             Step* step)
      : machine_(machine), prediction_(prediction), node_(node), decision_(decision), step_(step) {}

  void Write() {
    step_->threads = decision_.threads;
    const Dealt dealt = prediction_.On(node_, decision_.threads, decision_.awake);
    step_->blocks = dealt.blocks;
    chosen_ns_ = dealt.done_ns;
    step_->predicted_us = chosen_ns_ * 1e-3;
    const bool one_piece = prediction_.Blocks(node_, prediction_.threads()) == 1;
    if (!one_piece) AddRejected();
    step_->reason = prediction_.threads() == 1 ? "there is one thread"
                    : one_piece                ? "in one piece: nothing to divide"
                                               : Reason();
  }

 private:
  double Ns(int threads) const { return prediction_.Ns(node_, threads, decision_.awake); }
  std::string Name(int threads) const { return CoresText(machine_, prediction_.CoresOf(threads)); }

  void AddRejected() {
    for (const int t : prediction_.Counts())
      if (t != decision_.threads) step_->rejected.push_back({Name(t), Ns(t) * 1e-3, WhyNot(t)});
    std::stable_sort(step_->rejected.begin(), step_->rejected.end(),
                     [](const Rejected& a, const Rejected& b) { return a.predicted_us < b.predicted_us; });
    if (step_->rejected.size() > kMostRejected) step_->rejected.resize(kMostRejected);
  }

  std::string WhyNot(int threads) const {
    const double ratio = Ns(threads) / chosen_ns_;
    if (ratio >= 1) return (ratio > 1 ? Longer(ratio) : "no sooner") + Cause(threads);
    if (ratio > 1 - kLeastGain && threads > decision_.threads)
      return fmt::format("{} sooner, less than the {} that more cores must gain", Percent(1 - ratio),
                         Percent(kLeastGain));
    return fmt::format("{} sooner, but steps after it would find threads asleep", Percent(1 - ratio));
  }

  // Returns why more threads do not take less time.
  std::string Cause(int threads) const {
    if (threads < decision_.threads) return "";
    const int64_t blocks = prediction_.Blocks(node_, threads);
    if (threads > decision_.awake && prediction_.Ns(node_, threads, threads) < chosen_ns_)
      return fmt::format(": {} asleep, to be woken", threads - decision_.awake);
    if (blocks < threads) return fmt::format(": {} blocks", blocks);
    return ": the cores more cost more than they compute";
  }

  std::string Reason() const {
    if (decision_.threads == 1) return "too small to divide, or memory is what it waits for";
    const std::string gain = fmt::format("{:.1f} times as fast as one core", Ns(1) / chosen_ns_);
    if (decision_.threads == prediction_.threads()) return "all cores: " + gain;
    return fmt::format("{}; more cores are no gain", gain);
  }

  const Machine& machine_;
  const Prediction& prediction_;
  const size_t node_;
  const Decision decision_;
  Step* const step_;
  double chosen_ns_ = 0;
};

void Choose(ThreadPlan& plan, const Machine& machine, const Costs& costs) {
  const std::vector<PlannedThread> threads = ThreadsOf(plan, machine);
  const Prediction prediction(costs, threads);
  const std::vector<Decision> path = BestPath(costs, prediction);
  const int uncounted = plan.threads - prediction.threads();
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (costs.nodes[i].computes()) {
      StepWriter(machine, prediction, i, path[i], &plan.steps[i]).Write();
      if (uncounted > 0)
        plan.steps[i].reason += fmt::format("; {} threads more would share cores with these", uncounted);
      continue;
    }
    plan.steps[i].threads = 1;
    plan.steps[i].reason = costs.nodes[i].kind == NodeKind::kView ? "nothing to compute"
                                                                  : "its shape is known at run time alone";
  }
}

}  // namespace

ThreadPlan PlanCores(const Graph& graph, const Machine& machine, const CpuChoice& choice,
                     const Costs& costs) {
  CheckCosts(graph, machine, costs);
  ThreadPlan plan = PlanOneCpu(graph, machine, choice);
  if (choice.policy == "adaptive") Choose(plan, machine, costs);
  return plan;
}

ThreadPlan PlanByProfile(const Graph& graph, const Machine& machine, const CpuChoice& choice,
                         const Profile* profile) {
  ThreadPlan all = PlanOneCpu(graph, machine, choice);
  Verify(all, graph, machine);
  return profile ? PlanCores(graph, machine, choice, PredictCosts(graph, *profile, machine)) : all;
}

int CountedThreads(const ThreadPlan& plan, const Machine& machine) {
  if (!plan.cores.empty()) {
    const std::vector<bool> shares = machine.SharesCore(plan.cores);
    return int(std::find(shares.begin(), shares.end(), true) - shares.begin());
  }
  const std::vector<int> cores = PhysicalCores(machine);
  const int physical = std::accumulate(cores.begin(), cores.end(), 0);
  return physical < machine.cores() ? std::min(plan.threads, physical) : plan.threads;
}

std::vector<int> CoresOf(const ThreadPlan& plan, const Machine& machine, int threads) {
  std::vector<int> cores(machine.clusters.size(), 0);
  const std::vector<int> clusters = ClustersOf(plan, machine);
  for (int t = 0; t < threads; ++t) ++cores[size_t(clusters[size_t(t)])];
  return cores;
}

}  // namespace mete
