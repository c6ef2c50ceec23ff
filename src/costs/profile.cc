#include "costs/profile.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <filesystem>

#include "base/error.h"
#include "base/json.h"
#include "base/problems.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "mete-profile";
constexpr int kVersion = 4;
// Bounds for the figures of a file.
constexpr size_t kMostClusters = 64, kMostKernels = 1000, kMostThings = 1000;
constexpr double kMostNs = 1e12, kMostBytes = 1e12;

// Reads a count or a core's number.
int Count(const Json& j, const char* what) {
  const double number = j.get<double>();
  if (!(number >= 0 && number <= INT_MAX))
    Invalid(what, "out of range; got {}, expected 0 to {}", number, INT_MAX);
  return int(number);
}

Json FitJson(const Fit& fit) {
  return {{"samples", fit.samples},
          {"within_10_percent", fit.within},
          {"spread", fit.spread},
          {"things", fit.things},
          {"ns", fit.ns}};
}

Fit FitFromJson(const Json& j) {
  Fit fit;
  fit.samples = Count(j.at("samples"), "samples");
  fit.within = j.at("within_10_percent").get<double>();
  fit.spread = j.at("spread").get<double>();
  fit.things = j.at("things").get<std::vector<std::string>>();
  std::sort(fit.things.begin(), fit.things.end());
  fit.ns = j.at("ns").get<std::map<std::string, double>>();
  return fit;
}

Json ClusterJson(const ClusterProfile& c) {
  Json j{{"cluster", c.cluster},
         {"cores", c.cores},
         {"near_bytes", c.caches.near_bytes},
         {"last_bytes", c.caches.last_bytes},
         {"reference_ns", c.reference_ns},
         {"khz", c.khz},
         {"governor", c.governor},
         {"celsius", c.celsius},
         {"kernels", Json::object()}};
  for (const auto& [kernel, fit] : c.kernels) j["kernels"][kernel] = FitJson(fit);
  return j;
}

ClusterProfile ClusterFromJson(const Json& j) {
  ClusterProfile c;
  c.cluster = j.at("cluster").get<std::string>();
  for (const Json& core : List(j.at("cores"), "profile", "cores")) c.cores.push_back(Count(core, "cores"));
  c.caches = {j.at("near_bytes").get<double>(), j.at("last_bytes").get<double>()};
  c.reference_ns = j.at("reference_ns").get<double>();
  c.khz = Count(j.at("khz"), "khz");
  c.governor = j.at("governor").get<std::string>();
  c.celsius = j.at("celsius").get<double>();
  for (const auto& [kernel, fit] : Object(j.at("kernels"), "profile", "kernels").items())
    c.kernels[kernel] = FitFromJson(fit);
  return c;
}

Profile FromJson(const Json& j) {
  if (j.at("format") != kFormat || j.at("version") != kVersion)
    Invalid("format", "got another one, expected {}, version {}", kFormat, kVersion);
  Profile profile;
  profile.key = {j.at("cpu").get<std::string>(), j.at("target").get<std::string>(),
                 j.at("mete").get<std::string>(), j.at("sources").get<std::string>()};
  profile.seconds = j.at("seconds").get<double>();
  profile.take_ns = j.at("take_ns").get<double>();
  profile.barrier_ns = j.at("barrier_ns").get<double>();
  profile.wake_ns = j.at("wake_ns").get<double>();
  for (const Json& c : List(j.at("clusters"), "profile", "clusters"))
    profile.clusters.push_back(ClusterFromJson(c));
  return profile;
}

void Add(const std::string& where, const std::string& what, Problems& problems) {
  problems.Add(Error(Code::kInvalidArgument, "[" + where + "] " + what));
}

bool IsTime(double ns) { return ns >= 0 && ns <= kMostNs; }  // false for NaN

// Returns why the profile has no times of these cores; empty if it has them. Clusters are numbered as the
// process sees them: a process that may not use the cores of the first cluster calls the second one
// "cluster0". A profile of one core alone has no cost of handing work to another core.
std::string LackOf(const Profile& profile, const Cluster& cluster) {
  const ClusterProfile* measured = ProfileOf(profile, cluster.name);
  if (!measured) return fmt::format("it lacks {} of this machine", cluster.name);
  for (const int core : cluster.cores)
    if (std::find(measured->cores.begin(), measured->cores.end(), core) == measured->cores.end())
      return fmt::format("it was measured with other cores of {}; got {}, expected {} among them",
                         cluster.name, fmt::join(measured->cores, ","), core);
  return "";
}

