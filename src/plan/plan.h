// The plan: who does which share of every step, decided before anything runs. A value: printed, stored as
// JSON, verified against the graph and the machine that it is for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "machine/machine.h"
#include "schedule/policy.h"

namespace mete {

// How a step's output is divided.
enum class SplitAxis : uint8_t { kNone, kRows, kChannels, kBranches };
const char* Name(SplitAxis axis);

// Who computes which part of a step's output: [begin, end) of `axis`, in thousandths of its length, so
// that a share says the same for any resolution.
struct Share {
  std::string processor;  // "cpu"
  int begin = 0, end = 1000;
};

// Another choice for a step that the planner has weighed.
struct Rejected {
  std::string choice;  // "big 4 + little 2"
  double predicted_us = 0;
  std::string reason;
};
// of a step: all up to 17 cores, the fastest of more. Guess: nobody reads as many
inline constexpr size_t kMostRejected = 16;

struct Step {
  std::string node;  // the node that is planned as a whole, fused ones included
  SplitAxis axis = SplitAxis::kNone;
  std::vector<Share> shares;  // cover [0, 1000) once, in order
  int threads = 1;            // the plan's first so many take blocks of the share
  std::string policy = "adaptive";
  std::string reason;       // why so
  double predicted_us = 0;  // 0: nobody has predicted it
  // of each of its threads, as the prediction deals them out; empty where there is none
  std::vector<int64_t> blocks = {};
  std::vector<Rejected> rejected = {};  // the fastest first

  int64_t all_blocks() const;
};

struct Plan {
  std::string model;
  std::string machine;
  int threads = 1;
  std::vector<int> cores;      // CPU numbers that the threads are pinned to; empty: not pinned
  std::vector<double> speeds;  // of the threads, kLeastSpeed to 1, to be emulated; empty: as the cores are
  std::vector<Step> steps;     // in the order in which they run, one for each node
};

// that is emulated: a layer of a second takes two minutes, and nobody asks for more
inline constexpr double kLeastSpeed = 0.01;

struct CpuChoice {
  int threads = 0;             // 0: one a core
  std::vector<int> cores;      // as in the plan
  std::vector<double> speeds;  // as in the plan
  std::string policy = "adaptive";
};

// Everything on one CPU, all threads at each step. Cores are put in the order of their speeds, the fastest
// first: the calling thread's.
Plan PlanOneCpu(const Graph& graph, const Machine& machine, const CpuChoice& choice);

// What is to be expected of the plan's threads: the capacity of the core that each is pinned to, times the
// speed that is emulated. Alike where they are not pinned.
std::vector<WorkerSpeed> WorkersOf(const Plan& plan, const Machine& machine);

// Error listing everything that does not fit: nodes missing, unknown or out of order, shares that do not
// cover the output exactly once, unknown processors or policies, threads out of range.
void Verify(const Plan& plan, const Graph& graph, const Machine& machine);

std::string ToText(const Plan& plan);
std::string ToJson(const Plan& plan);
Plan PlanFromJson(const std::string& json);  // Error with the place where the text is not a plan

}  // namespace mete
