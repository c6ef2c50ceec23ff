// Measures a machine's energy curves: every cluster at several frequencies, with several numbers of cores, at
// several data-reuse rates. Frequencies, meter, load and clock are injected: those of this machine, or
// simulated ones in tests. For each point the load runs, the meter is read at the begin and the end of an
// interval, and the power of the machine without work is subtracted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "costs/energy_curves.h"
#include "machine/energy.h"
#include "machine/frequency.h"
#include "mete/engine.h"

namespace mete {

// The computation of each core.
struct ReuseLoad {
  int multiply_adds = 0;  // per number that is read
  // true: the numbers are in a buffer that fits into the first-level cache (compute-bound); false: in a
  // buffer that no cache can hold
  bool in_cache = false;

  double flops_per_byte() const;  // from memory
};

// Threads that compute, one pinned to each core.
class EnergyLoad {
 public:
  virtual ~EnergyLoad() = default;
  // Starts the threads; all of them compute when the function returns.
  virtual void Start(const std::vector<int>& cores, const ReuseLoad& load) = 0;
  virtual double Flops() = 0;  // operations of all threads since Start()
  virtual void Stop() = 0;
};

struct EnergyBench {
  ClusterFrequencies& frequencies;
  EnergyMeter& meter;
  EnergyLoad& load;
  std::function<void(int64_t ns)> wait;  // waits without computing
};

struct EnergyProfileOptions {
  // The most frequencies per cluster, evenly chosen from its list. This value is a guess: enough to show the
  // minimum of a curve.
  int frequencies = 8;
  const CancelToken* cancel = nullptr;  // checked between readings
  std::function<void(int done, int all)> progress = {};
};

// The number of points and the duration of a measurement, to tell the user.
struct EnergyEffort {
  int points = 0;
  int64_t ns = 0;
};
EnergyEffort EffortOf(const Machine& machine, const EnergyBench& bench, const EnergyProfileOptions& options);

// Returns the measured curves. Error FAILED_PRECONDITION if the meter does not show more power with work than
// without, CANCELLED, and the errors of the injected objects. The frequencies stay as they were set last: the
// owner of `bench.frequencies` restores them.
EnergyCurves MeasureEnergy(const Machine& machine, EnergyBench& bench, const EnergyProfileOptions& options);

}  // namespace mete
