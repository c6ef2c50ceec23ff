#include "machine/energy.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "machine/sysfs.h"

namespace mete {
namespace {

constexpr int64_t kMs = 1'000'000;
// Intel's manual, volume 3, RAPL: "updated approximately once every 1 ms"
constexpr int64_t kPowercapUpdate = kMs;
// a sixth of the time in which counters of 32 bits in units of 15 uJ wrap at a kilowatt (60 s)
constexpr int64_t kCounterPoll = 10'000 * kMs;
// for a chip without update_interval; this value is a guess: many drivers keep figures for a second
constexpr int64_t kHwmonUpdate = 1'000 * kMs;
// the update_period that the Odroid-XU3's kernel sets; a guess for other boards
constexpr int64_t kIna231Update = 260 * kMs;
constexpr int64_t kBatteryUpdate = 2'000 * kMs;  // this value is a guess: gauges refresh in 0.2 to 10 s
// the first and the last reading may each be one update old: 2 of 200 updates are 1 %
constexpr int kCounterUpdates = 200;
// This value is a guess: an old reading of steady power is still correct, so that only noise must be
// averaged.
constexpr int kSampleUpdates = 20;
constexpr int64_t kMostUpdateMs = 600'000;  // this value is a guess
constexpr double kMostFigure = 1e18;        // bound for the number in a file: less than 64 bits hold

// Returns the number in a file of one line; the number may have a sign and a fraction.
double NumberIn(Sysfs& sysfs, const std::string& path) {
  const auto line = sysfs.Line(path);
  if (!line) Fail(Code::kUnavailable, "/" + path, "the meter cannot be read; try the rights of another user");
  double n = 0;
  const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), n);
  if (error != std::errc() || end != line->data() + line->size() || !(std::abs(n) <= kMostFigure))
    Fail(Code::kUnavailable, "/" + path, "the meter shows no number; got '{}'",
         Printable(line->substr(0, 40)));
  return n;
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

// One meter. Joules() returns the energy since the meter was made.
class Part {
 public:
  virtual ~Part() = default;
  virtual double Joules(int64_t now_ns) = 0;
  int64_t update_ns = 0, poll_ns = 0, span_ns = 0;
};

// A meter that counts energy in microjoules.
class Counter : public Part {
 public:
  // `range` is the highest value before the counter wraps to 0; nothing if it never wraps. A wrap is accepted
  // only if the last reading was not above `range`.
  Counter(Sysfs& sysfs, std::string path, std::optional<double> range)
      : sysfs_(sysfs), path_(std::move(path)), range_(range), last_(NumberIn(sysfs, path_)) {}

  double Joules(int64_t) override {
    const double now = NumberIn(sysfs_, path_);
    if (now < last_ && range_.value_or(0) < last_)
      Fail(Code::kUnavailable, "/" + path_, "the meter went back; got {:.0f} uJ after {:.0f}", now, last_);
    microjoules_ += now < last_ ? now - last_ + *range_ : now - last_;
    last_ = now;
    return microjoules_ * 1e-6;
  }

 private:
  Sysfs& sysfs_;
  const std::string path_;
  const std::optional<double> range_;
  double last_, microjoules_ = 0;
};

// A meter that shows power, which is integrated. The sign of a battery's power depends on its driver.
class Samples : public Part {
 public:
  using Watts = std::function<double()>;
  Samples(Watts watts, int64_t now_ns)
      : watts_(std::move(watts)), last_ns_(now_ns), last_(std::abs(watts_())) {}

  double Joules(int64_t now_ns) override {
    const double now = std::abs(watts_());
    joules_ += (last_ + now) / 2 * double(now_ns - last_ns_) * 1e-9;
    last_ = now;
    last_ns_ = now_ns;
    return joules_;
  }

 private:
  const Watts watts_;
  int64_t last_ns_;
  double last_, joules_ = 0;
};

bool EndsWith(const std::string& path, const char* end) { return path.ends_with(end); }

// Makes the parts of one ReadMeter, which share its Sysfs.
class PartMaker {
 public:
  PartMaker(Sysfs& sysfs, int64_t now_ns) : sysfs_(sysfs), now_ns_(now_ns) {}

  std::unique_ptr<Part> Make(const Meter& meter) const {
    const std::string path = meter.path.substr(meter.path.find_first_not_of('/'));
    switch (meter.kind) {
      case Meter::Kind::kPowercap: return Powercap(path);
      case Meter::Kind::kBattery: return Battery(path);
      case Meter::Kind::kHwmon:
      case Meter::Kind::kIna: return EndsWith(path, "sensor_W") ? Ina231(path) : Hwmon(path);
    }
    Invalid(meter.name, "not a meter");
  }

 private:
  std::unique_ptr<Part> Counted(const std::string& path, std::optional<double> range,
                                int64_t update_ns) const {
    auto part = std::make_unique<Counter>(sysfs_, path, range);
    part->update_ns = update_ns;
    part->poll_ns = kCounterPoll;
    part->span_ns = kCounterUpdates * update_ns;
    return part;
  }

  std::unique_ptr<Part> Sampled(Samples::Watts watts, int64_t update_ns) const {
    auto part = std::make_unique<Samples>(std::move(watts), now_ns_);
    part->update_ns = part->poll_ns = update_ns;
    part->span_ns = kSampleUpdates * update_ns;
    return part;
  }

  std::unique_ptr<Part> Powercap(const std::string& path) const {
    const std::string range = FolderOf(path) + "max_energy_range_uj";
    const auto most = sysfs_.Exists(range) ? std::optional(NumberIn(sysfs_, range)) : std::nullopt;
    return Counted(path, most, kPowercapUpdate);
  }

