// The clocks of clusters and the power of the machine's meters over the time of a run, as counters of its
// trace.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "machine/energy.h"
#include "machine/machine.h"
#include "machine/sysfs.h"
#include "mete/engine.h"

namespace mete {

// Not thread-safe.
class RunMeters {
 public:
  // `root`: as given to ReadMachine(). Clusters without a clock that can be read, and machines without a
  // meter, have no counter.
  RunMeters(const Machine& machine, const std::string& root, EnergyClock clock);

  bool empty() const { return clocks_.empty() && !meter_; }  // there is nothing to read
  // Why the machine's meters cannot be read, or cannot any longer; "" if they can be, or if there are none.
  const std::string& why_no_power() const { return why_no_power_; }
  // The time between two readings.
  int64_t interval_ns() const;

  void Start();  // begins a run: its first reading
  void Read();   // a reading. One at the end of the run is needed for the power of its last part
  // Returns the counters of the run: each cluster's clock in MHz (of its first core, where cores have their
  // own), and the power in watts between readings that are at least an update of the meter apart. Figures
  // that cannot be read any longer are left out, and so is the power of a run that is shorter than an update.
  std::vector<TraceCounter> Counters() const;

 private:
  struct Reading {
    int64_t ns;  // since the start of the run
    std::vector<double> mhz;
    double joules;
  };

  Sysfs sysfs_;
  const EnergyClock clock_;
  std::vector<std::pair<std::string, std::string>> clocks_;  // a cluster's name, its file
  std::unique_ptr<EnergyMeter> meter_;
  std::string why_no_power_;
  int64_t start_ns_ = 0;
  std::vector<Reading> readings_;
};

// Calls `run`, and reads the meters at its start, at its end, and from a thread of its own in between.
void ReadWhile(RunMeters& meters, Clock& clock, const std::function<void()>& run);

}  // namespace mete
