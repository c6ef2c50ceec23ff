#include "run/pool_session.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/watch.h"

namespace mete {
namespace {

using std::chrono::milliseconds;

// times the usual; guess: what a shared host does to one request in a thousand
constexpr double kPatience = 4;
constexpr milliseconds kLeastPatience{250};  // and at least so long: guess, what a board does besides
constexpr double kAloneMargin = 1.2;         // times what a request takes here; guess

// The costs, where they are of this graph.
PoolCosts Verified(PoolCosts costs, const Graph& graph) {
  Verify(costs, LayersOf(graph).size());
  return costs;
}

double UsOf(const ProcessorCosts& processor) {
  double us = 0;
  for (const LayerCost& layer : processor.layers) us += layer.us;
  return us;
}

}  // namespace

PoolSession::PoolSession(Graph graph, PoolCosts costs, std::shared_ptr<Processor> home,
                         std::vector<std::unique_ptr<Member>> members, PoolSessionOptions options)
    : graph_(std::move(graph)),
      inputs_(PortsOf(graph_, graph_.inputs)),
      costs_(Verified(std::move(costs), graph_)),
      options_(std::move(options)),
      teller_(options_.tell),
      home_(graph_, std::move(home), UsOf(costs_.processors[0])),
      members_(costs_, std::move(members), {options_.hello_timeout, *options_.deploy.clock}, teller_,
               ending_),
      runner_(graph_, home_, options_.deploy, options_.progress, teller_, ending_),
      keeper_(options_, {members_, in_use_, runner_, teller_, ending_}) {
  {
    const Watch watch([this] { return options_.cancel && options_.cancel->cancelled(); }, [this] { End(); });
    keeper_.Rebuild();
  }
  if (ending_.cancelled())
    throw Error(Code::kCancelled, "[processors] interrupted before there was a plan to run");
  keeper_.Start();
}

PoolSession::~PoolSession() { End(); }

void PoolSession::End() {
  ending_.Cancel();
  keeper_.Wake();
  members_.Cancel();
}

std::vector<Tensor> PoolSession::Run(std::span<const Tensor> inputs, RequestReport* report) {
  std::vector<ConstView> views;
  for (const Tensor& input : inputs) views.push_back(input.view());
  CheckInputs(graph_.name, inputs_, views);  // here: whoever gets them would be blamed
  const int64_t start_ns = NowNs();
  RequestReport result;
  std::vector<Tensor> outputs;
  if (const std::shared_ptr<DeployedPlan> deployed = in_use_.deployed()) {
    try {
      RequestTimes times;
      outputs = deployed->Run(inputs, Patience(), &times);
      result.alone = false;
      in_use_.Learn(times, deployed.get());
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
  ++requests_;
  retries_ += result.retried;
  if (report) *report = result;
  return outputs;
}

std::vector<Tensor> PoolSession::RunAlone(std::span<const Tensor> inputs) {
  double us = 0;
  std::vector<Tensor> outputs = home_.Run(inputs, &us);
  in_use_.Learn({us, {us}}, nullptr);
  return outputs;
}

std::vector<Tensor> PoolSession::RunAtHome(std::span<const Tensor> inputs) {
  return home_.Try(inputs, ending_);
}

std::chrono::microseconds PoolSession::Patience() const {
  const double usual_us = in_use_.ExpectedUs(), deadline_us = options_.deadline_ms * 1e3;
  if (deadline_us > 0) {
    const double left_us = deadline_us - kAloneMargin * home_.usual_us();  // in time to compute it here
    return std::chrono::microseconds(int64_t(left_us > usual_us ? left_us : deadline_us));
  }
  return std::chrono::microseconds(int64_t(kPatience * usual_us * options_.deploy.lanes)) + kLeastPatience;
}

void PoolSession::Lost(const std::shared_ptr<DeployedPlan>& deployed, const Error& error) {
  const std::optional<std::vector<size_t>> members = in_use_.Drop(deployed);
  if (!members) return;
  if (const auto* of_processor = dynamic_cast<const ProcessorError*>(&error);
      of_processor && of_processor->processor() > 0)  // which has served, so that it may again
    members_.Lose((*members)[size_t(of_processor->processor())], error, BackOff::Loss::kMayPass);
  keeper_.AskToRebuild();
}

PoolSessionStats PoolSession::stats() const {
  const KeeperStats keeper = keeper_.stats();
  PoolSessionStats stats;
  stats.plans = keeper.plans;
  stats.measured = keeper.measured;
  stats.plan_s = keeper.plan_s;
  stats.lost = members_.lost();
  stats.usual_us = in_use_.usual_us();
  std::lock_guard lock(mutex_);
  stats.requests = requests_;
  stats.retries = retries_;
  return stats;
}

HeldPlans PoolSession::HoldPlans() {
  std::unique_lock pause = keeper_.Pause();
  const KeeperStats stats = keeper_.stats();
  ReadyPlan ready = in_use_.ready();
  return {std::move(pause),
          runner_,
          options_.objective,
          members_.PartOf(in_use_.members()),
          {std::move(ready.plan), stats.plan_s, stats.measured},
          std::move(ready.deployed)};
}

}  // namespace mete
