// Joules: from what the kernel shows (see meters.h), or from a machine file's power model. Every reading says
// which. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "machine/file.h"
#include "machine/machine.h"

namespace mete {

using EnergyClock = std::function<int64_t()>;  // nanoseconds that never go back

// What a meter has counted since it was opened.
struct EnergyReading {
  double joules = 0;
  int64_t ns = 0;
  std::string meter;  // what it is made of: "powercap package-0 + powercap dram"
};

class EnergyMeter {
 public:
  virtual ~EnergyMeter() = default;
  // Those of power add it up from one reading to the next, with the mean of both: read them as often as
  // poll_ns() says.
  virtual EnergyReading Read() = 0;
  virtual int64_t update_ns() const = 0;  // how old a figure may be: what is shorter is not seen
  virtual int64_t poll_ns() const = 0;
  // what is measured for so long is within 1 % of what the meter could show at best
  virtual int64_t span_ns() const = 0;
};

// The meters that are read as one. Those of `names` where it names some, else what is known to add up:
//  - of powercap the packages and their memory; not what a package contains, nor the whole platform beside
//  it, nor a second
//    interface to the same counters
//  - else the sensors of an INA231, of which the boards that have it have one a rail
//  - else a single INA, else the battery
// Sensors of other chips say nothing of what they measure, and several INA may contain each other: they must
// be named. Error FAILED_PRECONDITION that says what is missing.
std::vector<Meter> ChooseMeters(const std::vector<Meter>& found, const std::vector<std::string>& names);

// Reads `meters` below `root`, which is ReadMachine()'s, as one. Error UNAVAILABLE, here or while reading,
// that names the file; Error FAILED_PRECONDITION for a battery that is not being discharged, or one that only
// tells what is left in it.
std::unique_ptr<EnergyMeter> OpenMeter(const std::string& root, const std::vector<Meter>& meters,
                                       EnergyClock clock);

// No meter but a model: `idle_w` of the clusters that are awake for as long as they are, and a busy core's
// watts at the clock that it has. Who computes says so, and so this one needs no polling.
class ModelMeter : public EnergyMeter {
 public:
  ModelMeter(const MachineFile& file, EnergyClock clock);

  void SetAwake(size_t cluster, bool awake);
  void Busy(size_t cluster, double mhz, int64_t core_ns);  // so much time of all its cores together

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
