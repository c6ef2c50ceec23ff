// The plan inside of a CPU's share: how many of its threads compute each step, decided before anything runs.
// A value: printed, stored as JSON, and verified against the graph and the machine that it is for. It is a
// part of the plan of a pool (plan/plan.h).
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "machine/machine.h"
#include "schedule/policy.h"

namespace mete {

// The name of the only processor in the plan of a session that has no pool: all cores that it may use.
inline constexpr const char* kSessionProcessor = "cpu";

// Another choice for a step that the planner has weighed.
struct Rejected {
  std::string choice;  // "big 4 + little 2"
  double predicted_us = 0;
  std::string reason;
};
// Choices that a step keeps: all of up to 17 cores, the fastest of more. Guess: more than a user reads.
inline constexpr size_t kMostRejected = 16;

struct Step {
  std::string node;  // the node that is planned as a whole, fused ones included
  int threads = 1;   // the number of the plan's first threads that take blocks of the step
  std::string policy = "adaptive";
  // The precision that the operands of a product may be rounded to (graph/fused.h, 10): "f32", "bf16", of a
  // convolution of bytes "i32" or "f32"; empty: as the graph says. A plan that is given decides it.
  std::string precision;
  std::string reason;       // why so
  double predicted_us = 0;  // 0: not predicted
  // blocks of each of the threads, as the prediction distributes them; empty without a prediction
  std::vector<int64_t> blocks = {};
  std::vector<Rejected> rejected = {};  // the fastest first

  int64_t all_blocks() const;
};

struct ThreadPlan {
  std::string machine;
  int threads = 1;
  std::vector<int> cores;      // CPU numbers that the threads are pinned to; empty: not pinned
  std::vector<double> speeds;  // of the threads, kLeastSpeed to 1, to be emulated; empty: as the cores are
  std::vector<Step> steps;     // in the order in which they run, one for each node
};

// The least speed that is emulated. Guess: at it a layer of a second takes two minutes, which is slower than
// anything that a user compares.
inline constexpr double kLeastSpeed = 0.01;

// Returns whether a plan may have this as a predicted time in microseconds, or as another predicted figure.
inline bool IsFigure(double figure) { return figure >= 0 && std::isfinite(figure); }

struct CpuChoice {
  int threads = 0;             // 0: one for each core
  std::vector<int> cores;      // as in the plan
  std::vector<double> speeds;  // as in the plan
  std::string policy = "adaptive";
};

// Returns the plan with all threads at each step. Cores are put in the order of their speeds, the fastest
// first: it is the calling thread's.
ThreadPlan PlanOneCpu(const Graph& graph, const Machine& machine, const CpuChoice& choice);

// Returns a plan for another graph with the threads of `plan`: a node of the same name has those of its step,
// all others have all threads.
ThreadPlan WithThreadsOf(const ThreadPlan& plan, const Graph& graph);

// Returns the expected speeds of the plan's threads: the capacity of the core that each is pinned to, times
// the speed that is emulated. Threads that are not pinned are expected to be equal.
std::vector<WorkerSpeed> WorkersOf(const ThreadPlan& plan, const Machine& machine);

// Returns true if both plans run the same threads, each at the same steps, by the same policy.
bool SameThreads(const ThreadPlan& a, const ThreadPlan& b);

// Returns the predicted time of a run of the plan in microseconds; 0 if the plan has no predictions.
double PredictedUs(const ThreadPlan& plan);

// Throws one Error that lists everything that does not fit: nodes that are missing, unknown or out of order,
// unknown policies, threads, cores, speeds or times out of range.
void Verify(const ThreadPlan& plan, const Graph& graph, const Machine& machine);

}  // namespace mete
