// Prints a Machine as text for people and as JSON for programs.
#include <fmt/ranges.h>

#include "base/json.h"
#include "machine/core_list.h"
#include "machine/machine.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

Json FrequencyJson(const Frequency& f) {
  return {{"min_khz", f.min_khz},         {"max_khz", f.max_khz},   {"limit_khz", f.limit_khz},
          {"current_khz", f.current_khz}, {"governor", f.governor}, {"policies", f.policies}};
}

Json ClusterJson(const Cluster& c) {
  Json j{{"name", c.name},
         {"cores", c.cores},
         {"core", c.core},
         {"capacity", c.capacity},
         {"capacity_source", Name(c.capacity_source)},
         {"siblings", c.siblings},
         {"caches", Json::array()},
         {"frequency", FrequencyJson(c.frequency)}};
  for (const Cache& cache : c.caches)
    j["caches"].push_back({{"level", cache.level}, {"bytes", cache.bytes}, {"shared", cache.shared}});
  return j;
}

}  // namespace

const char* Name(CapacitySource source) {
  switch (source) {
    case CapacitySource::kEqual: return "taken as equal";
    case CapacitySource::kCpuCapacity: return "cpu_capacity";
    case CapacitySource::kHybridType: return "hybrid type";
    case CapacitySource::kMaxFrequency: return "max frequency";
    case CapacitySource::kFile: return "sustained f32";
  }
  return "?";
}

const char* Name(Meter::Kind kind) {
  switch (kind) {
    case Meter::Kind::kPowercap: return "powercap";
    case Meter::Kind::kBattery: return "battery";
    case Meter::Kind::kHwmon: return "hwmon";
    case Meter::Kind::kIna: return "ina";
  }
  return "?";
}

std::string ToText(const Machine& machine) {
  std::string out = fmt::format("{}, {} cores, {:.1f} GiB\n", machine.name, machine.cores(),
                                double(machine.memory_bytes) / (1 << 30));
  for (const Cluster& c : machine.clusters) {
    out += fmt::format("  {}: cores {}, capacity {:.3f} ({}), {} kHz", c.name, FormatCoreList(c.cores),
                       c.capacity, Name(c.capacity_source), c.frequency.max_khz);
    for (const Cache& cache : c.caches) out += fmt::format(", L{} {} KiB", cache.level, cache.bytes >> 10);
    out += "\n";
  }
  return out;
}

std::string CoresText(const Machine& machine, const std::vector<int>& cores) {
  std::vector<std::string> parts;
  for (size_t c = 0; c < cores.size(); ++c)
    if (cores[c] > 0) parts.push_back(fmt::format("{} {}", machine.clusters[c].name, cores[c]));
  return fmt::format("{}", fmt::join(parts, " + "));
}

std::string ToJson(const Machine& machine) {
  const Affinity& a = machine.affinity;
  Json j{{"name", machine.name},
         {"memory_bytes", machine.memory_bytes},
         {"clusters", Json::array()},
         {"affinity",
          {{"online", a.online},
           {"affinity", a.affinity},
           {"cpuset", a.cpuset},
           {"allowed", a.allowed},
           {"quota_cores", a.quota_cores}}},
         {"meters", Json::array()},
         {"notes", machine.notes}};
  for (const Cluster& c : machine.clusters) j["clusters"].push_back(ClusterJson(c));
  for (const Meter& m : machine.meters)
    j["meters"].push_back(
        {{"kind", Name(m.kind)}, {"name", m.name}, {"path", m.path}, {"readable", m.readable}});
  return JsonText(j, 2);
}

}  // namespace mete
