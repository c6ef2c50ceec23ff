// Chooses the meters whose sum is the power of the machine.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "machine/energy.h"
#include "machine/meters.h"

namespace mete {
namespace {

using Meters = std::vector<Meter>;

// Returns the zone of a meter: "intel-rapl:0:2" for /sys/class/powercap/intel-rapl:0:2/energy_uj.
std::string ZoneOf(const Meter& meter) {
  const std::string folder = meter.path.substr(0, meter.path.rfind('/'));
  return folder.substr(folder.rfind('/') + 1);
}

std::string ControlType(const Meter& meter) {
  const std::string zone = ZoneOf(meter);
  return zone.substr(0, zone.find(':'));
}

template <class F>
Meters Those(const Meters& meters, F&& are) {
  Meters some;
  std::copy_if(meters.begin(), meters.end(), std::back_inserter(some), are);
  return some;
}

// Returns the zones of `all` that no other zone contains. The folder of the memory's zone lies below that of
// its package, but the package's counter does not include the memory (Intel's manual, volume 3, RAPL
// domains). "psys" counts the whole platform although its folder lies beside those of the packages.
Meters Outermost(const Meters& all) {
  const bool packages =
      std::any_of(all.begin(), all.end(), [](const Meter& m) { return m.name.starts_with("package"); });
  return Those(all, [&](const Meter& m) {
    if (m.name == "psys") return !packages;
    const std::string zone = ZoneOf(m);
    const auto contains_it = [&](const Meter& other) { return zone.starts_with(ZoneOf(other) + ":"); };
    return m.name == "dram" || std::none_of(all.begin(), all.end(), contains_it);
  });
}

// Returns the powercap zones of the first control type only: intel-rapl-mmio, where present, shows the
// counters of intel-rapl a second time.
Meters Powercap(const Meters& readable) {
  const Meters all = Those(readable, [](const Meter& m) { return m.kind == Meter::Kind::kPowercap; });
  if (all.empty()) return {};
  std::string control = ControlType(all[0]);
  for (const Meter& m : all) control = std::min(control, ControlType(m));
  return Outermost(Those(all, [&](const Meter& m) { return ControlType(m) == control; }));
}

std::string Names(const Meters& meters) {
  std::vector<std::string> names;
  for (const Meter& m : meters) names.push_back("'" + m.name + "'");
  return fmt::format("{}", fmt::join(names, ", "));
}

Meters Named(const Meters& found, const std::vector<std::string>& names) {
  Meters chosen;
  for (const std::string& name : names) {
    const auto is_named = [&](const Meter& m) { return m.name == name || m.path == name; };
    const auto same = std::find_if(found.begin(), found.end(), is_named);
    if (same == found.end())
      Fail(Code::kFailedPrecondition, "energy", "no such meter; got '{}', expected some of {}", name,
           found.empty() ? "none" : Names(found));
    if (!same->readable)
      Fail(Code::kFailedPrecondition, same->path, "this user may not read the meter; try as root");
    if (const auto other = std::find_if(same + 1, found.end(), is_named); other != found.end())
      Fail(Code::kFailedPrecondition, "energy", "several meters are called '{}'; try their files, {} or {}",
           name, same->path, other->path);
    if (std::any_of(chosen.begin(), chosen.end(), [&](const Meter& m) { return m.path == same->path; }))
      Fail(Code::kFailedPrecondition, "energy",
           "the meter '{}' is named twice, and would count twice; try it once", name);
    chosen.push_back(*same);
  }
  return chosen;
}

[[noreturn]] void FailWithout(const Meters& found, const Meters& readable) {
  if (found.empty())
    Fail(Code::kFailedPrecondition, "energy",
         "this machine shows no energy meter; looked for one in {}; try "
         "'mete simulate MODEL --machine FILE --objective energy', which needs only a machine file",
         fmt::join(kMeterFolders, ", "));
  if (readable.empty())
    Fail(Code::kFailedPrecondition, found[0].path,
         "this user may not read any of the {} energy meters ({}); try as root", found.size(), Names(found));
  Fail(Code::kFailedPrecondition, "energy",
       "which of the meters add up to what the machine takes is not known; got {}; try --meter NAME",
       Names(readable));
}

}  // namespace

std::vector<Meter> ChooseMeters(const std::vector<Meter>& found, const std::vector<std::string>& names) {
  if (!names.empty()) return Named(found, names);
  const Meters readable = Those(found, [](const Meter& m) { return m.readable; });
  if (const Meters zones = Powercap(readable); !zones.empty()) return zones;
  const Meters ina = Those(readable, [](const Meter& m) { return m.kind == Meter::Kind::kIna; });
  const Meters rails = Those(ina, [](const Meter& m) { return m.path.ends_with("/sensor_W"); });
  if (!rails.empty()) return rails;
  if (ina.size() == 1) return ina;
  const Meters batteries = Those(readable, [](const Meter& m) { return m.kind == Meter::Kind::kBattery; });
  if (ina.empty() && batteries.size() == 1) return batteries;
  FailWithout(found, readable);
}

}  // namespace mete
