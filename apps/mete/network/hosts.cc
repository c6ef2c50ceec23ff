#include "hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <limits>
#include <thread>

#include "base/error.h"
#include "checks.h"
#include "devices_figure.h"
#include "engine/model.h"
#include "installed_files.h"
#include "machine/devices_file.h"
#include "mete/device.h"
#include "network/keys/keys.h"
#include "passes/pass.h"
#include "plan/devices/named.h"
#include "processor/simulated/devices/estimate_pool.h"
#include "stopwatch.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

constexpr int kHellos = 5;  // of which the shortest counts: what is longer is others' doing

// How far weights are, until a session is made: not any more when it sends some again.
class FirstProgress {
 public:
  explicit FirstProgress(const Context& context)
      : progress_(std::make_unique<Progress>(context, "sending weights and preparing shares, KiB")) {}
  void Update(int64_t sent, int64_t all) {
    std::lock_guard lock(mutex_);
    if (progress_) progress_->Update(int(sent >> 10), int(all >> 10));
  }
  void End() {
    std::lock_guard lock(mutex_);
    progress_.reset();
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<Progress> progress_;
};

// A file for each graph on each list of devices.
std::string ProfilePath(const std::string& digest, const HostsFile& file) {
  std::string hosts = digest;
  for (const HostEntry& host : file.devices) hosts += "\n" + host.name + " " + host.address;
  const Digest name = DigestOfText(hosts);
  const std::string cache = CacheFolder();
  if (cache.empty())
    throw UsageError("[profile] there is no cache folder to keep it in; try setting METE_CACHE");
  return cache + "/devices/" + ToHex(name).substr(0, 32) + ".json";
}

const char* StateOf(Code code) {
  switch (code) {
    case Code::kUnavailable: return "no connection";
    case Code::kDeadlineExceeded: return "no answer";
    case Code::kFailedPrecondition: return "refuses";
    default: return "an error";
  }
}

// The first call connects, which is no round trip.
void AskHost(RemoteDevice& remote, std::chrono::milliseconds timeout, HostState& state) {
  try {
    state.hello = remote.Hello(timeout);
    state.round_trip_ms = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kHellos; ++i) {
      const Stopwatch watch;
      (void)remote.Hello(timeout);
      state.round_trip_ms = std::min(state.round_trip_ms, watch.ms());
    }
    state.state = "there";
  } catch (const Error& error) {
    state.state = StateOf(error.code());
    state.why_not = error.what();
  }
}

// What was measured, and the watts that the file has.
PoolCosts CostsOn(const PoolProfile& profile, const HostsFile& file) {
  PoolCosts costs = profile.costs;
  for (size_t d = 0; d < costs.devices.size(); ++d)
    if (const auto& power = file.devices[d].power)
      costs.devices[d].power =
          PowerCosts{power->idle_w.value, power->compute_w.value, power->sent_nj_per_byte.value * 1e-9,
                     power->received_nj_per_byte.value * 1e-9};
  return costs;
}

}  // namespace

Security ReadSecurity(const std::string& keys_folder, const std::string& token_file, const Context& context) {
  Security security;
  if (!keys_folder.empty()) {
    const KeyFiles keys = ReadKeys(keys_folder);
    for (const std::string& note : keys.notes) PrintNote(context, note);
    security = {keys.ca, keys.certificate, keys.key, ""};
  }
  if (!token_file.empty()) {
    security.token = ReadToken(token_file);
    if (const std::string note = NoteOfReaders(token_file); !note.empty()) PrintNote(context, note);
  }
  return security;
}

std::vector<std::unique_ptr<RemoteDevice>> OpenHosts(const HostsFile& file, const Context& context) {
  const Security security = ReadSecurity(file.keys, file.token, context);
  std::vector<std::unique_ptr<RemoteDevice>> remotes;
  for (const HostEntry& host : file.devices)
    remotes.push_back(host.address.empty()
                          ? nullptr
                          : std::make_unique<RemoteDevice>(RemoteAddress{host.name, host.address}, security));
  return remotes;
}

