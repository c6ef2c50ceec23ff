#include "run/deployed_plan.h"

#include <algorithm>
#include <new>
#include <random>
#include <set>

#include "base/clock.h"
#include "base/error.h"

namespace mete {
namespace {

// The part of a request's patience that the caller keeps for asking members which processor is late. This
// value is a guess: a member on a healthy network answers within a tenth of it.
constexpr std::chrono::milliseconds kAskTime{50};

// A process that knows the id may feed the deployment.
std::string RandomId() {
  std::random_device random;
  std::string id;
  while (id.size() < kPlanIdBytes) {
    const unsigned word = random();
    id.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return id;
}

bool HasWork(const Program& program) {
  return std::any_of(program.stages.begin(), program.stages.end(), [](const ProgramStage& s) {
    return !s.sends.empty() || !s.needs.empty() || !s.graph.nodes.empty();
  });
}

std::set<int> SendsTo(const Program& program) {
  std::set<int> to;
  for (const ProgramStage& stage : program.stages)
    for (const ProgramSend& send : stage.sends) to.insert(send.to);
  return to;
}

// Returns the memory of the first processor with a part in the plan that has such memory; null: none has.
MakeTensor SharedMemoryOf(const Plan& plan, const std::vector<Member*>& members) {
  for (const PlannedGroup& group : plan.groups)
    for (const Share& share : group.shares)
      if (Member* const member = members[size_t(share.processor)])
        if (MakeTensor make = member->SharedMemory()) return make;
  return nullptr;
}

double ComputeUs(std::span<const StageTimes> times) {
  double us = 0;
  for (const StageTimes& t : times) us += t.compute_us;
  return us;
}

}  // namespace

// Sends the pieces of the home's program.
class DeployedPlan::Post : public Outbox {
 public:
  Post(DeployedPlan& plan, uint64_t request) : plan_(plan), request_(request) {}
  void Send(int to, const PieceId& id, Tensor piece) override {
    plan_.Deliver(0, to, request_, id, std::move(piece), {});
  }

