// Energy in joules, from the kernel's meters (see meters.h) or from a machine file's power model. Every
// reading names its meter. The classes are not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "machine/file.h"
#include "machine/machine.h"

namespace mete {

using EnergyClock = std::function<int64_t()>;  // monotonic, nanoseconds

// The energy that a meter has counted since it was opened, and the time since then.
struct EnergyReading {
  double joules = 0;
  int64_t ns = 0;
  std::string meter;  // the parts of the meter: "powercap package-0 + powercap dram"
};

class EnergyMeter {
 public:
  virtual ~EnergyMeter() = default;
  // A meter that shows power integrates it from one reading to the next with the mean of both readings, so
  // the caller must call Read() at least every poll_ns().
  virtual EnergyReading Read() = 0;
  virtual int64_t update_ns() const = 0;  // the age that a figure may have: shorter events are not seen
  virtual int64_t poll_ns() const = 0;    // the longest time between two calls of Read()
  // a measurement of this length is within 1 % of the best that the meter can do
  virtual int64_t span_ns() const = 0;
};

// Returns the meters to read together: the meters in `names` if it names any, else the first of these groups
// that is present, in which no meter counts what another one counts too:
//  - powercap: the packages and their memory, without the parts of a package, without the whole platform
//    beside them (psys), and without a second interface to the same counters
//  - the sensors of the INA231 driver: boards with this chip have one sensor per power rail
//  - a single INA
//  - the battery
// Sensors of other chips do not tell what they measure, and several INA may measure the same current twice:
// the user must name these. Error FAILED_PRECONDITION that tells what is missing.
std::vector<Meter> ChooseMeters(const std::vector<Meter>& found, const std::vector<std::string>& names);

// Returns a meter that adds up `meters`, with files below `root` (the root given to ReadMachine()). Throws,
// here or from Read(), Error UNAVAILABLE with the file that cannot be read, and Error FAILED_PRECONDITION if
// a battery is not discharging or only shows its remaining charge.
std::unique_ptr<EnergyMeter> OpenMeter(const std::string& root, const std::vector<Meter>& meters,
                                       EnergyClock clock);

// A model instead of a meter. The energy is `idle_w` for the time that each cluster is awake, plus the watts
// of a busy core at its frequency for the time that the core is busy. The user of the model reports these
// times, so the model needs no polling.
class ModelMeter : public EnergyMeter {
 public:
  ModelMeter(const MachineFile& file, EnergyClock clock);

  void Wake(size_t cluster);
  void LetSleep(size_t cluster);
  void Busy(size_t cluster, double mhz, int64_t core_ns);  // core_ns: busy time summed over the cores

  EnergyReading Read() override;
  int64_t update_ns() const override { return 1; }
  int64_t poll_ns() const override { return INT64_MAX; }
  int64_t span_ns() const override { return 1'000'000; }

 private:
  void Settle();

  const MachineFile& file_;
  const EnergyClock clock_;
  const int64_t start_ns_;
  int64_t settled_ns_;
  double joules_ = 0;
  std::vector<bool> awake_;
};

}  // namespace mete
