#include <map>
#include <string_view>

#include "base/error.h"
#include "base/log.h"
#include "engine/model.h"
#include "engine/named_run.h"
#include "engine/session_on_pool.h"
#include "engine/shaped_model.h"
#include "graph/ports.h"
#include "mete/pool.h"
#include "plan/plan.h"
#include "processor/cpu/ready_on_cpu.h"
#include "processor/memory/memory_plan.h"

namespace mete {
namespace {

// Returns the threads of the only share of a plan for one processor; nothing: the session plans.
std::optional<ThreadPlan> ThreadsOf(const Graph& graph, const SessionOptions& options) {
  if (options.plan_json.empty()) return std::nullopt;
  const Plan plan = PlanFromJson(options.plan_json, graph);
  CheckProcessors(plan, {kSessionProcessor});
  if (plan.groups.size() != 1 || plan.groups[0].shares.size() != 1)
    Invalid("plan", "divides the model; got {} groups, expected one with one share for a session on the CPU",
            plan.groups.size());
  return plan.groups[0].shares[0].threads;
}

// What the model's sessions have in common: each has an arena of its own.
CpuMemory MemoryOf(const Model& model) { return {nullptr, ModelInternals::Of(model).packed}; }

}  // namespace

struct Session::Impl {
  Impl(const Model& m, const SessionOptions& options)
      : model(m),
        ready(GraphOf(model), options, ThreadsOf(GraphOf(model), options), ShapedGraphsOf(model),
              MemoryOf(model)) {
    for (const std::string& note : ready.Notes()) Log(LogLevel::kWarning, model.name(), "{}", note);
    Log(LogLevel::kDebug, model.name(), "the session is ready on {} threads after {:.1f} ms", ready.threads(),
        ready.prepare_ms());
  }

  const Model model;
  ReadyOnCpu ready;
};

Session::Session(const Model& model, const SessionOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}

Session::Session() = default;
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

void Session::Run(std::span<const ConstView> inputs, std::span<const View> outputs,
                  const RunOptions& options) {
  if (on_pool_) return on_pool_->Run(inputs, outputs, options);
  Impl& session = impl();
  CheckOpenInputs(session.model.name(), session.model.inputs(), inputs);
  if (HasLoadedShapes(session.model, inputs))
    CheckOutputs(session.model.name(), session.model.outputs(), outputs);
  else CheckOutputMemory(session.model.name(), session.model.outputs(), outputs);
  session.ready.Run(inputs, outputs, options);
}

std::vector<Tensor> Session::Run(std::initializer_list<Tensor> inputs, const RunOptions& options) {
  return Run(std::span(inputs.begin(), inputs.size()), options);
}

std::vector<Tensor> Session::Run(std::span<const Tensor> inputs, const RunOptions& options) {
  if (on_pool_) return on_pool_->Run(inputs, options);
  Impl& session = impl();
  std::vector<ConstView> views;
  for (const Tensor& t : inputs) views.push_back(t.view());
  CheckOpenInputs(session.model.name(), session.model.inputs(), views);
  return session.ready.Run(inputs, options);
}

std::vector<Tensor> Session::Run(const std::map<std::string, Tensor>& inputs,
                                 const std::vector<std::string>& outputs, const RunOptions& options) {
  const NamedRun named = NamedRunOf(model(), inputs, outputs);
  const std::vector<Tensor> all = Run(std::span(named.inputs), options);
  std::vector<Tensor> asked;
  for (const size_t output : named.outputs) asked.push_back(all[output]);
  return asked;
}

std::string Session::Explain(const Trace& trace, const DeviceLimits& limits, int columns) const {
  if (on_pool_) return on_pool_->PlanText();
  return impl().ready.Explain(trace, limits, columns);
}

std::vector<StepInfo> Session::Steps(const Trace& trace) const {
  if (on_pool_)
    Fail(Code::kUnimplemented, "session",
         "has no list of steps on a pool, because each processor has steps of its own; try PlanText()");
  return impl().ready.Steps(trace);
}

std::vector<ArenaValue> Session::Arena() const {
  if (on_pool_)
    Fail(Code::kUnimplemented, "session",
         "has no arena on a pool, because each processor has one of its own; try pool_stats()");
  const Graph& graph = GraphOf(impl().model);
  std::vector<ArenaValue> values;
  for (const PlacedValue& placed : PlacedValues(graph))
    values.push_back(
        {graph.value(placed.id).name, placed.offset, placed.life.bytes, placed.life.first, placed.life.last});
  return values;
}

TraceCounter Session::Activations(const Trace& trace) const {
  const std::vector<StepInfo> steps = Steps();
  std::vector<int64_t> changes(steps.size() + 1);  // of the bytes in use, at each step
  for (const ArenaValue& value : Arena()) {
    changes[size_t(value.first_step)] += value.bytes;
    changes[size_t(value.last_step) + 1] -= value.bytes;
  }
  std::map<std::string_view, int64_t> in_use;
  int64_t bytes = 0;
  for (size_t i = 0; i < steps.size(); ++i) in_use[steps[i].node] = bytes += changes[i];
  TraceCounter counter{"activations in use", "bytes", {}};
  for (const TraceEvent& event : trace.events) {
    const auto at = event.worker == 0 && !event.waits() ? in_use.find(event.name) : in_use.end();
    if (at != in_use.end()) counter.points.push_back({event.start_ns, double(at->second)});
  }
  if (!counter.points.empty()) counter.points.push_back({trace.total_ns, 0});
  return counter;
}

std::vector<std::string> Session::Notes() const {
  return on_pool_ ? on_pool_->Notes() : impl().ready.Notes();
}

std::string Session::PlanText() const {
  if (on_pool_) return on_pool_->PlanText();
  const Graph& graph = GraphOf(impl().model);
  return ToText(PlanOnOne(graph, kSessionProcessor, *impl().ready.thread_plan()), graph);
}

std::string Session::PlanJson() const {
  if (on_pool_) return on_pool_->PlanJson();
  const Graph& graph = GraphOf(impl().model);
  return ToJson(PlanOnOne(graph, kSessionProcessor, *impl().ready.thread_plan()), graph);
}

const Model& Session::model() const { return on_pool_ ? on_pool_->model() : impl().model; }

bool Session::settled() const { return on_pool_ ? on_pool_->settled() : impl().ready.settled(); }

void Session::Settle(const std::function<bool()>& pause) {
  if (on_pool_) on_pool_->Settle();
  else impl().ready.Settle(pause);
}

SessionStats Session::stats() const { return on_pool_ ? on_pool_->stats() : impl().ready.stats(); }

ShapeStats Session::shape_stats() const {
  return on_pool_ ? on_pool_->shape_stats() : impl().ready.shape_stats();
}

PoolStats Session::pool_stats() const {
  if (on_pool_) return on_pool_->pool_stats();
  (void)impl();
  Fail(Code::kFailedPrecondition, "session",
       "runs on one CPU; expected one on a pool; try Session(model, pool)");
}

Session::Impl& Session::impl() const {
  if (!impl_)
    Fail(Code::kFailedPrecondition, "session",
         "it is empty: made by default, or moved from; try to assign one made of a Model");
  return *impl_;
}

}  // namespace mete
