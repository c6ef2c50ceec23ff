#include "network/caller/devices_session.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/watch.h"
#include "engine/model.h"

namespace mete {
namespace {

using std::chrono::milliseconds;

// times the usual; guess: what a shared host does to one request in a thousand
constexpr double kPatience = 4;
constexpr milliseconds kLeastPatience{250};  // and at least so long: guess, what a board does besides
constexpr double kAloneMargin = 1.2;         // times what a request takes here; guess
constexpr double kSmoothing = 0.1;           // of what requests take: the last ten or so. Guess

}  // namespace

DevicesSession::DevicesSession(Graph graph, PoolCosts costs,
                               std::vector<std::unique_ptr<RemoteDevice>> remotes,
                               DevicesSessionOptions options)
    : graph_(std::move(graph)),
      costs_(std::move(costs)),
      remotes_(std::move(remotes)),
      options_(std::move(options)),
      model_(ModelOf(graph_)),
      alone_(model_, options_.session),
      make_([this](const Graph& share) {
        CheckEnding();
        return std::make_shared<Session>(ModelOf(share), options_.session);
      }),
      members_(remotes_.size()) {
  if (remotes_.size() != costs_.devices.size() || remotes_.empty() || remotes_[0])
    Invalid("devices", "are others than the costs are of; got {}, expected {}", remotes_.size(),
            costs_.devices.size());
  Verify(costs_, LayersOf(graph_).size());
  for (const LayerCost& layer : costs_.devices[0].layers) alone_us_ += layer.us;
  FirstRebuild();
  keeper_ = std::thread([this] { Keep(); });
}

DevicesSession::~DevicesSession() {
  End();
  keeper_.join();
}

void DevicesSession::End() {
  {
    std::lock_guard lock(mutex_);
    ending_.Cancel();
  }
  wake_.notify_all();
  for (const auto& remote : remotes_)
    if (remote) remote->Cancel();  // whatever somebody waits for
}

void DevicesSession::FirstRebuild() {
  const Watch watch([this] { return options_.cancel && options_.cancel->cancelled(); }, [this] { End(); });
  Rebuild();
  if (ending_.cancelled())
    throw Error(Code::kCancelled, "[devices] interrupted before there was a plan to run");
}

std::vector<Tensor> DevicesSession::Run(std::span<const Tensor> inputs, RequestReport* report) {
  std::vector<ConstView> views;
  for (const Tensor& input : inputs) views.push_back(input.view());
  CheckInputs(model_, views);  // here: whoever gets them would be blamed
  const int64_t start_ns = NowNs();
  RequestReport result;
  std::vector<Tensor> outputs;
  if (const std::shared_ptr<DeployedPlan> deployed = Current()) {
    try {
      RequestTimes times;
      outputs = deployed->Run(inputs, Patience(), &times);
      result.alone = false;
      Learn(times, deployed.get());
      result.compute_us = std::move(times.compute_us);
    } catch (const DeviceError& error) {
      Lost(deployed, error);
      result.retried = true;
    } catch (const Error& error) {
      Lost(deployed, error);
      throw;
    }
  }
  if (result.alone) outputs = RunAlone(inputs);
  result.us = double(NowNs() - start_ns) * 1e-3;
  std::lock_guard lock(mutex_);
  ++stats_.requests;
  stats_.retries += result.retried;
  if (report) *report = result;
  return outputs;
}

std::vector<Tensor> DevicesSession::RunAlone(std::span<const Tensor> inputs) {
  const int64_t start_ns = NowNs();
  std::vector<Tensor> outputs = alone_.Run(inputs);
  const double us = double(NowNs() - start_ns) * 1e-3;
  {
    std::lock_guard lock(mutex_);
    alone_us_ += kSmoothing * (us - alone_us_);
  }
  Learn({us, {us}}, nullptr);
  return outputs;
}

std::shared_ptr<DeployedPlan> DevicesSession::Current() const {
  std::lock_guard lock(mutex_);
  return deployed_;
}

std::chrono::microseconds DevicesSession::Patience() const {
  std::lock_guard lock(mutex_);
  const double usual_us = std::max(usual_us_, plan_.predicted_us), deadline_us = options_.deadline_ms * 1e3;
  if (deadline_us > 0) {
    const double left_us = deadline_us - kAloneMargin * alone_us_;  // in time to compute it here
    return std::chrono::microseconds(int64_t(left_us > usual_us ? left_us : deadline_us));
  }
  return std::chrono::microseconds(int64_t(kPatience * usual_us * options_.deploy.lanes)) + kLeastPatience;
}

void DevicesSession::Lost(const std::shared_ptr<DeployedPlan>& deployed, const Error& error) {
  {
    std::lock_guard lock(mutex_);
    if (deployed_ != deployed) return;  // another request was sooner
    deployed_.reset();
    rebuild_ = true;
    if (const auto* of_device = dynamic_cast<const DeviceError*>(&error);
        of_device && of_device->device() > 0)
      LoseMember(planned_[size_t(of_device->device())], error, false);  // it has served, so that it may again
  }
  wake_.notify_all();
  TellAll();
}

void DevicesSession::LoseMember(size_t device, const Error& error, bool refuses) {
  if (ending_.cancelled()) return;  // the session's own doing
  Member& member = members_[device];
  const bool was_there = std::exchange(member.there, false);
  member.back_off.Lost(Clock::now(), refuses);
  if (refuses ? member.refusal == error.code() : !was_there) return;
  if (refuses) member.refusal = error.code();
  else member.refusal.reset();
  stats_.lost += was_there;
  untold_.push_back(fmt::format("{} {}, the others go on without it: {}", costs_.devices[device].name,
                                refuses ? "cannot serve" : "is lost", error.what()));
}

void DevicesSession::Tell(const std::string& note) {
  {
    std::lock_guard lock(mutex_);
    untold_.push_back(note);
  }
  TellAll();
}

// One thread tells; who comes meanwhile leaves to it what there is to tell, also where the session is used by
// whoever is told.
void DevicesSession::TellAll() {
  std::unique_lock lock(mutex_);
  if (telling_) return;
  telling_ = true;
  while (!untold_.empty()) {
    const std::string note = std::move(untold_.front());
    untold_.pop_front();
    lock.unlock();
    options_.tell(note);
    lock.lock();
  }
  telling_ = false;
}

void DevicesSession::Learn(const RequestTimes& times, const DeployedPlan* deployed) {
  std::lock_guard lock(mutex_);
  if (deployed_.get() != deployed || rebuild_) return;
  usual_us_ = usual_us_ == 0 ? times.us : usual_us_ + kSmoothing * (times.us - usual_us_);
  for (size_t d = 0; d < times.compute_us.size(); ++d) {
    Member& member = members_[planned_[d]];
    // What a worker says of itself is believed as far as it can be: no longer than the request took, and a
    // number.
    if (times.compute_us[d] > 0 && times.compute_us[d] <= times.us && member.planned_us > 0)
      member.drift.Add(times.compute_us[d], member.planned_us);
  }
}

DevicesPlan DevicesSession::plan() const {
  std::lock_guard lock(mutex_);
  return plan_;
}

DevicesSessionStats DevicesSession::stats() const {
  std::lock_guard lock(mutex_);
  DevicesSessionStats stats = stats_;
  stats.usual_us = usual_us_;
  return stats;
}

std::vector<size_t> DevicesSession::There() const {
  std::vector<size_t> there;
  for (size_t d = 0; d < members_.size(); ++d)
    if (members_[d].there) there.push_back(d);
  return there;
}

PoolCosts DevicesSession::CostsOf(const std::vector<size_t>& members) const {
  PoolCosts costs;
  for (const size_t d : members) {
    costs.devices.push_back(costs_.devices[d]);
    for (LayerCost& layer : costs.devices.back().layers)
      layer.us *= members_[d].scale, layer.least_us *= members_[d].scale;
  }
  return costs;
}

}  // namespace mete