std::vector<HostState> AskHosts(const HostsFile& file, std::chrono::milliseconds timeout,
                                const Context& context) {
  const auto remotes = OpenHosts(file, context);
  std::vector<HostState> states(remotes.size());
  std::vector<std::thread> asking;
  for (size_t d = 0; d < remotes.size(); ++d) {
    states[d].host = file.devices[d];
    if (remotes[d]) asking.emplace_back([&, d] { AskHost(*remotes[d], timeout, states[d]); });
    else states[d].state = "this device", states[d].hello.version = METE_VERSION;
  }
  for (std::thread& thread : asking) thread.join();
  return states;
}

std::vector<std::string> NamesOf(const HostsFile& file) {
  std::vector<std::string> names;
  for (const HostEntry& host : file.devices) names.push_back(host.name);
  return names;
}

PoolProfile StoredPoolProfile(const Graph& graph, const HostsFile& file) {
  const std::string digest = DigestOfGraph(graph), path = ProfilePath(digest, file);
  if (!std::filesystem::exists(path))
    throw UsageError(
        "[--devices] nobody has measured this model on these devices; try mete profile MODEL --devices FILE");
  PoolProfile profile = PoolProfileFromJson(ReadTextFile(path), path);
  if (profile.digest != digest || profile.costs.devices.size() != file.devices.size())
    throw UsageError(
        "[--devices] what was measured is of another model; try mete profile MODEL --devices FILE");
  return profile;
}

std::string StorePoolProfile(const PoolProfile& profile, const HostsFile& file) {
  const std::string path = ProfilePath(profile.digest, file);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  WriteTextFile(path, ToJson(profile) + "\n");
  return path;
}

PoolCosts MeasuredCosts(const Graph& graph, const HostsFile& file) {
  return CostsOn(StoredPoolProfile(graph, file), file);
}

std::unique_ptr<DevicesSession> MakeDevicesSession(const Model& model, const ModelFlags& model_flags,
                                                   const HostsFlags& flags, const Context& context) {
  CheckCancelled(context);
  CheckCores(model_flags);
  const HostsFile file = ReadHostsFile(flags.file);
  const Graph& graph = GraphOf(model);
  const PoolCosts costs = MeasuredCosts(graph, file);
  DevicesSessionOptions options;
  options.session = SessionOptionsOf(model_flags);
  options.deploy.coding = CodingOf(flags.transfer);
  options.deploy.lanes = flags.lanes;
  if (!model_flags.objective.empty()) options.objective = ParseDevicesObjectiveFlag(model_flags.objective);
  else if (flags.lanes > 1) options.objective = DevicesObjective::kThroughput;
  if (options.objective == DevicesObjective::kEnergy) CheckPower(costs);
  if (!model_flags.objective.empty() && options.objective != DevicesObjective::kLatency &&
      flags.planner != "dynamic" && flags.planner != "alone")
    throw UsageError(
        fmt::format("[--planner] {} plans for latency alone; got --objective {}, try --planner dynamic",
                    flags.planner, model_flags.objective));
  options.planner = flags.planner;
  options.deadline_ms = flags.deadline_ms;
  options.remake = options.trial = !flags.keep_plan;
  options.cancel = context.cancel;
  options.tell = [&context](const std::string& note) { PrintNote(context, note); };
  // the session's thread may send weights again much later
  const auto shown = std::make_shared<FirstProgress>(context);
  options.progress = [shown](const std::string&, int64_t sent, int64_t all) { shown->Update(sent, all); };
  auto session = std::make_unique<DevicesSession>(graph, costs, OpenHosts(file, context), options);
  shown->End();
  return session;
}

namespace {

class OverHosts : public SessionOverDevices {
 public:
  explicit OverHosts(std::unique_ptr<DevicesSession> session) : session_(std::move(session)) {}
  std::vector<Tensor> Run(const std::vector<Tensor>& inputs) override { return session_->Run(inputs); }
  Session& alone() override { return session_->alone(); }
  DevicesPlan plan() const override { return session_->plan(); }

 private:
  std::unique_ptr<DevicesSession> session_;
};

}  // namespace

std::unique_ptr<SessionOverDevices> MakeSessionOverDevices(const Model& model, const ModelFlags& model_flags,
                                                           const HostsFlags& flags, const Context& context) {
  return std::make_unique<OverHosts>(MakeDevicesSession(model, model_flags, flags, context));
}

}  // namespace mete::cli
