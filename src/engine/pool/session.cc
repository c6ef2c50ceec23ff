// A session on a pool.
#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>

#include "base/error.h"
#include "engine/model.h"
#include "engine/pool/measure.h"
#include "engine/pool/open_pool.h"
#include "engine/pool/plan_for.h"
#include "engine/pool/pool_internals.h"
#include "engine/pool/stored_profile.h"
#include "base/clock.h"
#include "engine/session_on_pool.h"
#include "graph/ports.h"
#include "plan/pool/named.h"
#include "plan/pool/program.h"

namespace mete {
namespace {

constexpr size_t kMostNotes = 100;  // guess: more than a user reads; the oldest go

// The notes of a session, for its caller's function and for Notes().
class NoteBook {
 public:
  explicit NoteBook(std::function<void(const std::string&)> tell) : tell_(std::move(tell)) {}

  void Add(const std::string& note) {
    {
      std::lock_guard lock(mutex_);
      if (notes_.size() == kMostNotes) notes_.pop_front();
      notes_.push_back(note);
    }
    if (tell_) tell_(note);
  }
  std::vector<std::string> all() const {
    std::lock_guard lock(mutex_);
    return {notes_.begin(), notes_.end()};
  }

 private:
  const std::function<void(const std::string&)> tell_;
  mutable std::mutex mutex_;
  std::deque<std::string> notes_;
};

void CheckPlanner(const PoolOptions& options, PoolObjective objective) {
  const auto& names = PoolPlanners();
  if (std::find(names.begin(), names.end(), options.planner) == names.end())
    Invalid("planner", "unknown planner; got '{}', expected one of those of PoolPlanners()",
            Printable(options.planner));
  const bool any = options.planner == "dynamic" || options.planner == "alone";
  if (objective != PoolObjective::kLatency && !any && !options.objective.empty())
    Invalid("planner", "{} plans for latency alone; got objective {}, try planner dynamic", options.planner,
            options.objective);
}

// Processors of a pool choose the threads of steps when they prepare their shares.
void CheckHasNoThreads(const Plan& plan) {
  for (const PlannedGroup& group : plan.groups)
    for (const Share& share : group.shares)
      if (share.threads)
        Invalid("plan",
                "has the threads of steps, which the processors of a pool choose themselves; expected a plan "
                "of a pool; try a session on one CPU, or to plan again for this pool");
}

Plan GivenPlan(const PoolOptions& options, const PoolFile& file, const Graph& graph) {
  Plan plan = PlanFromJson(options.plan_json, graph);
  CheckProcessors(plan, NamesOf(file));
  CheckHasNoThreads(plan);
  return plan;
}

PoolCosts CostsFor(const Graph& graph, const PoolFile& file, const OpenPool& open,
                   const PoolOptions& options) {
  if (HasWorkers(file)) return CostsOn(NeededPoolProfile(graph, file, options.kernels, options.note), file);
  const std::optional<PoolProfile> stored = StoredPoolProfile(graph, file, options.kernels, options.note);
  return CostsOn(stored ? *stored : MeasureOn(open, file, graph, options), file);
}

PoolSessionOptions SessionOptionsOf(const PoolOptions& options, const PoolFile& file, const Graph& graph) {
  PoolSessionOptions session;
  if (options.lanes < 1 || options.lanes > kMostLanes)
    Invalid("lanes", "cannot be that many; got {}, expected 1 to {}", options.lanes, kMostLanes);
  if (!(options.deadline_ms >= 0) || !std::isfinite(options.deadline_ms))
    Invalid("deadline", "is no time; got {} ms, expected 0 or more", options.deadline_ms);
  session.objective = ObjectiveOf(options);
  CheckPlanner(options, session.objective);
  if (!options.plan_json.empty()) session.plan = GivenPlan(options, file, graph);
  session.deploy.coding = CodingOf(options.transfer);
  session.deploy.lanes = options.lanes;
  session.planner = options.planner;
  session.deadline_ms = options.deadline_ms;
  session.remake = session.trial = !options.keep_plan && !session.plan;
  session.cancel = options.cancel;
  return session;
}

std::vector<PoolStats::Part> PartsOf(const Plan& plan) {
  std::vector<PoolStats::Part> parts;
  for (const std::string& name : plan.processors) parts.push_back({name, 0, 0});
  for (const PlannedGroup& group : plan.groups)
    for (const Share& share : group.shares) {
      parts[size_t(share.processor)].compute_us += share.compute_us;
      parts[size_t(share.processor)].bytes += share.bytes;
    }
  return parts;
}

class OnPool : public SessionOnPool {
 public:
  OnPool(const Model& model, const Pool& pool, const PoolOptions& options)
      : model_(model), notes_(std::make_shared<NoteBook>(options.note)) {
    const Graph& graph = DivisibleOf(model);
    const PoolInternals::Impl& impl = PoolInternals::Of(pool);
    PoolOptions own = options;
    own.note = [notes = notes_](const std::string& note) { notes->Add(note); };
    const PoolFile file = ThoseThatCan(FileOf(impl), graph, own.note);
    PoolSessionOptions session = SessionOptionsOf(own, file, graph);
    OpenPool open = Open(impl, file, own);
    const PoolCosts costs = CostsFor(graph, file, open, own);
    if (session.objective == PoolObjective::kEnergy) CheckPower(costs);
    session.tell = own.note;
    if (options.progress)
      session.progress = [progress = options.progress](const std::string& to, int64_t sent, int64_t all) {
        progress("sending weights and preparing shares of " + to, sent, all);
      };
    session_ = std::make_unique<PoolSession>(graph, costs, open.home, std::move(open.members), session);
    stats_.prepare_ms = session_->prepare_ms();
  }

