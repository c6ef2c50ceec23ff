#include "engine/pool/stored_profile.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/new_file.h"
#include "base/open_problem.h"
#include "machine/core_list.h"
#include "machine/machine.h"
#include "mete/device.h"
#include "processor/cpu/stored_profile.h"
#include "processor/make/make_processor.h"

namespace mete {
namespace {

constexpr const char* kTry = "try mete profile MODEL --processors FILE, in C++ Pool::Measure()";

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) FailToOpen(path, errno);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

void WriteFile(const std::string& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  NewFile file(path);
  if (!file.made() || !file.Write(std::as_bytes(std::span(text))) || !file.RenameTo(path))
    Fail(Code::kUnavailable, path, "cannot write what was measured: {}; try another METE_CACHE",
         std::strerror(errno));
}

std::optional<PowerCosts> PowerOf(const DeviceInPool& device) {
  if (!device.power) return {};
  return PowerCostsOf(*device.power);
}

std::string KernelsText(const SessionOptions& kernels) {
  const ProfileKey key = KeyOf(ReadMachine());
  return fmt::format("\n{}\n{} {} {} {}", key.cpu, key.target, key.version, key.sources,
                     kernels.reference ? "reference" : "fast");
}

bool HasAllCores(const ProcessorEntry& entry) { return entry.has_cores && entry.cores.empty(); }

std::string ThreadsText(const SessionOptions& kernels) {
  return fmt::format("\n{} threads on {} at {}, {}", kernels.threads, FormatCoreList(kernels.cores),
                     fmt::join(kernels.speeds, ","), kernels.policy);
}

}  // namespace

// Everything that decides over times is a part of the name, except `tune`, for which `mete plan` has no flag,
// and the hardware of workers, which the profile itself has.
std::string PoolProfilePath(const std::string& digest, const PoolFile& file, const SessionOptions& kernels) {
  std::string pool = digest + KernelsText(kernels);
  const std::vector<ProcessorEntry>& here = file.devices[0].processors;
  if (here.empty() || std::any_of(here.begin(), here.end(), HasAllCores)) pool += ThreadsText(kernels);
  for (const DeviceInPool& device : file.devices) {
    pool += "\n" + device.name + " " + device.address;
    for (const ProcessorEntry& p : device.processors) {
      pool += fmt::format("\n  {} {} {}", p.name, FormatCoreList(p.cores), p.speed);
      if (p.kind != "cpu") pool += fmt::format(" {} {}", p.kind, p.timed_settings);
      if (device.address.empty()) pool += HardwareOf(p);
    }
  }
  const std::string cache = CacheFolder();
  if (cache.empty())
    Fail(Code::kFailedPrecondition, "profile",
         "there is no cache folder to keep it in; try setting METE_CACHE");
  return cache + "/pools/" + DigestOfText128(pool) + ".json";
}

bool KnowsPoolProfilePath(const PoolFile& file) {
  return std::all_of(file.devices.begin(), file.devices.end(), [](const DeviceInPool& device) {
    return !device.address.empty() ||
           std::all_of(device.processors.begin(), device.processors.end(), KnowsHardwareOf);
  });
}

std::optional<PoolProfile> StoredPoolProfile(const Graph& graph, const PoolFile& file,
                                             const SessionOptions& kernels,
                                             const std::function<void(const std::string&)>& note) {
  const std::string digest = DigestOfGraph(graph), path = PoolProfilePath(digest, file, kernels);
  if (!std::filesystem::exists(path)) return std::nullopt;
  const std::string text = ReadFile(path);
  try {
    PoolProfile profile = PoolProfileFromJson(text, path);
    if (profile.digest != digest ||
        profile.costs.processors.size() != NamesOf(AsMeasured(file, profile.costs)).size())
      return std::nullopt;
    return profile;
  } catch (const Error& error) {  // the file is broken, or of another version
    if (note) note(fmt::format("{} (it has to be measured again)", error.what()));
    return std::nullopt;
  }
}

PoolProfile NeededPoolProfile(const Graph& graph, const PoolFile& file, const SessionOptions& kernels,
                              const std::function<void(const std::string&)>& note) {
  std::optional<PoolProfile> profile = StoredPoolProfile(graph, file, kernels, note);
  if (!profile)
    Fail(Code::kFailedPrecondition, "processors", "this model was not measured on these processors; {}",
         kTry);
  return std::move(*profile);
}

std::string StorePoolProfile(const PoolProfile& profile, const PoolFile& file,
                             const SessionOptions& kernels) {
  const std::string path = PoolProfilePath(profile.digest, file, kernels);
  WriteFile(path, ToJson(profile) + "\n");
  return path;
}

PoolFile AsMeasured(PoolFile file, const PoolCosts& costs) {
  for (DeviceInPool& device : file.devices) {
    if (device.address.empty() || !device.processors.empty()) continue;
    for (const ProcessorCosts& processor : costs.processors)
      if (processor.memory && processor.memory->device == device.name)
        device.processors.push_back({.name = processor.name.substr(device.name.size() + 1)});
  }
  return file;
}

PoolCosts CostsOn(const PoolProfile& profile, const PoolFile& file) {
  PoolCosts costs = profile.costs;
  const PoolFile measured = AsMeasured(file, costs);
  const std::vector<std::string> units = UnitsOf(measured);
  for (size_t p = 0; p < units.size(); ++p) costs.processors[p].unit = units[p];
  size_t at = 0;
  for (const DeviceInPool& device : measured.devices) {
    if (device.processors.size() <= 1) costs.processors[at].power = PowerOf(device);
    at += std::max<size_t>(1, device.processors.size());
  }
  return costs;
}

}  // namespace mete
