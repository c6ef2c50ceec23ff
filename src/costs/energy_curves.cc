#include "costs/energy_curves.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/json.h"
#include "base/problems.h"
#include "costs/estimate.h"
#include "machine/frequency_policy.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "mete energy curves 1";
constexpr size_t kMostClusters = 64;  // as for a machine file
// per cluster; this value is a guess: 20 frequencies x 64 cores x 8 rates are 10240
constexpr size_t kMostPoints = 100'000;
constexpr size_t kMostBytes = 64 << 20;    // this value is a guess: all these points as text
constexpr int64_t kMostKhz = 100'000'000;  // this value is a guess: 100 GHz
constexpr double kMostFigure = 1e9;        // GFLOP/s, watts and the like; this value is a guess
constexpr double kLeastFigure = 1e-9;      // this value is a guess; a quotient by it stays finite
// every number of cores up to this one has points, above it steps of a quarter, as in subsets.h
constexpr int kAllCounts = 8;

auto KeyOf(const EnergyPoint& p) { return std::tuple(p.khz, p.cores, p.flops_per_byte); }

bool IsPositive(double x) { return x >= kLeastFigure && x <= kMostFigure; }
bool IsFigure(double x) { return x == 0 || IsPositive(x); }

void VerifyPoint(const ClusterCurves& c, const EnergyPoint& p) {
  const bool good = p.khz >= 0 && p.khz <= kMostKhz && p.cores >= 1 && size_t(p.cores) <= c.cores.size() &&
                    IsPositive(p.flops_per_byte) && IsPositive(p.gflops) && IsPositive(p.watts);
  if (!good)
    Invalid(c.name,
            "not believed; got {} kHz, {} cores, {} flops a byte, {} GFLOP/s, {} W, expected figures above 0 "
            "and at most {} cores",
            p.khz, p.cores, p.flops_per_byte, p.gflops, p.watts, c.cores.size());
}

void VerifyCluster(const ClusterCurves& c) {
  if (c.cores.empty() || std::set(c.cores.begin(), c.cores.end()).size() != c.cores.size() ||
      c.cores.size() > size_t{kMostCores})
    Invalid(c.name, "the cores are wrong; expected at least one, and none twice");
  if (c.points.empty() || c.points.size() > kMostPoints)
    Invalid(c.name, "wrong number of points; got {}, expected 1 to {}", c.points.size(), kMostPoints);
  if (!IsFigure(c.node_us)) Invalid(c.name, "node_us is not believed; got {}", c.node_us);
  for (const EnergyPoint& p : c.points) VerifyPoint(c, p);
  const auto unsorted = [](const EnergyPoint& a, const EnergyPoint& b) { return KeyOf(a) >= KeyOf(b); };
  if (std::adjacent_find(c.points.begin(), c.points.end(), unsorted) != c.points.end())
    Invalid(c.name, "the points do not ascend by frequency, cores and rate");
}

Json ClusterJson(const ClusterCurves& c) {
  Json j{{"name", c.name}, {"cores", c.cores}, {"node_us", c.node_us}, {"points", Json::array()}};
  for (const EnergyPoint& p : c.points)
    j["points"].push_back({{"khz", p.khz},
                           {"cores", p.cores},
                           {"flops_per_byte", p.flops_per_byte},
                           {"gflops", p.gflops},
                           {"watts", p.watts}});
  return j;
}

ClusterCurves ClusterOf(const Json& j, const std::string& where) {
  ClusterCurves c{j.at("name"), {}, j.at("node_us"), {}};
  for (const Json& core : List(j.at("cores"), where, "cores"))
    c.cores.push_back(int(WholeNumber(core, where, "a core", 0, INT_MAX)));
  for (const Json& p : List(j.at("points"), where, "points"))
    c.points.push_back({WholeNumber(p.at("khz"), where, "khz", 0, kMostKhz),
                        int(WholeNumber(p.at("cores"), where, "cores", 1, kMostCores)),
                        p.at("flops_per_byte"), p.at("gflops"), p.at("watts")});
  return c;
}

// Adds the roofline's corner and a point far from it on each side.
void AddPoints(const ClusterFigures& figures, int64_t khz, int cores, std::vector<EnergyPoint>& points) {
  const double mhz = double(khz) * 1e-3, watts = figures.idle_w.value + cores * figures.active_watts(mhz);
  const double gflops =
      cores * figures.f32_gflops() * figures.compute_share.value * mhz / figures.max_mhz.value;
  const double corner = gflops / figures.gbytes_per_s.value;
  for (double rate : {corner / 8, corner, corner * 8})
    points.push_back({khz, cores, rate, std::min(gflops, rate * figures.gbytes_per_s.value), watts});
}

}  // namespace

