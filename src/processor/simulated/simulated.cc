#include "processor/simulated/simulated.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "mete/statistics.h"
#include "schedule/simulate.h"

namespace mete {
namespace {

constexpr int kMostRuns = 10'000;  // with the bound on a run's length in costs/estimate.cc, times stay within 64 bits
constexpr size_t kMostCores = 64;  // guess: a policy asks after all others at every block, which takes minutes for thousands

std::vector<SimulatedCore> CoresOf(const Machine& machine, const Costs& costs) {
  std::vector<SimulatedCore> cores;
  for (size_t c = 0; c < machine.clusters.size(); ++c) {
    std::vector<int> seconds;  // threads of a core but its first
    for (const std::vector<int>& threads : machine.clusters[c].siblings) seconds.insert(seconds.end(), threads.begin() + 1, threads.end());
    int left = costs.cores[c];
    for (int cpu : machine.clusters[c].cores)
      if (left > 0 && std::find(seconds.begin(), seconds.end(), cpu) == seconds.end()) cores.push_back({cpu, int(c)}), --left;
  }
  return cores;
}

// A range of blocks that a worker computed, and so the trace's material.
struct Piece {
  int worker;
  int64_t start_ns, end_ns;
  double blocks;
};

class Simulator {
 public:
  Simulator(const MachineFile& file, const Costs& costs, const SimulationOptions& options) : costs_(costs), options_(options) {
    Verify(options.interference);
    if (options.runs < 1 || options.runs > kMostRuns) Invalid("runs", "out of bounds; got {}, expected 1 to {}", options.runs, kMostRuns);
    result_.cores = CoresOf(file.machine, costs);
    if (result_.cores.size() > kMostCores)
      Invalid(file.machine.name, "too many cores to simulate; got {}, expected {} at most; try some of the clusters", result_.cores.size(),
              kMostCores);
    std::vector<WorkerSpeed> speeds;
    for (const SimulatedCore& core : result_.cores) {
      speeds.push_back({core.cluster, file.machine.clusters[size_t(core.cluster)].capacity});
      times_.emplace_back(options.interference, core.cpu);
    }
    policy_ = MakePolicy(options.policy, std::move(speeds));
    for (const NodeCost& node : costs.nodes) times_on_.push_back(TimesOn(costs, node, costs.cores));
    workers_ = Workers();
  }

  Simulation Do() {
    for (int run = 0; run < options_.runs; ++run) {
      if (options_.cancel && options_.cancel->cancelled()) Fail(Code::kCancelled, "simulation", "cancelled before run {}", run + 1);
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
  // Work is given in nanoseconds of worker 0, and what the others need for it depends on the node.
  SimulatedWorkers Workers() {
    SimulatedWorkers workers{int(result_.cores.size()), {}, {}, BarrierNs(costs_, costs_.cores)};
    for (const SimulatedCore& core : result_.cores) workers.take_ns.push_back(costs_.take_ns[size_t(core.cluster)]);
    workers.finish = [this](int w, int64_t start_ns, double work_ns) {
      const double blocks = work_ns / BlockNs(0);
      const int64_t end_ns = times_[size_t(w)].Finish(start_ns, blocks * BlockNs(w));
      if (work_ns > 0) pieces_.push_back({w, start_ns, end_ns, blocks});
      return end_ns;
    };
    return workers;
  }

  double BlockNs(int w) const { return times_on_[number_].block_ns[size_t(result_.cores[size_t(w)].cluster)]; }

  void RunNode(size_t number, int64_t run_start_ns, bool traced) {
    number_ = number;
    pieces_.clear();
    const int64_t start = now_ns_, blocks = times_on_[number].blocks;
    if (workers_.count == 1 || blocks == 1) now_ns_ = workers_.finish(0, start, double(blocks) * BlockNs(0));
    else now_ns_ = Simulate(*policy_, {int64_t(number) + 1, blocks}, BlockNs(0), workers_, start).end_ns, CountTakes();
    for (const Piece& p : pieces_) result_.cores[size_t(p.worker)].busy_ns += p.end_ns - p.start_ns;
    if (traced) TraceNode(start, run_start_ns);
  }

  void CountTakes() {
    for (const Piece& p : pieces_) {
      SimulatedCore& core = result_.cores[size_t(p.worker)];
      ++core.takes, core.taking_ns += workers_.take_ns[size_t(p.worker)];
    }
  }

  // As the executor's trace has it: the node lasts until the region ends, and waiting lies inside of it.
  void TraceNode(int64_t start, int64_t run_start_ns) {
    const NodeCost& node = costs_.nodes[number_];
    for (int w = 0; w < workers_.count; ++w) {
      std::vector<Piece> own;
      for (const Piece& p : pieces_)
        if (p.worker == w) own.push_back(p);
      const int64_t done = own.empty() ? start : own.back().end_ns;
      if (own.empty()) own.push_back({w, start, start, 0});
      own.back().end_ns = now_ns_;
      for (const Piece& p : own) {
        const double part = p.blocks / double(times_on_[number_].blocks);
        result_.trace.events.push_back({node.node, node.op, w, p.start_ns - run_start_ns, p.end_ns - run_start_ns,
                                        int64_t(part * double(node.flops)), false, int64_t(part * double(node.bytes))});
      }
      if (done < now_ns_) result_.trace.events.push_back({"[wait]", node.node, w, done - run_start_ns, now_ns_ - run_start_ns});
    }
  }

  double IdealNs() const {
    double sum = 0;
    for (const NodeCost& node : costs_.nodes) {
      if (!node.computes()) continue;
      const NodeTimes times = TimesOn(costs_, node, costs_.cores);
      double rate = 0;
      for (const SimulatedCore& core : result_.cores)
        rate += (1 - LostShare(options_.interference, core.cpu)) / times.block_ns[size_t(core.cluster)];
      sum += double(times.blocks) / rate;
    }
    return sum;
  }

  const Costs& costs_;
  const SimulationOptions& options_;
  Simulation result_;
  std::vector<CoreTime> times_;
  std::unique_ptr<Policy> policy_;
  SimulatedWorkers workers_;
  std::vector<NodeTimes> times_on_;  // of each node
  size_t number_ = 0;                // of the node that runs
  std::vector<Piece> pieces_;       // of it
  int64_t now_ns_ = 0;
};

}  // namespace

double Simulation::median_ns() const {
  std::vector<double> samples(run_ns.begin() + (run_ns.size() > 1), run_ns.end());
  return Summarize(std::move(samples)).median;
}

Simulation SimulateModel(const MachineFile& file, const Costs& costs, const SimulationOptions& options) {
  return Simulator(file, costs, options).Do();
}

}  // namespace mete
