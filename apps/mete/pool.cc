#include "pool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>

#include "checks.h"
#include "pool_figure.h"
#include "engine/model.h"
#include "installed_files.h"
#include "machine/core_list.h"
#include "machine/devices_file.h"
#include "machine/machine.h"
#include "mete/device.h"
#include "passes/pass.h"
#include "plan/pool/named.h"
#include "processor/cpu/cpu.h"
#include "processor/make/make_processor.h"
#include "run/local_member.h"
#include "simulate/pool/estimate_pool.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {

CLI::Option* AddPoolFlags(CLI::App& command, PoolFlags& flags) {
  CLI::Option* file =
      command
          .add_option(
              "--processors", flags.processors,
              "run on these processors together: a list such as cpu:0,cpu:1, or a file of devices and "
              "processors")
          ->type_name("LIST|FILE")
          ->group("Devices");
  command
      .add_option("--transfer", flags.transfer,
                  "how floats travel between processors; of f16 and u8 the error is reported")
      ->type_name("f32|f16|u8")
      ->check(OneOf({"f32", "f16", "u8"}))
      ->capture_default_str()
      ->needs(file)
      ->group("Devices");
  command
      .add_option("--deadline", flags.deadline_ms,
                  "of a request: late processors are given up in time to compute it here")
      ->type_name("MS")
      ->check(Between(0.001, 1e9))
      ->needs(file)
      ->group("Devices");
  command.add_option("--planner", flags.planner, "who plans: dynamic (ours), or others to compare with")
      ->type_name("NAME")
      ->check(OneOf(PoolPlanners()))
      ->capture_default_str()
      ->needs(file)
      ->group("Devices");
  command
      .add_flag("--keep-plan", flags.keep_plan,
                "use the planner's plan as it is: no trial before, no other plan later where processors are "
                "faster or slower than their costs")
      ->needs(file)
      ->group("Devices");
  // They are of a session of this device alone.
  for (const char* other : {"--explain", "--profile", "--trace", "--plan", "--save-plan"})
    file->excludes(command.get_option(other));
  return file;
}

ModelFlags Divisible(ModelFlags flags) {
  for (const std::string& name : PassesBehindDivision()) flags.disabled_passes.push_back(name);
  return flags;
}

Model LoadDivisible(const ModelFlags& flags, const Context& context, double* load_ms,
                    const std::map<std::string, Shape>& tensors) {
  return LoadModel(Divisible(flags), context, load_ms, tensors);
}

PoolOfFile PoolCostsOf(const Graph& graph, const std::string& name, const Context& context) {
  const std::string path = IsProcessorList(name) ? "" : FindBoard(name, "--processors");
  if (path.empty() || IsPoolFile(path)) {
    const PoolFile file = ThoseThatCan(PoolFor(path.empty() ? name : path), graph, &context);
    const PoolCosts costs = MeasuredCosts(graph, file);
    const bool power = std::any_of(costs.processors.begin(), costs.processors.end(),
                                   [](const ProcessorCosts& d) { return d.power.has_value(); });
    return {file.name,
            fmt::format("Times of layers, each by itself, and the links' figures are those that mete profile "
                        "has measured.{}",
                        power ? " Watts are the file's." : ""),
            "", costs};
  }
  const DevicesFile file = ReadDevicesFile(path);
  return {file.name,
          "Nothing here was measured. Estimates: the time of every layer on each device, a roofline of its "
          "machine file's figures; and "
          "the links' figures, as the devices file says.",
          "all times of layers, and the links' figures", EstimatePool(graph, file)};
}

double LargestDifference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double apart = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].type() != b[i].type() || a[i].shape() != b[i].shape()) return INFINITY;
    if (a[i].type() != DType::kF32) continue;
    double difference = 0, largest = 0;
    for (int64_t k = 0; k < a[i].elements(); ++k) {
      difference = std::max(difference, std::abs(double(a[i].as<float>()[k]) - double(b[i].as<float>()[k])));
      largest = std::max(largest, std::abs(double(b[i].as<float>()[k])));
    }
    apart = std::max(apart, largest > 0 ? difference / largest : difference);
  }
  return std::isnan(apart) ? INFINITY : apart;
}

