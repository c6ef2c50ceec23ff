#include "run/pool_session.h"

#include <algorithm>
#include <cstring>

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

void CopyBytes(const ConstView& from, const View& to) {
  if (from.bytes() > 0) std::memcpy(to.data, from.data, from.bytes());
}

// Whether the home answers alone until the keeper has made the first plan.
bool BeginsAlone(const PoolSessionOptions& options, const std::vector<std::unique_ptr<Member>>& members) {
  return options.measure || std::any_of(members.begin(), members.end(),
                                        [](const auto& member) { return member && member->PreparesLate(); });
}

// Error if the costs are not of this graph.
double HomeUs(const PoolCosts& costs, const Graph& graph) {
  Verify(costs, LayersOf(graph).size());
  return UsWithHome(costs, 0);
}

}  // namespace

PoolSession::PoolSession(Graph graph, PoolCosts costs, std::shared_ptr<Processor> home,
                         std::vector<std::unique_ptr<Member>> members, PoolSessionOptions options)
    : graph_(std::move(graph)),
      inputs_(PortsOf(graph_, graph_.inputs)),
      outputs_(PortsOf(graph_, graph_.outputs)),
      options_(std::move(options)),
      teller_(options_.tell),
      home_(graph_, std::move(home), HomeUs(costs, graph_),
            BeginsAlone(options_, members) ? HomeModel::Begins::kSoon : HomeModel::Begins::kMeasured),
      members_(std::move(costs), std::move(members),
               {options_.hello_timeout, *options_.deploy.clock, !options_.measure}, teller_, ending_),
      runner_(graph_, home_, options_.deploy, options_.progress, teller_, ending_),
      keeper_(options_, {members_, in_use_, runner_, home_, teller_, ending_}) {
  if (home_.begins() == HomeModel::Begins::kSoon) {
    keeper_.BeginAlone();
  } else {
    const Watch watch([this] { return options_.cancel && options_.cancel->cancelled(); }, [this] { End(); });
    keeper_.TellLacks();
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

// Holds the memory of a request for its time.
class PoolSession::TakenMemory {
 public:
  explicit TakenMemory(PoolSession& session) : session_(session) {
    std::lock_guard lock(session_.mutex_);
    if (session_.memories_.empty()) session_.memories_.push_back(std::make_unique<RequestMemory>());
    memory_ = std::move(session_.memories_.back());
    session_.memories_.pop_back();
  }
  ~TakenMemory() {
    memory_->inputs.clear();
    memory_->outputs.clear();
    std::lock_guard lock(session_.mutex_);
    session_.memories_.push_back(std::move(memory_));
  }
  RequestMemory& operator*() { return *memory_; }
  RequestMemory* operator->() { return memory_.get(); }

 private:
  PoolSession& session_;
  std::unique_ptr<RequestMemory> memory_;
};

std::vector<Tensor> PoolSession::Run(std::span<const Tensor> inputs, RequestReport* report) {
  TakenMemory memory(*this);
  memory->views.clear();
  for (const Tensor& input : inputs) memory->views.push_back(input.view());
  CheckInputs(graph_.name, inputs_, memory->views);  // here: a processor that gets bad inputs would be blamed
  const int64_t start_ns = NowNs();
  RequestReport unread;
  RequestReport& told = report ? *report : unread;
  std::vector<Tensor> outputs;
  const std::shared_ptr<DeployedPlan> deployed = in_use_.deployed();
  if (RunPlan(deployed, inputs, *memory, told)) {
    outputs = memory->outputs;
    if (report) TellTimes(*deployed, *memory, *report);
  } else {
    double us = 0;
    outputs = home_.Run(inputs, &us);
    in_use_.Learn(us, {&us, 1}, nullptr);
  }
  told.us = double(NowNs() - start_ns) * 1e-3;
  Count(told);
  return outputs;
}

void PoolSession::Run(std::span<const ConstView> inputs, std::span<const View> outputs,
                      RequestReport* report) {
  CheckInputs(graph_.name, inputs_, inputs);
  CheckOutputs(graph_.name, outputs_, outputs);
  const int64_t start_ns = NowNs();
  TakenMemory memory(*this);
  const std::shared_ptr<DeployedPlan> deployed = in_use_.deployed();
  for (size_t i = 0; deployed && i < inputs.size(); ++i) {
    Tensor& copy = memory->inputs.emplace_back(deployed->NewInput(inputs[i].type, inputs[i].shape));
    CopyBytes(inputs[i], copy.mutable_view());
  }
  RequestReport unread;
  RequestReport& told = report ? *report : unread;
  if (RunPlan(deployed, memory->inputs, *memory, told)) {
    for (size_t i = 0; i < outputs.size(); ++i) CopyBytes(memory->outputs[i].view(), outputs[i]);
    if (report) TellTimes(*deployed, *memory, *report);
  } else {
    double us = 0;
    home_.Run(inputs, outputs, &us);
    in_use_.Learn(us, {&us, 1}, nullptr);
  }
  told.us = double(NowNs() - start_ns) * 1e-3;
  Count(told);
}

bool PoolSession::RunPlan(const std::shared_ptr<DeployedPlan>& deployed, std::span<const Tensor> inputs,
                          RequestMemory& memory, RequestReport& report) {
  report.alone = true;
  report.retried = false;
  report.compute_us.clear();
  report.processors.clear();
  if (!deployed) return false;
  try {
    deployed->Run(inputs, Patience(), memory.outputs, memory.times);
  } catch (const ProcessorError& error) {
    Lost(deployed, error);
    report.retried = true;
    return false;
  } catch (const Error& error) {
    Lost(deployed, error);
    throw;
  }
  in_use_.Learn(memory.times.us, memory.times.compute_us, deployed.get());
  report.alone = false;
  return true;
}

void PoolSession::TellTimes(const DeployedPlan& deployed, const RequestMemory& memory,
                            RequestReport& report) {
  report.compute_us = memory.times.compute_us;
  report.processors = deployed.plan().processors;
}

void PoolSession::Count(const RequestReport& report) {
  std::lock_guard lock(mutex_);
  ++requests_;
  retries_ += report.retried;
  keeper_.HasAnswered();
}

std::vector<Tensor> PoolSession::RunAtHome(std::span<const Tensor> inputs) {
  return home_.Try(inputs, ending_);
}

void PoolSession::RunAtHome(std::span<const ConstView> inputs, std::span<const View> outputs) {
  home_.Try(inputs, outputs, ending_);
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
      of_processor && of_processor->processor() > 0)  // it has served: the loss may pass
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

std::map<std::string, ProcessorMemory> PoolSession::memory() const {
  std::map<std::string, ProcessorMemory> memory;
  for (size_t d = 0; d < members_.size(); ++d) {
    const PoolPart part = members_.PartOf({d});
    memory[part.costs.processors[0].name] = d == 0 ? home_.processor().memory() : part.members[0]->memory();
  }
  return memory;
}

HeldPlans PoolSession::HoldPlans() {
  std::unique_lock pause = keeper_.Pause();
  const KeeperStats stats = keeper_.stats();
  ReadyPlan ready = in_use_.ready();
  std::vector<size_t> members = in_use_.members();
  // A plan that fails later has an error of its own when it runs.
  if (!in_use_.ServesAll(members))
    Fail(Code::kUnavailable, "processors",
         "the plan in use has failed, and the session has made no other yet; try again in a second");
  return {std::move(pause),
          runner_,
          options_.objective,
          members_.PartOf(std::move(members)),
          {std::move(ready.plan), stats.plan_s, stats.measured},
          std::move(ready.deployed)};
}

}  // namespace mete
