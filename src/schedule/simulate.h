// Simulates a region under a virtual clock: the policies are those of real threads, the workers are
// simulated.
#pragma once

#include <functional>
#include <vector>

#include "schedule/policy.h"

namespace mete {

struct SimulatedWorkers {
  int count = 0;
  // Returns the time at which worker w, starting at `start_ns`, has done work that takes a core of speed 1
  // `work_ns`. For 0 it returns the time at which the worker gets its core. This function models interference
  // by other processes. For each worker, `start_ns` never decreases.
  std::function<int64_t(int w, int64_t start_ns, double work_ns)> finish;
  std::vector<int64_t> take_ns;  // by worker: the time of a call that returns blocks
  int64_t barrier_ns = 0;        // from the end of the last block to the end of the region
};

struct SimulatedRegion {
  int64_t end_ns = 0;
  std::vector<int64_t> busy_ns;  // by worker: time of computing, without that of taking blocks
  std::vector<int64_t> takes;    // by worker: number of ranges
};

// Returns workers of constant speeds.
SimulatedWorkers ConstantWorkers(std::vector<double> speeds, int64_t take_ns, int64_t barrier_ns);

// Runs one region that begins at `start_ns`. A block takes a core of speed 1 `block_ns`. The region ends with
// its last block and does not wait for a worker without blocks that comes later.
SimulatedRegion Simulate(Policy& policy, const Region& region, double block_ns,
                         const SimulatedWorkers& workers, int64_t start_ns);

}  // namespace mete
