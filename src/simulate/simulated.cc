#include "simulate/simulated.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "mete/statistics.h"
#include "plan/cores/cores.h"
#include "schedule/simulate.h"
#include "simulate/counters.h"

namespace mete {
namespace {

// with the bound on a run's length in costs/estimate.cc, times stay within 64 bits
constexpr int kMostRuns = 10'000;
// guess: a policy looks at all workers for every block, which takes minutes with thousands of cores
constexpr size_t kMostCores = 64;

// Returns the CPU numbers of the cores that may take part, cluster after cluster; of the threads of a core
// the first one.
std::vector<int> CpusOf(const Machine& machine, const Costs& costs) {
  std::vector<int> cpus;
  for (size_t c = 0; c < machine.clusters.size(); ++c) {
    std::vector<int> seconds;  // threads of a core but its first
    for (const std::vector<int>& threads : machine.clusters[c].siblings)
      seconds.insert(seconds.end(), threads.begin() + 1, threads.end());
    int left = costs.cores[c];
    for (int cpu : machine.clusters[c].cores)
      if (left > 0 && std::find(seconds.begin(), seconds.end(), cpu) == seconds.end()) {
        cpus.push_back(cpu);
        --left;
      }
  }
  return cpus;
}

// Returns the cores in the order of the plan's threads.
std::vector<SimulatedCore> SimulatedCoresOf(const ThreadPlan& plan, const Machine& machine) {
  std::vector<SimulatedCore> cores;
  for (const int cpu : plan.cores)
    for (size_t c = 0; c < machine.clusters.size(); ++c)
      if (std::find(machine.clusters[c].cores.begin(), machine.clusters[c].cores.end(), cpu) !=
          machine.clusters[c].cores.end())
        cores.push_back({cpu, int(c)});
  return cores;
}

// A range of blocks that a worker computed. The trace is made from these ranges.
struct Piece {
  int worker;
  int64_t start_ns, end_ns;
  double blocks;
};

class Simulator {
 public:
  Simulator(const ThreadPlan& plan, const MachineFile& file, const Costs& costs,
            const SimulationOptions& options)
      : plan_(plan), costs_(costs), options_(options) {
    Verify(options.interference);
    if (options.runs < 1 || options.runs > kMostRuns)
      Invalid("runs", "out of bounds; got {}, expected 1 to {}", options.runs, kMostRuns);
    result_.cores = SimulatedCoresOf(plan, file.machine);
    for (const SimulatedCore& core : result_.cores)
      result_.trace.lanes.push_back(
          fmt::format("core {} ({})", core.cpu, file.machine.clusters[size_t(core.cluster)].name));
    if (result_.cores.size() > kMostCores)
      Invalid(file.machine.name,
              "too many cores to simulate; got {}, expected {} at most; try some of the clusters",
              result_.cores.size(), kMostCores);
    std::vector<WorkerSpeed> speeds;
    for (const SimulatedCore& core : result_.cores) {
      speeds.push_back({core.cluster, file.machine.clusters[size_t(core.cluster)].capacity});
      times_.emplace_back(options.interference, core.cpu);
    }
    policy_ = MakePolicy(plan.steps.at(0).policy, speeds);
    idle_since_ns_.assign(result_.cores.size(), 0);
    all_ = CoresOf(plan, file.machine, plan.threads);
    for (size_t i = 0; i < costs.nodes.size(); ++i) {
      const std::vector<int> cores = CoresOf(plan, file.machine, plan.steps[i].threads);
      steps_.push_back({TimesOn(costs, costs.nodes[i], cores), BarrierNs(costs, cores)});
    }
    workers_ = Workers();
  }

  Simulation Do() {
    for (int run = 0; run < options_.runs; ++run) {
      if (options_.cancel && options_.cancel->cancelled())
        Fail(Code::kCancelled, "simulation", "cancelled before run {}", run + 1);
      const int64_t start = now_ns_;
      const bool traced = options_.trace && run + 1 == options_.runs;
      for (size_t i = 0; i < costs_.nodes.size(); ++i)
        if (costs_.nodes[i].computes()) RunNode(i, start, traced);
      result_.run_ns.push_back(now_ns_ - start);
    }
    result_.trace.total_ns = options_.trace ? result_.run_ns.back() : 0;
    for (SimulatedCore& core : result_.cores) core.waiting_ns = now_ns_ - core.busy_ns - core.taking_ns;
    result_.ideal_ns = IdealNs();
    return std::move(result_);
  }

 private:
  // Returns the workers for Simulate(). Their work is given in nanoseconds of worker 0, and the time that
  // another worker needs for it depends on the node.
  SimulatedWorkers Workers() {
    SimulatedWorkers workers{int(result_.cores.size()), {}, {}};
    for (const SimulatedCore& core : result_.cores)
      workers.take_ns.push_back(costs_.take_ns[size_t(core.cluster)]);
    workers.finish = [this](int w, int64_t start_ns, double work_ns) {
      const double blocks = work_ns / BlockNs(0);
      const int64_t awake_ns = work_ns > 0 ? start_ns : AwakeNs(w, start_ns);
      const int64_t end_ns = times_[size_t(w)].Finish(awake_ns, blocks * BlockNs(w));
      if (work_ns > 0) pieces_.push_back({w, start_ns, end_ns, blocks});
      return idle_since_ns_[size_t(w)] = end_ns;
    };
    return workers;
  }

