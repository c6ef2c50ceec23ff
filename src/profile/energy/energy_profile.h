// Measures a machine's energy curves: every cluster at several frequencies, with several numbers of cores, at
// several data-reuse rates. What is measured is injected: frequencies, meter, load and clock of this machine,
// or a test's. For each point the meter is read before and after, while the load runs, and what the machine
// takes without work is subtracted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "costs/energy_curves.h"
#include "machine/energy.h"
#include "machine/frequency.h"
#include "mete/engine.h"

namespace mete {

// What each core computes.
struct ReuseLoad {
  int multiply_adds = 0;  // for each number that is read
  // from a buffer in the innermost cache, over and over: compute-bound; else from one that no cache holds
  bool in_cache = false;

  double flops_per_byte() const;  // from memory
};

// Threads that compute, one pinned to each core.
class EnergyLoad {
 public:
  virtual ~EnergyLoad() = default;
  // all of them compute when it returns
  virtual void Start(const std::vector<int>& cores, const ReuseLoad& load) = 0;
  virtual double Flops() = 0;  // of all since then
  virtual void Stop() = 0;
};

struct EnergyBench {
  ClusterFrequencies& frequencies;
  EnergyMeter& meter;
  EnergyLoad& load;
  std::function<void(int64_t ns)> wait;  // without computing
};

struct EnergyProfileOptions {
  // of each cluster at most, evenly from its list; guess: they show where a curve has its bottom
  int frequencies = 8;
  const CancelToken* cancel = nullptr;  // asked between readings
  std::function<void(int done, int all)> progress = {};
};

// How much there is to do: for telling how long it takes.
struct EnergyEffort {
  int points = 0;
  int64_t ns = 0;
};
EnergyEffort EffortOf(const Machine& machine, const EnergyBench& bench, const EnergyProfileOptions& options);

// Error FAILED_PRECONDITION where the meter shows no more with work than without, CANCELLED, and
// those of what was injected. Frequencies stay as they were set last: putting them back is their owner's.
EnergyCurves MeasureEnergy(const Machine& machine, EnergyBench& bench, const EnergyProfileOptions& options);

}  // namespace mete