  std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options) override {
    CheckRun(options);
    CheckTensors(inputs);
    if (options.alone == RunOptions::Alone::kAlways) return RunAtHome(inputs, options.report);
    RequestReport report;
    std::vector<Tensor> outputs = session_->Run(inputs, &report);
    if (options.report) *options.report = {report.us, report.alone, report.retried, report.compute_us};
    return outputs;
  }

  void Run(std::span<const ConstView> inputs, std::span<const View> outputs,
           const RunOptions& options) override {
    CheckRun(options);
    CheckInputs(model_.name(), model_.inputs(), inputs);
    CheckOutputs(model_.name(), model_.outputs(), outputs);
    if (options.alone == RunOptions::Alone::kAlways) return RunAtHome(inputs, outputs, options.report);
    if (!options.report) return session_->Run(inputs, outputs);
    RequestReport report;
    session_->Run(inputs, outputs, &report);
    *options.report = {report.us, report.alone, report.retried, report.compute_us};
  }

  std::string PlanText() const override { return ToText(session_->plan(), DivisibleOf(model_)); }
  std::string PlanJson() const override { return ToJson(session_->plan(), DivisibleOf(model_)); }
  std::vector<std::string> Notes() const override { return notes_->all(); }
  const SessionStats& stats() const override { return stats_; }

  PoolStats pool_stats() const override {
    const PoolSessionStats s = session_->stats();
    const Plan plan = session_->plan();
    return {s.requests,
            s.retries,
            s.plans,
            s.lost,
            s.measured,
            s.plan_s,
            s.usual_us,
            Summary(plan),
            int(plan.groups.size()),
            plan.predicted_us,
            plan.period_us,
            plan.joules,
            PartsOf(plan)};
  }

  PoolSession& session() { return *session_; }

 private:
  void CheckRun(const RunOptions& options) const {
    if (options.trace)
      Fail(Code::kUnimplemented, "trace",
           "a run on a pool has none, because each processor has steps of its own; try RunOptions::report");
    if (options.cancel && options.cancel->cancelled())
      throw Error(Code::kCancelled, "[session] cancelled before the request began");
  }

  // The plan divides rows of the shapes for which the model was loaded.
  void CheckTensors(std::span<const Tensor> inputs) const {
    std::vector<ConstView> views;
    for (const Tensor& input : inputs) views.push_back(input.view());
    CheckInputs(model_.name(), model_.inputs(), views);
  }

  std::vector<Tensor> RunAtHome(std::span<const Tensor> inputs, RunReport* report) {
    const int64_t start_ns = NowNs();
    std::vector<Tensor> outputs = session_->RunAtHome(inputs);
    if (report) *report = {.us = double(NowNs() - start_ns) * 1e-3, .alone = true};
    return outputs;
  }
  void RunAtHome(std::span<const ConstView> inputs, std::span<const View> outputs, RunReport* report) {
    const int64_t start_ns = NowNs();
    session_->RunAtHome(inputs, outputs);
    if (report) *report = {double(NowNs() - start_ns) * 1e-3, true, false, {}};
  }

  const Model model_;
  const std::shared_ptr<NoteBook> notes_;
  std::unique_ptr<PoolSession> session_;
  SessionStats stats_;
};

}  // namespace

Session::Session(const Model& model, const Pool& pool) : Session(model, pool, PoolOptions{}) {}

Session::Session(const Model& model, const Pool& pool, const PoolOptions& options) : Session() {
  on_pool_ = std::make_unique<OnPool>(model, pool, options);
}

PoolSession& PoolInternals::SessionOf(const Session& session) {
  auto* on_pool = static_cast<OnPool*>(session.on_pool_.get());
  if (!on_pool) Fail(Code::kFailedPrecondition, "session", "runs on one CPU; expected one on a pool");
  return on_pool->session();
}

}  // namespace mete