void VerifyFit(const std::string& where, const Fit& fit, Problems& problems) {
  const auto add = [&](const std::string& what) { Add(where, what, problems); };
  if (fit.things.size() > kMostThings)
    add(fmt::format("things; got {}, expected {} at most", fit.things.size(), kMostThings));
  if (fit.ns.empty()) add("takes no time at all; expected some ns of one thing at least");
  if (!(fit.within >= 0 && fit.within <= 1))
    add(fmt::format("samples within 10 %; got a share of {}, expected 0 to 1", fit.within));
  if (!(fit.spread >= 0)) add(fmt::format("spread; got {}, expected 0 or more", fit.spread));
  for (const auto& [thing, ns] : fit.ns) {
    if (!IsTime(ns)) add(fmt::format("time of '{}'; got {} ns, expected 0 to {:.0e}", thing, ns, kMostNs));
    if (!std::binary_search(fit.things.begin(), fit.things.end(), thing))
      add(fmt::format("'{}' has a time and is not among the things", thing));
  }
}

void VerifyCluster(const ClusterProfile& c, Problems& problems) {
  const auto add = [&](const std::string& what) { Add(c.cluster, what, problems); };
  if (c.cores.empty()) add("no cores");
  for (const auto& [which, bytes] :
       {std::pair("near", c.caches.near_bytes), std::pair("last", c.caches.last_bytes)})
    if (!(bytes > 0 && bytes <= kMostBytes))
      add(fmt::format("bytes of the {} cache; got {}, expected more than 0", which, bytes));
  if (!IsTime(c.reference_ns)) add(fmt::format("reference; got {} ns", c.reference_ns));
  if (c.kernels.empty() || c.kernels.size() > kMostKernels)
    add(fmt::format("kernels; got {}, expected 1 to {}", c.kernels.size(), kMostKernels));
  for (const auto& [kernel, fit] : c.kernels) VerifyFit(c.cluster + ", " + kernel, fit, problems);
}

}  // namespace

const ClusterProfile* ProfileOf(const Profile& profile, const std::string& cluster) {
  const auto is_it = [&](const ClusterProfile& p) { return p.cluster == cluster; };
  const auto at = std::find_if(profile.clusters.begin(), profile.clusters.end(), is_it);
  return at == profile.clusters.end() ? nullptr : &*at;
}

void Verify(const Profile& profile) {
  Problems problems;
  if (profile.clusters.empty() || profile.clusters.size() > kMostClusters)
    Add("profile", fmt::format("clusters; got {}, expected 1 to {}", profile.clusters.size(), kMostClusters),
        problems);
  for (const double ns : {profile.take_ns, profile.barrier_ns, profile.wake_ns})
    if (!IsTime(ns))
      Add("profile", fmt::format("time of a take, a barrier or a wake-up; got {} ns", ns), problems);
  for (const ClusterProfile& c : profile.clusters) VerifyCluster(c, problems);
  problems.ThrowIfAny();
}

std::string WhyNot(const Profile& profile, const ProfileKey& key, const Machine& machine) {
  const auto differs = [](const char* what, const std::string& got, const std::string& expected) {
    return fmt::format("it is of another {}; got '{}', expected '{}'", what, got, expected);
  };
  if (profile.key.cpu != key.cpu) return differs("processor", profile.key.cpu, key.cpu);
  if (profile.key.target != key.target) return differs("instruction set", profile.key.target, key.target);
  if (profile.key.version != key.version) return differs("version of Mete", profile.key.version, key.version);
  if (profile.key.sources != key.sources)
    return "it is stale: the kernels have changed since it was measured";
  for (const Cluster& c : machine.clusters)
    if (const std::string lack = LackOf(profile, c); !lack.empty()) return lack;
  return "";
}

std::string ToJson(const Profile& profile) {
  Json j{{"format", kFormat},
         {"version", kVersion},
         {"cpu", profile.key.cpu},
         {"target", profile.key.target},
         {"mete", profile.key.version},
         {"sources", profile.key.sources},
         {"seconds", profile.seconds},
         {"take_ns", profile.take_ns},
         {"barrier_ns", profile.barrier_ns},
         {"wake_ns", profile.wake_ns},
         {"clusters", Json::array()}};
  for (const ClusterProfile& c : profile.clusters) j["clusters"].push_back(ClusterJson(c));
  return JsonText(j, 1) + "\n";
}

Profile ProfileFromJson(const std::string& text, const std::string& where) {
  try {
    const Profile profile = FromJson(ParseJson(text, "profile"));
    Verify(profile);
    return profile;
  } catch (const Json::exception& e) {
    Invalid(where, "damaged, or not a profile: {}; try \"mete profile\" to measure one", ReasonOf(e));
  } catch (const Error& e) {
    Invalid(where, "damaged, or not a profile: {}; try \"mete profile\" to measure one", e.what());
  }
}

std::string ProfileFile(const std::string& folder, const ProfileKey& key) {
  if (folder.empty()) return "";
  std::string name = fmt::format("{}-{}", key.cpu, key.target);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.') c = '-';
  return (std::filesystem::path(folder) / "profiles" / (name + ".json")).string();
}

}  // namespace mete
