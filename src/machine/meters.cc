#include "machine/meters.h"

#include <algorithm>
#include <string_view>

namespace mete {
namespace {

constexpr size_t kMostMeters = 256;  // this value is a guess: a server with several sockets has some tens

// Returns whether a file of hwmon has a measured value of `quantity`: power1_input or power1_average.
bool Measures(std::string_view file, std::string_view quantity) {
  if (file.substr(0, quantity.size()) != quantity) return false;
  const std::string_view rest = file.substr(quantity.size());
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  return digits > 0 && (rest.substr(digits) == "_input" || rest.substr(digits) == "_average");
}

class Meters {
 public:
  explicit Meters(Sysfs& sysfs) : sysfs_(sysfs) {}

  // Adds the first of `files` that the folder has.
  void AddFirst(Meter::Kind kind, const std::string& name, const std::string& folder,
                std::initializer_list<const char*> files) {
    for (const char* file : files)
      if (sysfs_.Exists(folder + file)) return Add(kind, name, folder + file);
  }

  void Add(Meter::Kind kind, const std::string& name, const std::string& path) {
    if (found_.size() < kMostMeters) found_.push_back({kind, name, "/" + path, sysfs_.Readable(path)});
  }

  std::string NameOr(const std::string& path, const std::string& otherwise) {
    const auto name = sysfs_.Line(path);
    return name && !name->empty() ? *name : otherwise;
  }

  // Adds the zones of RAPL and their parts: package, core, dram.
  void ReadPowercap() {
    const std::string folder = "sys/class/powercap/";
    for (const std::string& zone : sysfs_.Folder(folder))
      AddFirst(Meter::Kind::kPowercap, NameOr(folder + zone + "/name", zone), folder + zone + "/",
               {"energy_uj"});
  }

  void ReadBatteries() {
    const std::string folder = "sys/class/power_supply/";
    for (const std::string& supply : sysfs_.Folder(folder))
      if (sysfs_.Line(folder + supply + "/type") == "Battery")
        AddFirst(Meter::Kind::kBattery, supply, folder + supply + "/",
                 {"power_now", "current_now", "energy_now", "charge_now"});
  }

  // Adds the sensors of a chip with files such as power1_input. TI's INA have power too, except those with
  // three channels, which have only currents.
  void ReadHwmon(const std::string& folder) {
    const std::string name = NameOr(folder + "name", folder);
    const Meter::Kind kind = name.rfind("ina", 0) == 0 ? Meter::Kind::kIna : Meter::Kind::kHwmon;
    const std::vector<std::string> files = sysfs_.Folder(folder);
    const size_t before = found_.size();
    AddOfKind(kind, name, folder, files, {"power", "energy"});
    if (kind == Meter::Kind::kIna && found_.size() == before) AddOfKind(kind, name, folder, files, {"curr"});
  }

  // Adds the INA231 sensors of the Odroid-XU3, whose driver has its own folder and file names.
  void ReadIna231() {
    const std::string folder = "sys/bus/i2c/drivers/INA231/";
    for (const std::string& chip : sysfs_.Folder(folder))
      AddFirst(Meter::Kind::kIna, NameOr(folder + chip + "/sensor_name", chip), folder + chip + "/",
               {"sensor_W"});
  }

  std::vector<Meter> found() && { return std::move(found_); }

 private:
  void AddOfKind(Meter::Kind kind, const std::string& name, const std::string& folder,
                 const std::vector<std::string>& files, std::initializer_list<std::string_view> quantities) {
    for (const std::string& file : files) {
      if (std::none_of(quantities.begin(), quantities.end(),
                       [&](std::string_view q) { return Measures(file, q); }))
        continue;
      const std::string label = NameOr(folder + file.substr(0, file.find('_')) + "_label", "");
      Add(kind, label.empty() ? name : name + " " + label, folder + file);
    }
  }

  Sysfs& sysfs_;
  std::vector<Meter> found_;
};

}  // namespace

std::vector<Meter> ReadMeters(Sysfs& sysfs) {
  Meters meters(sysfs);
  meters.ReadPowercap();
  meters.ReadBatteries();
  for (const std::string& chip : sysfs.Folder("sys/class/hwmon"))
    meters.ReadHwmon("sys/class/hwmon/" + chip + "/");
  meters.ReadIna231();
  std::vector<Meter> found = std::move(meters).found();
  const auto closed = std::count_if(found.begin(), found.end(), [](const Meter& m) { return !m.readable; });
  if (found.empty())
    sysfs.Note("no energy meter; looked for in powercap, power_supply, hwmon and INA231 below /sys");
  if (closed > 0)
    sysfs.Note(std::to_string(closed) + " of " + std::to_string(found.size()) +
               " energy meters cannot be read by this user");
  return found;
}

}  // namespace mete
