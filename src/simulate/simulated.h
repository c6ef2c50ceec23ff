// Simulates a model in virtual time on a machine that is not here: it runs the same policies as threads do
// (src/schedule), on cores whose speeds come from estimates (src/costs). Serial equivalent:
//
//     for each run, for each step of a plan that computes:
//       one worker or one block: worker 0, the first of the fastest cluster, computes it; no taking, no
//       barrier, as in processor/cpu
//       else: Simulate() one region of the step's workers, numbered by its node, so that what the policy saw
//       in a run serves the next
//
// Workers without work spin and then sleep, as threads do. Each run follows the one before without a pause.
// The simulation leaves out caches and heat.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costs/estimate.h"
#include "machine/file.h"
#include "mete/engine.h"
#include "plan/threads/thread_plan.h"
#include "simulate/interference.h"

namespace mete {

struct SimulationOptions {
  std::string policy = "adaptive";  // of PolicyNames(); only SimulateModel() uses it
  int runs = 20;                    // runs of one policy object, one after the other
  std::vector<Interference> interference = {};
  bool trace = false;                   // of the last run, in Simulation::trace
  const CancelToken* cancel = nullptr;  // asked between runs
};

// The times of a core, summed over all runs.
struct SimulatedCore {
  int cpu = 0;            // the CPU number; of the threads of one core the first
  int cluster = 0;        // index among the clusters of the machine file
  int64_t busy_ns = 0;    // computing, with the time that interference took meanwhile
  int64_t taking_ns = 0;  // asking for blocks and starting on them
  int64_t waiting_ns = 0;
  int64_t takes = 0;
};

struct Simulation {
  std::vector<int64_t> run_ns;       // in the first run the policy has learned nothing yet
  std::vector<SimulatedCore> cores;  // worker 0 first
  // The time of a run if the speeds of all cores, less what interference takes, added up and neither taking
  // blocks nor waiting cost any time.
  double ideal_ns = 0;
  Trace trace;  // each core is a worker

  double median_ns() const;  // of all runs but the first; of a single run its own time
  double efficiency() const { return ideal_ns / median_ns(); }
};

// Returns the plan that plan/cores makes for the cores that `costs` says may take part.
ThreadPlan PlanSimulated(const Graph& graph, const MachineFile& file, const Costs& costs,
                         const std::string& policy);

// Simulates a plan of PlanSimulated(), or one like it: all threads have cores of the machine file, and no
// speeds are emulated. Error for bad interference, a number of runs out of [1, 10000], or more than 64 cores.
Simulation SimulatePlan(const ThreadPlan& plan, const MachineFile& file, const Costs& costs,
                        const SimulationOptions& options);

// Plans, and simulates this plan. Error also for an unknown policy.
Simulation SimulateModel(const Graph& graph, const MachineFile& file, const Costs& costs,
                         const SimulationOptions& options);

}  // namespace mete
