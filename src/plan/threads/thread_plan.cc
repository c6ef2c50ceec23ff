#include "plan/threads/thread_plan.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/nearest.h"
#include "base/problems.h"
#include "graph/fused.h"
#include "machine/core_type.h"
#include "schedule/policy.h"

namespace mete {
namespace {

constexpr int kMaxThreads = 1024;  // a bound for numbers read from a file

// of a thread, as read from a file: sums of them stay within 64 bits
constexpr int64_t kMostBlocks = int64_t{1} << 40;

// What is wrong with the prediction and with what it was compared to, or nothing.
std::string PredictionProblem(const Step& step) {
  if (!IsFigure(step.predicted_us))
    return fmt::format("a predicted time; got {} us, expected a finite one", step.predicted_us);
  if (!step.blocks.empty() && int64_t(step.blocks.size()) != step.threads)
    return fmt::format("needs the blocks of each of its threads; got {}, expected {}", step.blocks.size(),
                       step.threads);
  for (const int64_t blocks : step.blocks)
    if (blocks < 0 || blocks > kMostBlocks)
      return fmt::format("blocks of a thread; got {}, expected 0 to {}", blocks, kMostBlocks);
  if (step.rejected.size() > kMostRejected)
    return fmt::format("rejected choices; got {}, expected {} at most", step.rejected.size(), kMostRejected);
  for (const Rejected& r : step.rejected)
    if (!IsFigure(r.predicted_us))
      return fmt::format("the time of rejected '{}'; got {} us, expected a time", r.choice, r.predicted_us);
  return "";
}

double CapacityOf(int core, const Machine& machine) {
  const Cluster* cluster = machine.ClusterOf(core);
  return cluster ? cluster->capacity : 1;
}

std::vector<double> SpeedsOf(const ThreadPlan& plan, const Machine& machine) {
  std::vector<double> speeds(size_t(std::clamp(plan.threads, 1, kMaxThreads)), 1);
  for (size_t w = 0; w < speeds.size(); ++w) {
    if (w < plan.cores.size()) speeds[w] *= CapacityOf(plan.cores[w], machine);
    if (w < plan.speeds.size()) speeds[w] *= plan.speeds[w];
  }
  return speeds;
}

// Puts the fastest core first. The calling thread works on it, and alone on each step that is too small to
// divide. Second threads of a core come last, so that the first n threads are on n cores as long as there are
// as many.
void FastestFirst(ThreadPlan& plan, const Machine& machine) {
  const std::vector<double> speeds = SpeedsOf(plan, machine);
  if (plan.cores.size() != speeds.size()) return;
  std::vector<size_t> order(speeds.size());
  std::iota(order.begin(), order.end(), size_t(0));
  const std::vector<bool> shares = machine.SharesCore(plan.cores);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return shares[a] != shares[b] ? shares[b] : speeds[a] > speeds[b];
  });
  const ThreadPlan given = plan;
  for (size_t i = 0; i < order.size(); ++i) {
    plan.cores[i] = given.cores[order[i]];
    if (plan.speeds.size() == order.size()) plan.speeds[i] = given.speeds[order[i]];
  }
}

std::string OneThreadReason(const CpuChoice& choice, const Machine& machine) {
  if (choice.threads == 1 || choice.cores.size() == 1) return "one thread was asked for";
  return machine.cores() == 1 ? "this process may use one core"
                              : "one thread: a quota leaves this process the time of one core";
}

}  // namespace

int64_t Step::all_blocks() const { return std::accumulate(blocks.begin(), blocks.end(), int64_t{0}); }