void Verify(const EnergyCurves& curves) {
  Problems problems;
  const std::string where = "energy of " + Printable(curves.machine.substr(0, 40));
  if (curves.clusters.empty() || curves.clusters.size() > kMostClusters)
    Invalid(where, "wrong number of clusters; got {}, expected 1 to {}", curves.clusters.size(),
            kMostClusters);
  if (!IsFigure(curves.idle_watts) || !IsFigure(curves.gbytes_per_s))
    problems.Try(
        [&] { Invalid(where, "not believed; got {} W, {} GB/s", curves.idle_watts, curves.gbytes_per_s); });
  std::set<std::string> names;
  const auto check_text = [&](const std::string& text) {  // the text is later printed as it is
    if (Printable(text) == text) return;
    problems.Try(
        [&] { Invalid(where, "a text that cannot be printed; got '{}'", Printable(text.substr(0, 40))); });
  };
  check_text(curves.machine);
  check_text(curves.source);
  for (const ClusterCurves& c : curves.clusters) {
    check_text(c.name);
    if (!names.insert(c.name).second)
      problems.Try([&] { Invalid(where, "two clusters are called '{}'", Printable(c.name)); });
    problems.Try([&] { VerifyCluster(c); });
  }
  problems.ThrowIfAny();
}

std::string ToJson(const EnergyCurves& curves) {
  Json j{{"format", kFormat},
         {"machine", curves.machine},
         {"source", curves.source},
         {"idle_watts", curves.idle_watts},
         {"gbytes_per_s", curves.gbytes_per_s},
         {"clusters", Json::array()}};
  for (const ClusterCurves& c : curves.clusters) j["clusters"].push_back(ClusterJson(c));
  return JsonText(j, 1) + "\n";
}

EnergyCurves ParseEnergyCurves(std::string_view json, const std::string& where) {
  if (json.size() > kMostBytes)
    Invalid(where, "too long for energy curves; got {} bytes, expected {} at most", json.size(), kMostBytes);
  EnergyCurves curves;
  try {
    const Json j = ParseJson(json, where);
    if (j.at("format") != kFormat) Invalid(where, "not energy curves; expected the format '{}'", kFormat);
    curves = {j.at("machine"), j.at("source"), j.at("idle_watts"), j.at("gbytes_per_s"), {}};
    for (const Json& c : List(j.at("clusters"), where, "clusters"))
      curves.clusters.push_back(ClusterOf(c, where));
  } catch (const Json::exception& e) {
    Invalid(where, "not energy curves; {}", Printable(ReasonOf(e).substr(0, 100)));
  }
  try {
    Verify(curves);
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("[{}] not energy curves; {}", where, e.what()));
  }
  return curves;
}

EnergyCurves CurvesOf(const MachineFile& file) {
  EnergyCurves curves{file.machine.name,
                      "from the machine file's roofline and power model",
                      0,
                      file.memory_gbytes_per_s.value,
                      {}};
  for (size_t i = 0; i < file.clusters.size(); ++i) {
    const Cluster& cluster = file.machine.clusters[i];
    const ClusterFigures& figures = file.clusters[i];
    ClusterCurves c{cluster.name, FirstThreads(cluster), figures.barrier_us.value, {}};
    for (int64_t khz :
         SpreadKhz(std::llround(figures.min_mhz.value * 1e3), std::llround(figures.max_mhz.value * 1e3)))
      for (int cores : CoreCounts(int(c.cores.size()))) AddPoints(figures, khz, cores, c.points);
    curves.clusters.push_back(std::move(c));
  }
  Verify(curves);
  return curves;
}

std::vector<int> FirstThreads(const Cluster& cluster) {
  std::vector<int> cores;
  for (int core : cluster.cores) {
    const auto is_later = [&](const std::vector<int>& group) {
      const auto at = std::find(group.begin(), group.end(), core);
      return at != group.end() && at != group.begin();
    };
    if (std::none_of(cluster.siblings.begin(), cluster.siblings.end(), is_later)) cores.push_back(core);
  }
  return cores;
}

std::vector<int> CoreCounts(int cores) {
  std::vector<int> counts;
  for (int k = 1; k < cores; k += k < kAllCounts ? 1 : k / 4) counts.push_back(k);
  counts.push_back(cores);
  return counts;
}

}  // namespace mete
