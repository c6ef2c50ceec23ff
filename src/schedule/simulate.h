// A region under a virtual clock: the policies that threads run, on workers that do not exist.
#pragma once

#include <functional>
#include <vector>

#include "schedule/policy.h"

namespace mete {

struct SimulatedWorkers {
  int count = 0;
  // When worker w, starting at `start_ns`, is done with what takes a core of speed 1 `work_ns`; with nothing,
  // when it has its core. Interference lives in here. Of each worker, `start_ns` never goes back.
  std::function<int64_t(int w, int64_t start_ns, double work_ns)> finish;
  std::vector<int64_t> take_ns;  // of each worker: of a call that gets blocks
  int64_t barrier_ns = 0;        // from the end of the last block to the region's
};

struct SimulatedRegion {
  int64_t end_ns = 0;
  std::vector<int64_t> busy_ns;  // of each worker: computing, taking not counted
  std::vector<int64_t> takes;    // of each worker
};

// Workers of constant speeds.
SimulatedWorkers ConstantWorkers(std::vector<double> speeds, int64_t take_ns, int64_t barrier_ns);

// Runs one region that begins at `start_ns`; a block takes a core of speed 1 `block_ns`. It ends with its
// last block: a worker that has none and comes later is not waited for.
SimulatedRegion Simulate(Policy& policy, const Region& region, double block_ns,
                         const SimulatedWorkers& workers, int64_t start_ns);

}  // namespace mete