  // Returns the time at which a worker asks for work if worker 0 wants it at `start_ns`. A worker that is
  // still waking up for an earlier region comes when it is awake.
  int64_t AwakeNs(int w, int64_t start_ns) const {
    const int64_t idle_since_ns = idle_since_ns_[size_t(w)];
    if (w == 0 || start_ns - idle_since_ns <= kSpinNs) return std::max(start_ns, idle_since_ns);
    return start_ns + costs_.wake_ns[size_t(result_.cores[size_t(w)].cluster)];
  }

  double BlockNs(int w) const {
    return steps_[number_].times.block_ns[size_t(result_.cores[size_t(w)].cluster)];
  }

  void RunNode(size_t number, int64_t run_start_ns, bool traced) {
    number_ = number;
    pieces_.clear();
    const int64_t start = now_ns_, blocks = steps_[number].times.blocks;
    const int threads = plan_.steps[number].threads;
    workers_.barrier_ns = steps_[number].barrier_ns;
    if (threads == 1 || blocks == 1) now_ns_ = workers_.finish(0, start, double(blocks) * BlockNs(0));
    else RunRegion({int64_t(number) + 1, blocks, 1, threads});
    for (const Piece& p : pieces_) result_.cores[size_t(p.worker)].busy_ns += p.end_ns - p.start_ns;
    if (traced) TraceNode(start, run_start_ns);
  }

  void RunRegion(const Region& region) {
    now_ns_ = Simulate(*policy_, region, BlockNs(0), workers_, now_ns_).end_ns;
    // A worker that has finished its blocks stays awake if the other workers finish theirs soon.
    for (int w = 0; w < region.workers; ++w)
      if (int64_t& since_ns = idle_since_ns_[size_t(w)]; now_ns_ - since_ns < kUselessNs)
        since_ns = std::max(since_ns, now_ns_);
    CountTakes();
  }

  void CountTakes() {
    for (const Piece& p : pieces_) {
      SimulatedCore& core = result_.cores[size_t(p.worker)];
      ++core.takes;
      core.taking_ns += workers_.take_ns[size_t(p.worker)];
    }
  }

  // Adds the node to the trace in the form that the executor uses: the node lasts until the region ends, and
  // waiting lies inside of it. Workers without a part have no event.
  void TraceNode(int64_t start, int64_t run_start_ns) {
    const NodeCost& node = costs_.nodes[number_];
    for (int w = 0; w < plan_.steps[number_].threads; ++w) {
      std::vector<Piece> own;
      for (const Piece& p : pieces_)
        if (p.worker == w) own.push_back(p);
      const int64_t done = own.empty() ? start : own.back().end_ns;
      if (own.empty()) own.push_back({w, start, start, 0});
      own.back().end_ns = now_ns_;
      for (const Piece& p : own) {
        const double part = p.blocks / double(steps_[number_].times.blocks);
        result_.trace.events.push_back({node.node, node.op, w, p.start_ns - run_start_ns,
                                        p.end_ns - run_start_ns, int64_t(part * double(node.flops)), false,
                                        int64_t(part * double(node.bytes))});
      }
      if (done < now_ns_)
        result_.trace.events.push_back({"[wait]", node.node, w, done - run_start_ns, now_ns_ - run_start_ns});
    }
  }

  double IdealNs() const {
    double sum = 0;
    for (const NodeCost& node : costs_.nodes) {
      if (!node.computes()) continue;
      const NodeTimes times = TimesOn(costs_, node, all_);
      double rate = 0;
      for (const SimulatedCore& core : result_.cores)
        rate += (1 - LostShare(options_.interference, core.cpu)) / times.block_ns[size_t(core.cluster)];
      sum += double(times.blocks) / rate;
    }
    return sum;
  }

  struct SimulatedStep {
    NodeTimes times;
    int64_t barrier_ns;
  };

  const ThreadPlan& plan_;
  const Costs& costs_;
  const SimulationOptions& options_;
  Simulation result_;
  std::vector<CoreTime> times_;
  std::unique_ptr<Policy> policy_;
  SimulatedWorkers workers_;
  std::vector<int64_t> idle_since_ns_;  // by worker
  std::vector<int> all_;                // cores of each cluster that the plan has
  std::vector<SimulatedStep> steps_;
  size_t number_ = 0;          // the number of the node that runs
  std::vector<Piece> pieces_;  // of this node
  int64_t now_ns_ = 0;
};

}  // namespace

double Simulation::median_ns() const {
  std::vector<double> samples(run_ns.begin() + (run_ns.size() > 1), run_ns.end());
  return Summarize(std::move(samples)).median;
}

ThreadPlan PlanSimulated(const Graph& graph, const MachineFile& file, const Costs& costs,
                         const std::string& policy) {
  const std::vector<int> cpus = CpusOf(file.machine, costs);
  ThreadPlan plan = PlanCores(graph, file.machine, {int(cpus.size()), cpus, {}, policy}, costs);
  Verify(plan, graph, file.machine);
  return plan;
}

Simulation SimulatePlan(const ThreadPlan& plan, const MachineFile& file, const Costs& costs,
                        const SimulationOptions& options) {
  return Simulator(plan, file, costs, options).Do();
}

Simulation SimulateModel(const Graph& graph, const MachineFile& file, const Costs& costs,
                         const SimulationOptions& options) {
  Simulation simulation =
      SimulatePlan(PlanSimulated(graph, file, costs, options.policy), file, costs, options);
  simulation.trace.process = fmt::format("{} on a simulated {}", graph.name, file.machine.name);
  if (options.trace) simulation.trace.counters = CountersOf(simulation, file);
  return simulation;
}

}  // namespace mete