  std::unique_ptr<Part> Battery(const std::string& path) const {
    const std::string folder = FolderOf(path);
    if (!EndsWith(path, "power_now") && !EndsWith(path, "current_now"))
      Fail(Code::kFailedPrecondition, "/" + path,
           "the battery tells what is left, too coarse to measure with; expected its power_now, or "
           "current_now and voltage_now; try another meter");
    const auto watts = [&sysfs = sysfs_, path, folder] {
      const std::string status = sysfs.Line(folder + "status").value_or("Discharging");
      if (status != "Discharging")
        Fail(Code::kFailedPrecondition, "/" + folder + "status",
             "the battery's current is not what the machine takes; got '{}', expected "
             "'Discharging'; try without the charger",
             Printable(status.substr(0, 40)));
      if (EndsWith(path, "power_now")) return NumberIn(sysfs, path) * 1e-6;
      return NumberIn(sysfs, path) * NumberIn(sysfs, folder + "voltage_now") * 1e-12;
    };
    return Sampled(watts, kBatteryUpdate);
  }

  std::unique_ptr<Part> Ina231(const std::string& path) const {
    const auto period_us = sysfs_.Number(FolderOf(path) + "update_period", kMostUpdateMs * 1000);
    const int64_t update_ns = period_us.value_or(0) > 0 ? *period_us * 1000 : kIna231Update;
    return Sampled([&sysfs = sysfs_, path] { return NumberIn(sysfs, path); }, update_ns);
  }

  // The units are: power1_input in microwatts, energy1_input in microjoules, curr1_input in milliamperes with
  // in1_input in millivolts.
  std::unique_ptr<Part> Hwmon(const std::string& path) const {
    const std::string folder = FolderOf(path), file = path.substr(folder.size());
    const auto interval_ms = sysfs_.Number(folder + "update_interval", kMostUpdateMs);
    const int64_t update_ns = interval_ms.value_or(0) > 0 ? *interval_ms * kMs : kHwmonUpdate;
    if (file.starts_with("energy")) return Counted(path, std::nullopt, update_ns);
    if (file.starts_with("power"))
      return Sampled([&sysfs = sysfs_, path] { return NumberIn(sysfs, path) * 1e-6; }, update_ns);
    const std::string volts = folder + "in" + file.substr(std::string("curr").size());
    return Sampled(
        [&sysfs = sysfs_, path, volts] { return NumberIn(sysfs, path) * NumberIn(sysfs, volts) * 1e-6; },
        update_ns);
  }

  Sysfs& sysfs_;
  const int64_t now_ns_;
};

class ReadMeter : public EnergyMeter {
 public:
  ReadMeter(const std::string& root, const std::vector<Meter>& meters, EnergyClock clock)
      : sysfs_(root), clock_(std::move(clock)), start_ns_(clock_()) {
    if (meters.empty()) Invalid("energy", "no meter to read");
    const PartMaker maker(sysfs_, start_ns_);
    for (const Meter& meter : meters) {
      parts_.push_back(maker.Make(meter));
      name_ += fmt::format("{}{} {}", name_.empty() ? "" : " + ", Name(meter.kind), meter.name);
      update_ns_ = std::max(update_ns_, parts_.back()->update_ns);
      poll_ns_ = std::min(poll_ns_, parts_.back()->poll_ns);
      span_ns_ = std::max(span_ns_, parts_.back()->span_ns);
    }
  }

  EnergyReading Read() override {
    const int64_t now_ns = clock_();
    EnergyReading reading{0, now_ns - start_ns_, name_};
    for (const auto& part : parts_) reading.joules += part->Joules(now_ns);
    return reading;
  }
  int64_t update_ns() const override { return update_ns_; }
  int64_t poll_ns() const override { return poll_ns_; }
  int64_t span_ns() const override { return span_ns_; }

 private:
  Sysfs sysfs_;
  const EnergyClock clock_;
  const int64_t start_ns_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::string name_;
  int64_t update_ns_ = 0, poll_ns_ = INT64_MAX, span_ns_ = 0;
};

}  // namespace

std::unique_ptr<EnergyMeter> OpenMeter(const std::string& root, const std::vector<Meter>& meters,
                                       EnergyClock clock) {
  return std::make_unique<ReadMeter>(root, meters, std::move(clock));
}

ModelMeter::ModelMeter(const MachineFile& file, EnergyClock clock)
    : file_(file),
      clock_(std::move(clock)),
      start_ns_(clock_()),
      settled_ns_(start_ns_),
      awake_(file.clusters.size(), false) {}

void ModelMeter::Settle() {
  const int64_t now_ns = clock_();
  for (size_t c = 0; c < awake_.size(); ++c)
    if (awake_[c]) joules_ += file_.clusters[c].idle_w.value * double(now_ns - settled_ns_) * 1e-9;
  settled_ns_ = now_ns;
}

void ModelMeter::Wake(size_t cluster) {
  Settle();
  awake_.at(cluster) = true;
}

void ModelMeter::LetSleep(size_t cluster) {
  Settle();
  awake_.at(cluster) = false;
}

void ModelMeter::Busy(size_t cluster, double mhz, int64_t core_ns) {
  joules_ += file_.clusters.at(cluster).active_watts(mhz) * double(core_ns) * 1e-9;
}

EnergyReading ModelMeter::Read() {
  Settle();
  return {joules_, settled_ns_ - start_ns_, "model of " + file_.machine.name};
}

}  // namespace mete
