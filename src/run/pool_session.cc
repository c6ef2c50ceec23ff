#include "run/pool_session.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/unpinned.h"
#include "base/watch.h"
#include "graph/ports.h"

namespace mete {
namespace {

using std::chrono::milliseconds;

// times the usual; guess: what a shared host does to one request in a thousand
constexpr double kPatience = 4;
constexpr milliseconds kLeastPatience{250};  // and at least so long: guess, what a board does besides
constexpr double kAloneMargin = 1.2;         // times what a request takes here; guess
constexpr double kSmoothing = 0.1;           // of what requests take: the last ten or so. Guess

}  // namespace

PoolSession::PoolSession(Graph graph, PoolCosts costs, std::shared_ptr<Processor> home,
                         std::vector<std::unique_ptr<Member>> members, PoolSessionOptions options)
    : graph_(std::move(graph)),
      inputs_(PortsOf(graph_, graph_.inputs)),
      costs_(std::move(costs)),
      home_(std::move(home)),
      pool_(std::move(members)),
      options_(std::move(options)),
      alone_(home_->Prepare(graph_)),
      own_{*home_,
           [this](const Graph& share) {
             CheckEnding();
             return home_->Prepare(share);
           }},
      states_(pool_.size()) {
  if (pool_.size() != costs_.processors.size() || pool_.empty() || pool_[0])
    Invalid("processors", "are others than the costs are of; got {}, expected {}", pool_.size(),
            costs_.processors.size());
  Verify(costs_, LayersOf(graph_).size());
  for (const LayerCost& layer : costs_.processors[0].layers) alone_us_ += layer.us;
  FirstRebuild();
  keeper_ = std::thread(Unpinned([this] { Keep(); }));
}

PoolSession::~PoolSession() {
  End();
  keeper_.join();
}

void PoolSession::End() {
  {
    std::lock_guard lock(mutex_);
    ending_.Cancel();
  }
  wake_.notify_all();
  for (const auto& member : pool_)
    if (member) member->Cancel();  // whatever somebody waits for
}

void PoolSession::FirstRebuild() {
  const Watch watch([this] { return options_.cancel && options_.cancel->cancelled(); }, [this] { End(); });
  Rebuild();
  if (ending_.cancelled())
    throw Error(Code::kCancelled, "[processors] interrupted before there was a plan to run");
}

std::vector<Tensor> PoolSession::Run(std::span<const Tensor> inputs, RequestReport* report) {
  std::vector<ConstView> views;
  for (const Tensor& input : inputs) views.push_back(input.view());
  CheckInputs(graph_.name, inputs_, views);  // here: whoever gets them would be blamed
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
    } catch (const ProcessorError& error) {
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

std::vector<Tensor> PoolSession::RunAlone(std::span<const Tensor> inputs) {
  const int64_t start_ns = NowNs();
  std::vector<Tensor> outputs = alone_->Run(inputs, {});
  const double us = double(NowNs() - start_ns) * 1e-3;
  {
    std::lock_guard lock(mutex_);
    alone_us_ += kSmoothing * (us - alone_us_);
  }
  Learn({us, {us}}, nullptr);
  return outputs;
}

std::shared_ptr<DeployedPlan> PoolSession::Current() const {
  std::lock_guard lock(mutex_);
  return deployed_;
}

std::chrono::microseconds PoolSession::Patience() const {
  std::lock_guard lock(mutex_);
  const double usual_us = std::max(usual_us_, plan_.predicted_us), deadline_us = options_.deadline_ms * 1e3;
  if (deadline_us > 0) {
    const double left_us = deadline_us - kAloneMargin * alone_us_;  // in time to compute it here
    return std::chrono::microseconds(int64_t(left_us > usual_us ? left_us : deadline_us));
  }
  return std::chrono::microseconds(int64_t(kPatience * usual_us * options_.deploy.lanes)) + kLeastPatience;
}

void PoolSession::Lost(const std::shared_ptr<DeployedPlan>& deployed, const Error& error) {
  {
    std::lock_guard lock(mutex_);
    if (deployed_ != deployed) return;  // another request was sooner
    deployed_.reset();
    rebuild_ = true;
    if (const auto* of_processor = dynamic_cast<const ProcessorError*>(&error);
        of_processor && of_processor->processor() > 0)
      LoseMember(planned_[size_t(of_processor->processor())], error,
                 false);  // it has served, so that it may again
  }
  wake_.notify_all();
  TellAll();
}

void PoolSession::LoseMember(size_t processor, const Error& error, bool refuses) {
  if (ending_.cancelled()) return;  // the session's own doing
  MemberState& member = states_[processor];
  const bool was_there = std::exchange(member.there, false);
  member.back_off.Lost(Clock::now(), refuses);
  if (refuses ? member.refusal == error.code() : !was_there) return;
  if (refuses) member.refusal = error.code();
  else member.refusal.reset();
  stats_.lost += was_there;
  untold_.push_back(fmt::format("{} {}, the others go on without it: {}", costs_.processors[processor].name,
                                refuses ? "cannot serve" : "is lost", error.what()));
}

void PoolSession::Tell(const std::string& note) {
  {
    std::lock_guard lock(mutex_);
    untold_.push_back(note);
  }
  TellAll();
}

// One thread tells; who comes meanwhile leaves to it what there is to tell, also where the session is used by
// whoever is told.
void PoolSession::TellAll() {
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

void PoolSession::Learn(const RequestTimes& times, const DeployedPlan* deployed) {
  std::lock_guard lock(mutex_);
  if (deployed_.get() != deployed || rebuild_) return;
  usual_us_ = usual_us_ == 0 ? times.us : usual_us_ + kSmoothing * (times.us - usual_us_);
  for (size_t d = 0; d < times.compute_us.size(); ++d) {
    MemberState& member = states_[planned_[d]];
    // What a worker says of itself is believed as far as it can be: no longer than the request took, and a
    // number.
    if (times.compute_us[d] > 0 && times.compute_us[d] <= times.us && member.planned_us > 0)
      member.drift.Add(times.compute_us[d], member.planned_us);
  }
}

Plan PoolSession::plan() const {
  std::lock_guard lock(mutex_);
  return plan_;
}

PoolSessionStats PoolSession::stats() const {
  std::lock_guard lock(mutex_);
  PoolSessionStats stats = stats_;
  stats.usual_us = usual_us_;
  return stats;
}

std::vector<size_t> PoolSession::There() const {
  std::vector<size_t> there;
  for (size_t d = 0; d < states_.size(); ++d)
    if (states_[d].there) there.push_back(d);
  return there;
}

PoolCosts PoolSession::CostsOf(const std::vector<size_t>& members) const {
  PoolCosts costs;
  for (const size_t d : members) {
    costs.processors.push_back(costs_.processors[d]);
    for (LayerCost& layer : costs.processors.back().layers)
      layer.us *= states_[d].scale, layer.least_us *= states_[d].scale;
  }
  return costs;
}

}  // namespace mete
