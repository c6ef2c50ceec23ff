#include "site_cut.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "engine/model.h"
#include "engine/pool/pool_internals.h"
#include "engine/pool/stored_profile.h"
#include "plan/site/cut_model.h"
#include "processor/cpu/cpu.h"
#include "processor/make/make_processor.h"
#include "pool.h"
#include "terminal.h"

namespace mete::cli {
namespace {

const std::vector<std::string> kProcessors{"device", "server"};
constexpr int kServer = 1;
// Guess: the worker's report follows its last piece at once.
constexpr std::chrono::milliseconds kReport{500};
// Until the weights are there and all kernels are chosen, once for a model. Guess: VGG-19 over 10 Mbit/s.
constexpr std::chrono::minutes kFirstTime{10};
constexpr double kMostPatienceMs = 30e3;  // guess: as a worker is waited for that is asked what it lacks

// Ends what is under way with a worker at a time, unless this object goes before.
class GiveUpAt {
 public:
  GiveUpAt(Member& worker, serve::Deadline deadline)
      : thread_([this, &worker, deadline](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          const bool goes = changed_.wait_until(lock, stop, deadline, [&] { return stop.stop_requested(); });
          if (!goes && !stop.stop_requested()) worker.Cancel();
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last: it uses the members above
};

double Milliseconds(const std::vector<StageTimes>& stages) {
  double us = 0;
  for (const StageTimes& stage : stages) us += stage.compute_us;
  return us * 1e-3;
}

double WeightsOn(const CutModel& model, const OnDevice& on_device) {
  double weights = 0;
  for (size_t l = 0; l < on_device.size(); ++l) weights += on_device[l] ? model.weights[l] : 0;
  return weights;
}

std::shared_ptr<Processor> HomeOf(const SiteJob& job) {
  if (!job.pool) return std::make_shared<Cpu>(kProcessors[0], job.kernels);
  const DeviceInPool& here = PoolInternals::Of(job.pool->pool).file.devices[0];
  ProcessorEntry home = here.processors.empty() ? ProcessorEntry() : here.processors[0];
  home.name = kProcessors[0];
  return MakeProcessor(home, job.kernels);
}

std::chrono::microseconds Until(serve::Deadline deadline) {
  const auto left = deadline - std::chrono::steady_clock::now();
  return std::max(std::chrono::duration_cast<std::chrono::microseconds>(left), std::chrono::microseconds(1));
}

}  // namespace

std::optional<Pool> PoolOfSiteFile(const std::string& path) {
  if (Pool::IsList(path) || !IsSiteFile(path)) return std::nullopt;
  const SiteFile site = ReadSiteFile(path);
  if (site.worker.empty())
    Invalid(path, "has no worker to measure on; expected [server] with worker = \"HOST:PORT\"");
  return PoolInternals::Make(PoolOfSite(site), NetworkOfProgram());
}

SiteCut::SiteCut(const SiteJob& job, const SiteFile& site, Security security, serve::SiteMemory& memory,
                 const SiteFiles& files)
    : job_(job),
      site_(site),
      security_(std::move(security)),
      memory_(memory),
      files_(files),
      home_(HomeOf(job)) {}

std::string SiteCut::WhyNot(bool is_wanted) const {
  if (site_.worker.empty())
    return "the site's file names no worker of the server, which would compute a part";
  if (job_.pool && job_.pool->pool.processors()[0].kind != "cpu")
    return fmt::format("{}, the home of the device's pool, is no CPU, which would compute a part",
                       job_.pool->pool.processors()[0].name);
  if (is_wanted || memory_.server.ready.ms()) return "";
  return "how long the server's worker takes until its part is ready is not known; try --way cut once";
}

std::optional<serve::SiteLayers> SiteCut::Layers() const {
  if (site_.worker.empty() || CacheFolder().empty()) return std::nullopt;
  const PoolFile pool = PoolOfSite(site_);
  const auto note = [&](const std::string& text) { PrintNote(job_.context, text); };
  const std::optional<PoolProfile> profile =
      StoredPoolProfile(DivisibleOf(job_.model), pool, job_.kernels, note);
  if (!profile || profile->costs.processors.size() != kProcessors.size()) return std::nullopt;
  return serve::SiteLayers{profile->costs.processors[0].layers, profile->costs.processors[kServer].layers};
}

std::unique_ptr<RemoteMember> SiteCut::MakeWorker() const {
  const std::string host = PoolOfSite(site_).devices[kServer].name;
  return std::make_unique<RemoteMember>(RemoteAddress{host, site_.worker}, security_);
}

std::unique_ptr<SiteCut::Deployed> SiteCut::Deploy(CutPlan cut, serve::Deadline deadline) {
  auto deployed = std::make_unique<Deployed>();
  deployed->cut = std::move(cut);
  deployed->worker = MakeWorker();
  const auto prepare = [&](const Graph& share) {
    const Stopwatch preparing;
    auto ready = home_->PrepareSoon(share);
    deployed->own_ms += preparing.ms();
    return ready;
  };
  DeployOptions options;
  options.ready_timeout = std::chrono::duration_cast<std::chrono::milliseconds>(Until(deadline));
  std::vector<std::string> notes;
  const GiveUpAt give_up(*deployed->worker, deadline);
  deployed->plan = std::make_unique<DeployedPlan>(
      deployed->cut.graph, deployed->cut.plan, HomeProcessor{*home_, prepare},
      std::vector<Member*>{nullptr, deployed->worker.get()}, options,
      [](const std::string&, int64_t, int64_t) {}, &notes);
  for (const std::string& note : notes) PrintNote(job_.context, note);
  return deployed;
}

void SiteCut::LearnReady(double all_ms, double own_ms, const OnDevice& on_device) {
  memory_.server.ready.Learn(std::max(0.0, all_ms - own_ms));
  if (job_.pool) return memory_.device.least_load.Learn(own_ms);
  const double part = WeightsOn(CutModel(DivisibleOf(job_.model)), on_device);
  const std::optional<LoadNow> load = files_.LoadNowOf(memory_.device);
  if (!load || part >= 1) return;
  memory_.device.least_load.Learn(std::clamp((own_ms - part * load->ms) / (1 - part), 0.0, load->ms));
}

std::string SiteCut::MeasureReady(const OnDevice& on_device, double patience_ms, std::string& measured) try {
  measured += measured.empty() ? "" : " and ";
  measured += "how soon a cut is ready, for which the worker is sent all weights";
  (void)MakeWorker()->CheckThere(std::chrono::milliseconds(int64_t(std::min(patience_ms, kMostPatienceMs))));
  const Graph& graph = DivisibleOf(job_.model);
  const serve::Deadline deadline = std::chrono::steady_clock::now() + kFirstTime;
  (void)Deploy({graph, PlanOnOne(graph, kProcessors, kServer)}, deadline);
  const Stopwatch loading;
  const auto deployed = Deploy(PlanOfCut(graph, on_device, kProcessors), deadline);
  LearnReady(loading.ms(), deployed->own_ms, on_device);
  return "";
} catch (const Error& error) {
  return error.what();
}

double SiteCut::Load(const OnDevice& on_device, serve::Deadline deadline) {
  if (ready() == on_device) return 0;
  const Stopwatch loading;
  deployed_ = Deploy(PlanOfCut(DivisibleOf(job_.model), on_device, kProcessors), deadline);
  deployed_->on_device = on_device;
  const double ms = loading.ms();
  LearnReady(ms, deployed_->own_ms, on_device);
  return ms;
}

std::string SiteCut::Compute(const SitePhoto& photo, const SiteWay& way, serve::Deadline deadline,
                             SiteDevice& device, WayDone& done) try {
  std::vector<Tensor> inputs{device.Input(photo, done)};
  done.steps.load_ms = Load(way.on_device, deadline);
  const Stopwatch running;
  RequestTimes times;
  done.outputs = deployed_->plan->Run(inputs, Until(deadline), &times);
  ran_ = {running.ms(), times.compute_us[0] * 1e-3, way.upload.ms()};
  ++deployed_->photos;
  device.GiveBack(photo, inputs, done);
  return "";
} catch (const Error& error) {
  memory_.server.ready = {};  // so that none is chosen until one has worked again
  return error.what();
}

void SiteCut::TellSteps(WayDone& done) {
  const auto until = std::chrono::steady_clock::now() + kReport;
  const std::vector<StageTimes> stages = deployed_->plan->AwaitStages(kServer, deployed_->photos, until);
  const double server_ms = Milliseconds(stages);
  done.steps.compute_ms = std::min(ran_.ms, ran_.device_ms + server_ms);
  const double upload_ms = ran_.ms - done.steps.compute_ms;
  done.steps.upload_ms += upload_ms;
  if (deployed_->photos == 1 && !stages.empty())  // without a report its computing would count as upload
    memory_.server.stream.Learn(std::max(0.0, upload_ms - ran_.exchange_ms));
}

}  // namespace mete::cli