ThreadPlan PlanOneCpu(const Graph& graph, const Machine& machine, const CpuChoice& choice) {
  const int available = choice.cores.empty() ? machine.default_threads() : int(choice.cores.size());
  ThreadPlan plan{
      machine.name, choice.threads > 0 ? choice.threads : available, choice.cores, choice.speeds, {}};
  FastestFirst(plan, machine);
  const std::string how =
      choice.policy == "equal" ? "take equal slices" : "share by the policy " + choice.policy;
  for (const Node& node : graph.nodes) {
    Step step{node.name, plan.threads, choice.policy};
    if (TakesOperands(graph, node)) step.precision = Name(OperandsOf(node));
    step.reason = plan.threads == 1 ? OneThreadReason(choice, machine)
                                    : fmt::format("one CPU; its {} threads {}", plan.threads, how);
    if (!plan.speeds.empty())
      step.reason += fmt::format("; speeds {} are emulated", fmt::join(plan.speeds, " and "));
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

ThreadPlan WithThreadsOf(const ThreadPlan& plan, const Graph& graph) {
  ThreadPlan other = plan;
  other.steps.clear();
  for (const Node& node : graph.nodes) {
    const auto given = std::find_if(plan.steps.begin(), plan.steps.end(),
                                    [&](const Step& step) { return step.node == node.name; });
    Step step{node.name, plan.threads};
    if (!plan.steps.empty()) step.policy = plan.steps[0].policy;
    other.steps.push_back(given == plan.steps.end() ? step : *given);
  }
  return other;
}

std::vector<WorkerSpeed> WorkersOf(const ThreadPlan& plan, const Machine& machine) {
  std::vector<WorkerSpeed> workers = WorkersOf(SpeedsOf(plan, machine));
  const auto in_order = [](const Cluster& cluster) { return IsInOrder(cluster.core); };
  for (size_t w = 0; w < workers.size(); ++w) {
    const Cluster* cluster = plan.cores.empty() ? nullptr : machine.ClusterOf(plan.cores[w]);
    workers[w].in_order = cluster ? in_order(*cluster)
                                  : std::all_of(machine.clusters.begin(), machine.clusters.end(), in_order);
  }
  return workers;
}

bool SameThreads(const ThreadPlan& a, const ThreadPlan& b) {
  const auto same = [](const Step& x, const Step& y) {
    return x.node == y.node && x.threads == y.threads && x.policy == y.policy;
  };
  return a.threads == b.threads && a.cores == b.cores && a.speeds == b.speeds &&
         std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), same);
}

void Verify(const ThreadPlan& plan, const Graph& graph, const Machine& machine) {
  SharedProblems problems;
  bool of_another_graph = false;
  const auto add = [&](const std::string& where, const std::string& what) { problems.Add(where, what); };
  if (plan.threads < 1 || plan.threads > kMaxThreads)
    add("plan", fmt::format("threads; got {}, expected 1 to {}", plan.threads, kMaxThreads));
  if (!plan.cores.empty() && int(plan.cores.size()) != plan.threads)
    add("plan", fmt::format("needs a core for each thread; got {} cores, expected {}", plan.cores.size(),
                            plan.threads));
  if (!plan.speeds.empty() && int(plan.speeds.size()) != plan.threads)
    add("plan", fmt::format("needs a speed for each thread; got {} speeds, expected {}", plan.speeds.size(),
                            plan.threads));
  for (double speed : plan.speeds)
    if (!(speed >= kLeastSpeed && speed <= 1))
      add("plan", fmt::format("an emulated speed; got {}, expected {} to 1", speed, kLeastSpeed));
  for (int core : plan.cores)
    if (!machine.ClusterOf(core))
      add("plan", fmt::format("core {} is not on this machine, or not for this process", core));
  for (int core : std::set<int>(plan.cores.begin(), plan.cores.end()))
    if (std::count(plan.cores.begin(), plan.cores.end(), core) > 1)
      add("plan", fmt::format("core {} is named twice; expected each core once", core));
  if (plan.steps.size() != graph.nodes.size())
    add("plan", fmt::format("needs a step for each node; got {}, expected {}", plan.steps.size(),
                            graph.nodes.size()));
  for (size_t i = 0; i < std::min(plan.steps.size(), graph.nodes.size()); ++i) {
    const Step& step = plan.steps[i];
    if (step.node != graph.nodes[i].name && !std::exchange(of_another_graph, true))
      add(step.node, fmt::format("step {} is for another node; expected '{}'; the plan is of another model",
                                 i, graph.nodes[i].name));
    if (const std::string problem = PredictionProblem(step); !problem.empty()) add(step.node, problem);
    if (std::find(PolicyNames().begin(), PolicyNames().end(), step.policy) == PolicyNames().end())
      add(step.node,
          fmt::format("unknown policy; got '{}'{}", step.policy, ExpectedOneOf(step.policy, PolicyNames())));
    else if (step.policy != plan.steps[0].policy)
      add(step.node, fmt::format("one policy serves all steps; got '{}', expected '{}'", step.policy,
                                 plan.steps[0].policy));
    if (step.threads < 1 || step.threads > plan.threads)
      add(step.node, fmt::format("threads; got {}, expected 1 to the plan's {}", step.threads, plan.threads));
  }
  problems.ThrowIfAny();
}

double PredictedUs(const ThreadPlan& plan) {
  double us = 0;
  for (const Step& step : plan.steps) us += step.predicted_us;
  return us;
}

}  // namespace mete