std::string PlanText(const Plan& plan) {
  std::string text;
  for (const PlannedGroup& group : plan.groups) {
    if (group.first == group.last) continue;  // values move alone
    std::string processors;
    for (const Share& share : group.shares)
      processors += (processors.empty() ? "" : "+") + plan.processors[size_t(share.processor)];
    const bool one = group.last - group.first == 1;
    text += fmt::format("{}{} on {}", text.empty() ? "" : ", ",
                        one ? fmt::format("layer {}", group.last)
                            : fmt::format("layers {} to {}", group.first + 1, group.last),
                        processors);
  }
  return text;
}

namespace {

bool HasWorkers(const PoolFile& file) {
  return std::any_of(file.devices.begin(), file.devices.end(),
                     [](const DeviceInPool& device) { return !device.address.empty(); });
}

}  // namespace

PoolFile PoolFor(const std::string& processors) {
  if (!IsProcessorList(processors)) {
    PoolFile file = ReadPoolFile(processors);
    if (HasWorkers(file)) CheckReachesWorkers();
    return file;
  }
  try {
    return PoolOfList(processors);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

namespace {

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

// One file for each graph on each pool, by all that decides over times.
std::string ProfilePath(const std::string& digest, const PoolFile& file) {
  std::string pool = digest;
  for (const DeviceInPool& device : file.devices) {
    pool += "\n" + device.name + " " + device.address;
    for (const ProcessorEntry& p : device.processors) {
      pool += fmt::format("\n  {} {} {}", p.name, FormatCoreList(p.cores), p.speed);
      if (const auto& e = p.emulation)
        pool += fmt::format(" {} {} {} {} {}", e->launch_us, e->map_us, e->map_us_per_mib, e->wake_us,
                            fmt::join(e->lacks, ","));
    }
  }
  const std::string cache = CacheFolder();
  if (cache.empty())
    throw UsageError("[profile] there is no cache folder to keep it in; try setting METE_CACHE");
  return cache + "/pools/" + DigestOfText128(pool) + ".json";
}

std::optional<PowerCosts> PowerOf(const DeviceInPool& device) {
  if (!device.power) return {};
  return PowerCosts{device.power->idle_w.value, device.power->compute_w.value,
                    device.power->sent_nj_per_byte.value * 1e-9,
                    device.power->received_nj_per_byte.value * 1e-9};
}

// What was measured, and the watts that the file has of devices with one processor.
PoolCosts CostsOn(const PoolProfile& profile, const PoolFile& file) {
  PoolCosts costs = profile.costs;
  size_t at = 0;
  for (const DeviceInPool& device : file.devices) {
    if (device.processors.size() <= 1) costs.processors[at].power = PowerOf(device);
    at += std::max<size_t>(1, device.processors.size());
  }
  return costs;
}

std::string DescribeProcessors(const PoolFile& file) {
  return fmt::format("{} processors", NamesOf(file).size());
}

// Measures the model on processors of this device where nobody has, and keeps what was measured.
PoolCosts CostsFor(const Graph& graph, const PoolFile& file, const OpenPool& pool, const Context& context) {
  if (HasWorkers(file) || std::filesystem::exists(ProfilePath(DigestOfGraph(graph), file)))
    return MeasuredCosts(graph, file);
  Progress progress(context, "measuring the model's layers on " + DescribeProcessors(file));
  PoolProfileOptions options;
  options.cancel = context.cancel;
  options.progress = [&](const std::string&, int done, int total) { progress.Update(done, total); };
  const PoolProfile profile =
      ProfilePool(graph, NamesOf(file), *pool.home, PointersTo(pool.members), options);
  StorePoolProfile(profile, file);
  return CostsOn(profile, file);
}

}  // namespace

OpenPool Open(const PoolFile& file, const ModelFlags& flags, const Context& context) {
  CheckCores(file, ReadMachine().affinity.allowed);
  std::vector<std::shared_ptr<Processor>> here;
  for (const ProcessorEntry& entry : file.devices[0].processors)
    here.push_back(MakeProcessor(entry, SessionOptionsOf(flags)));
  if (here.empty()) here.push_back(std::make_shared<Cpu>(file.devices[0].name, SessionOptionsOf(flags)));
  OpenPool pool;
  pool.home = here[0];
  pool.members.push_back(nullptr);
  for (size_t i = 1; i < here.size(); ++i) pool.members.push_back(std::make_unique<LocalMember>(here[i]));
  if (HasWorkers(file))
    for (auto& worker : OpenWorkers(file, context)) pool.members.push_back(std::move(worker));
  return pool;
}

std::vector<Member*> PointersTo(const std::vector<std::unique_ptr<Member>>& members) {
  std::vector<Member*> all;
  for (const auto& member : members) all.push_back(member.get());
  return all;
}

PoolProfile StoredPoolProfile(const Graph& graph, const PoolFile& file) {
  const std::string digest = DigestOfGraph(graph), path = ProfilePath(digest, file);
  if (!std::filesystem::exists(path))
    throw UsageError(
        "[--processors] nobody has measured this model on these processors; try mete profile MODEL "
        "--processors FILE");
  PoolProfile profile = PoolProfileFromJson(ReadTextFile(path), path);
  if (profile.digest != digest || profile.costs.processors.size() != NamesOf(file).size())
    throw UsageError(
        "[--processors] what was measured is of another model; try mete profile MODEL --processors FILE");
  return profile;
}

std::string StorePoolProfile(const PoolProfile& profile, const PoolFile& file) {
  const std::string path = ProfilePath(profile.digest, file);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  WriteTextFile(path, ToJson(profile) + "\n");
  return path;
}

PoolCosts MeasuredCosts(const Graph& graph, const PoolFile& file) {
  return CostsOn(StoredPoolProfile(graph, file), file);
}

PoolFile ThoseThatCan(PoolFile file, const Graph& graph, const Context* context) {
  std::vector<ProcessorEntry>& here = file.devices[0].processors;
  const auto why_not = [&](const ProcessorEntry& entry) -> std::string {
    const std::shared_ptr<Processor> processor = MakeProcessor(entry, SessionOptions::Estimated());
    for (const Node& node : graph.nodes)
      if (const std::string why = processor->WhyNot(graph, node); !why.empty())
        return fmt::format("node {}: {}", node.name, why);
    return "";
  };
  for (size_t i = here.size(); i-- > 0;) {
    const std::string why = why_not(here[i]);
    if (why.empty()) continue;
    if (i == 0)
      throw Error(
          Code::kUnimplemented,
          fmt::format("[{}] is the home and cannot compute the model; {}; try another processor as the first",
                      here[i].name, why));
    if (context) PrintNote(*context, fmt::format("{} is left out: {}", here[i].name, why));
    here.erase(here.begin() + ptrdiff_t(i));
  }
  return file;
}

std::unique_ptr<PoolSession> MakePoolSession(const Model& model, const ModelFlags& model_flags,
                                             const PoolFlags& flags, const Context& context) {
  CheckCancelled(context);
  CheckCores(model_flags);
  const Graph& graph = GraphOf(model);
  const PoolFile file = ThoseThatCan(PoolFor(flags.processors), graph, &context);
  OpenPool pool = Open(file, model_flags, context);
  const PoolCosts costs = CostsFor(graph, file, pool, context);
  PoolSessionOptions options;
  options.deploy.coding = CodingOf(flags.transfer);
  options.deploy.lanes = flags.lanes;
  if (!model_flags.objective.empty()) options.objective = ParsePoolObjectiveFlag(model_flags.objective);
  else if (flags.lanes > 1) options.objective = PoolObjective::kThroughput;
  if (options.objective == PoolObjective::kEnergy) CheckPower(costs);
  if (!model_flags.objective.empty() && options.objective != PoolObjective::kLatency &&
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
  auto session = std::make_unique<PoolSession>(graph, costs, pool.home, std::move(pool.members), options);
  shown->End();
  return session;
}

}  // namespace mete::cli
