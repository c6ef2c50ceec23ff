#include "base/error.h"
#include "engine/model.h"
#include "graph/ports.h"
#include "plan/plan.h"
#include "processor/cpu/ready_on_cpu.h"

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

}  // namespace

struct Session::Impl {
  Impl(const Model& m, const SessionOptions& options)
      : model(m), ready(GraphOf(model), options, ThreadsOf(GraphOf(model), options)) {}

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
  Impl& session = impl();
  CheckInputs(session.model.name(), session.model.inputs(), inputs);
  const auto& ports = session.model.outputs();
  if (outputs.size() != ports.size())
    Invalid(session.model.name(), "wrong number of outputs; got {}, expected {}", outputs.size(),
            ports.size());
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!ports[i].shape.known())
      Invalid(ports[i].name,
              "the output's shape is known only at run time; try the Run() that returns tensors");
    CheckPort("output", ports[i], outputs[i].type, outputs[i].shape, outputs[i].data);
  }
  session.ready.Run(inputs, outputs, options);
}

std::vector<Tensor> Session::Run(std::initializer_list<Tensor> inputs, const RunOptions& options) {
  return Run(std::span(inputs.begin(), inputs.size()), options);
}

std::vector<Tensor> Session::Run(std::span<const Tensor> inputs, const RunOptions& options) {
  Impl& session = impl();
  std::vector<ConstView> views;
  for (const Tensor& t : inputs) views.push_back(t.view());
  CheckInputs(session.model.name(), session.model.inputs(), views);
  return session.ready.Run(inputs, options);
}

std::string Session::Explain(const Trace& trace, const DeviceLimits& limits, int columns) const {
  return impl().ready.Explain(trace, limits, columns);
}

std::vector<StepInfo> Session::Steps(const Trace& trace) const { return impl().ready.Steps(trace); }
std::vector<std::string> Session::Notes() const { return impl().ready.Notes(); }

std::string Session::PlanJson() const {
  const Graph& graph = GraphOf(impl().model);
  return ToJson(PlanOnOne(graph, kSessionProcessor, impl().ready.thread_plan()), graph);
}

const SessionStats& Session::stats() const { return impl().ready.stats(); }

Session::Impl& Session::impl() const {
  if (!impl_)
    Fail(Code::kFailedPrecondition, "session",
         "it is empty: made by default, or moved from; try to assign one made of a Model");
  return *impl_;
}

}  // namespace mete
