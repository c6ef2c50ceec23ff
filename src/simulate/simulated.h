// A model in virtual time on a machine that is not here: the policies that threads run (src/schedule), on
// cores whose speeds come from estimates (src/costs). Serial equivalent:
//
//     for each run, for each step of a plan that computes:
//       one worker or one block: worker 0, the first of the fastest cluster, computes it; no taking, no
//       barrier, as in processor/cpu
//       else: Simulate() one region of the step's workers, numbered by its node, so that what the policy saw
//       in a run serves the next
//
// Workers without work spin and then sleep, as threads do. Runs follow each other at once. Left out: caches,
// and heat.
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
  std::string policy = "adaptive";  // of PolicyNames(); of SimulateModel alone
  int runs = 20;                    // of one policy object, one after the other
  std::vector<Interference> interference = {};
  bool trace = false;                   // of the last run
  const CancelToken* cancel = nullptr;  // asked between runs
};

// What a core did in all runs together.
struct SimulatedCore {
  int cpu = 0;            // of the cores that are threads of one, the first
  int cluster = 0;        // of the machine file's
  int64_t busy_ns = 0;    // computing, others that were on the core meanwhile included
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
  Trace trace;  // a worker each core

  double median_ns() const;  // of the runs but the first; of a single run, its time
  double efficiency() const { return ideal_ns / median_ns(); }
};

// What plan/cores makes of a model for the cores that `costs` says may take part.
ThreadPlan PlanSimulated(const Graph& graph, const MachineFile& file, const Costs& costs,
                         const std::string& policy);

// Executes a plan of PlanSimulated, or one like it: cores of the machine file for all threads, no emulated
// speeds. Error for bad interference, runs out of [1, 10000], more cores than 64.
Simulation SimulatePlan(const ThreadPlan& plan, const MachineFile& file, const Costs& costs,
                        const SimulationOptions& options);

// Plans, and executes that. Error also for an unknown policy.
Simulation SimulateModel(const Graph& graph, const MachineFile& file, const Costs& costs,
                         const SimulationOptions& options);

}  // namespace mete