 private:
  DeployedPlan& plan_;
  const uint64_t request_;
};

DeployedPlan::DeployedPlan(const Graph& graph, const Plan& plan, const HomeProcessor& home,
                           const std::vector<Member*>& members, const DeployOptions& options,
                           const WeightsProgress& progress, std::vector<std::string>* notes)
    : graph_(graph),
      plan_(plan),
      members_(members),
      options_(options),
      id_(RandomId()),
      shared_(SharedMemoryOf(plan_, members_)),
      inputs_(shared_),
      outputs_(OutputsOf(graph, plan)),
      lanes_(size_t(options.lanes)),
      stages_(members.size()),
      reported_(members.size(), 0) {
  for (size_t lane = 0; lane < lanes_.size(); ++lane) lanes_[lane].next = lane;
  try {
    DeployAll(home, progress, notes);
  } catch (...) {
    StopAll();
    throw;
  }
}

void DeployedPlan::DeployAll(const HomeProcessor& home, const WeightsProgress& progress,
                             std::vector<std::string>* notes) {
  std::vector<Program> programs = ProgramsOf(graph_, plan_);
  for (size_t d = 1; d < programs.size(); ++d)
    if (HasWork(programs[d])) DeployTo(int(d), programs[d], progress, notes);
  own_ = std::make_unique<PreparedProgram>(std::move(programs[0]), 0, home.processor, home.make, shared_);
  inboxes_.emplace(own_->program(), 0, options_.coding);
  for (auto& [processor, program] : programs_) {
    try {
      program->WaitReady(options_.ready_timeout, *options_.clock);
    } catch (const Error& error) {
      throw ProcessorError(error, processor);
    }
  }
  ready_ = true;
}

DeployedPlan::~DeployedPlan() { StopAll(); }

void DeployedPlan::PutThreads(Plan& plan) const {
  for (size_t g = 0; g < plan.groups.size(); ++g)
    for (Share& share : plan.groups[g].shares) {
      const auto member = programs_.find(share.processor);
      const PreparedProgram* program = share.processor == 0        ? own_.get()
                                       : member != programs_.end() ? member->second->prepared()
                                                                   : nullptr;
      if (const ThreadPlan* threads = program ? program->thread_plan(g) : nullptr) share.threads = *threads;
    }
}

// Stops the programs of this process first, because they may still send to the others.
void DeployedPlan::StopAll() {
  for (const bool local : {true, false})
    for (auto& [processor, program] : programs_)
      if (program && members_[size_t(processor)]->address().empty() == local) program->Stop();
}

void DeployedPlan::DeployTo(int processor, const Program& program, const WeightsProgress& progress,
                            std::vector<std::string>* notes) {
  ProgramToHost to_host{program, processor, id_, {}, options_.coding, options_.lanes, shared_};
  for (const int to : SendsTo(program)) {
    if (to == 0) continue;
    const Member& peer = *members_[size_t(to)];
    to_host.peers.push_back({to, peer.host(), peer.address()});
  }
  try {
    programs_[processor] = members_[size_t(processor)]->Host(to_host, *this, progress, notes);
  } catch (const Error& error) {
    throw ProcessorError(error, processor);
  }
}

DeployedPlan::Lane& DeployedPlan::TakeLane() {
  std::unique_lock lock(mutex_);
  const auto free = [&] {
    return std::find_if(lanes_.begin(), lanes_.end(), [](const Lane& l) { return !l.busy; });
  };
  changed_.wait(lock, [&] { return error_ || free() != lanes_.end(); });
  if (error_) throw *error_;
  Lane& lane = *free();
  lane.inbox = inboxes_->Take();
  lane.busy = true;
  return lane;
}

void DeployedPlan::LeaveLane(Lane& lane) {
  lane.memory.Clear();
  std::lock_guard lock(mutex_);
  lane.next += lanes_.size();
  lane.busy = false;
  lane.inbox.reset();
  if (error_) inboxes_->Clear();
  changed_.notify_all();
}

std::vector<Tensor> DeployedPlan::Run(std::span<const Tensor> inputs, std::chrono::microseconds patience,
                                      RequestTimes* times) {
  std::vector<Tensor> outputs;
  RequestTimes unread;
  Run(inputs, patience, outputs, times ? *times : unread);
  return outputs;
}

void DeployedPlan::Run(std::span<const Tensor> inputs, std::chrono::microseconds patience,
                       std::vector<Tensor>& outputs, RequestTimes& times) {
  const int64_t start_ns = NowNs();
  Lane& lane = TakeLane();
  try {
    RunOn(lane, inputs, patience, outputs);
  } catch (const Error& error) {
    // After any error the workers' lanes are at another request than this one.
    const auto* of_processor = dynamic_cast<const ProcessorError*>(&error);
    OnFailure(of_processor ? of_processor->processor() : 0, error);
    LeaveLane(lane);
    throw;
  } catch (const std::exception& error) {  // such as a lack of memory
    OnFailure(0, Error(Code::kResourceExhausted,
                       fmt::format("[processors] a request cannot be computed: {}", error.what())));
    LeaveLane(lane);
    throw;
  }
  LeaveLane(lane);
  std::lock_guard lock(mutex_);
  times.us = double(NowNs() - start_ns) * 1e-3;
  times.compute_us.clear();
  for (const std::vector<StageTimes>& stages : stages_) times.compute_us.push_back(ComputeUs(stages));
}

void DeployedPlan::RunOn(Lane& lane, std::span<const Tensor> inputs, std::chrono::microseconds patience,
                         std::vector<Tensor>& outputs) {
  const uint64_t request = lane.next;
  const Clock::Time late = options_.clock->Now() + patience;
  lane.inbox->WaitUntil(late - std::min<std::chrono::microseconds>(kAskTime, patience / 8), *options_.clock);
  for (auto& [processor, program] : programs_) program->Begin(request);
  Post post(*this, request);
  const AdoptedThread adopted(own_->processor());
  try {
    own_->Run(inputs, *lane.inbox, post, turn_, lane.memory);
    PutInOrder(lane.memory.held, outputs);
    std::lock_guard lock(mutex_);
    stages_[0].assign(lane.memory.times.begin(), lane.memory.times.end());
  } catch (const Error& error) {
    if (error.code() != Code::kDeadlineExceeded || lane.inbox->late() < 0) throw;
    throw TooLate(request, lane.inbox->late(), late);
  }
}

ProcessorError DeployedPlan::TooLate(uint64_t request, int processor, Clock::Time until) const {
  std::set<int> asked{0};  // this processor knows of itself
  while (asked.insert(processor).second) {
    const std::optional<int> next = programs_.at(processor)->WaitsFor(request, until, *options_.clock);
    if (!next || !programs_.contains(*next)) break;
    processor = *next;
  }
  const std::string name = processor == 0 ? "this processor" : members_[size_t(processor)]->name();
  return {Error(Code::kDeadlineExceeded,
                fmt::format("[processors] a part of the answer did not come in time, from {}", name)),
          processor};
}

void DeployedPlan::PutInOrder(const std::vector<Tensor>& held, std::vector<Tensor>& outputs) const {
  outputs.clear();
  if (plan_.groups.back().last < int(plan_.layers.size())) {
    outputs.assign(held.begin(), held.end());
    return;
  }
  for (const ValueId id : graph_.outputs) {
    const auto at = std::find(outputs_.begin(), outputs_.end(), id);
    outputs.push_back(at == outputs_.end() ? graph_.value(id).constant : held[size_t(at - outputs_.begin())]);
  }
}

void DeployedPlan::Cancel() {
  OnFailure(0, Error(Code::kCancelled, "[processors] the request was cancelled while it was under way"));
}

std::vector<std::vector<StageTimes>> DeployedPlan::LastStages() const {
  std::lock_guard lock(mutex_);
  return stages_;
}

std::vector<StageTimes> DeployedPlan::AwaitStages(int processor, uint64_t requests, Clock::Time until) {
  std::unique_lock lock(mutex_);
  options_.clock->WaitUntil(changed_, lock, until,
                            [&] { return error_ || reported_[size_t(processor)] >= requests; });
  return stages_[size_t(processor)];
}

bool DeployedPlan::failed() const {
  std::lock_guard lock(mutex_);
  return error_.has_value();
}

void DeployedPlan::Deliver(int from, int to, uint64_t request, const PieceId& id, Tensor piece,
                           Unwritten::Mark mark) {
  if (to != 0) return programs_.at(to)->Send(from, request, id, std::move(piece), std::move(mark));
  if (const auto inbox = InboxOf(0, request)) inbox->Put(from, id, std::move(piece));
}

std::shared_ptr<Inbox> DeployedPlan::InboxOf(int processor, uint64_t request) {
  if (!ready_) Invalid("request", "is not under way; got a piece of {} before the plan is ready", request);
  if (processor != 0) {
    const auto program = programs_.find(processor);
    if (program == programs_.end())
      Invalid("piece", "is for a processor without a part; got processor {}", processor);
    return program->second->InboxOf(request);
  }
  std::lock_guard lock(mutex_);
  Lane& lane = lanes_[request % lanes_.size()];
  if (lane.next != request || !lane.inbox) Invalid("request", "is not under way; got a piece of {}", request);
  return lane.inbox;
}

void DeployedPlan::OnDone(int from, uint64_t, std::span<const StageTimes> times) {
  std::lock_guard lock(mutex_);
  stages_[size_t(from)].assign(times.begin(), times.end());
  ++reported_[size_t(from)];
  changed_.notify_all();
}

void DeployedPlan::OnFailure(int processor, const Error& error) {
  const bool known = processor > 0 && size_t(processor) < members_.size();
  std::lock_guard lock(mutex_);
  if (error_) return;
  error_.emplace(error, known ? processor : 0);
  for (Lane& lane : lanes_)
    if (lane.inbox) lane.inbox->Fail(std::make_exception_ptr(*error_));
  changed_.notify_all();
}

}  // namespace mete
