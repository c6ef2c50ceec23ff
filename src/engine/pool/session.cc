// A session on a pool.
#include <atomic>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "engine/model.h"
#include "engine/pool/make_session.h"
#include "engine/pool/note_book.h"
#include "engine/pool/other_shapes.h"
#include "engine/pool/pool_internals.h"
#include "engine/session_on_pool.h"
#include "engine/shaped_model.h"
#include "graph/ports.h"
#include "processor/stops.h"

namespace mete {
namespace {

std::vector<PoolStats::Part> PartsOf(const Plan& plan, const std::map<std::string, ProcessorMemory>& memory) {
  std::vector<PoolStats::Part> parts;
  for (const std::string& name : plan.processors) {
    const auto has = memory.find(name);
    const ProcessorMemory bytes = has == memory.end() ? ProcessorMemory() : has->second;
    parts.push_back({name, 0, 0, bytes.weights_bytes, bytes.values_bytes});
  }
  for (const PlannedGroup& group : plan.groups)
    for (const Share& share : group.shares) {
      parts[size_t(share.processor)].compute_us += share.compute_us;
      parts[size_t(share.processor)].bytes += share.bytes;
    }
  return parts;
}

RunReport ReportOf(RequestReport&& report) {
  return {report.us, report.alone, report.retried, std::move(report.compute_us),
          std::move(report.processors)};
}

class OnPool : public SessionOnPool {
 public:
  OnPool(const Model& model, const Pool& pool, const PoolOptions& options, const TimeOfSessions& time)
      : model_(model),
        notes_(std::make_shared<NoteBook>(model.name(), options.note)),
        session_(MakePoolSession(DivisibleOf(model), PoolInternals::Of(pool), options, notes_, time)) {
    stats_.prepare_ms = session_->prepare_ms();
    if (auto home = HomeOptionsOf(PoolInternals::Of(pool), options))
      other_shapes_.emplace(model_, std::move(*home));
  }

  std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options) override {
    CheckRun(options);
    if (!HaveShapesOfPlan(inputs)) return RunOtherShapes(inputs, options);
    if (options.alone == RunOptions::Alone::kAlways) return RunAtHome(inputs, options.report);
    RequestReport report;
    std::vector<Tensor> outputs = session_->Run(inputs, &report);
    if (options.report) *options.report = ReportOf(std::move(report));
    return outputs;
  }

  void Run(std::span<const ConstView> inputs, std::span<const View> outputs,
           const RunOptions& options) override {
    CheckRun(options);
    if (!AreShapesOfPlan(inputs)) return RunOtherShapes(inputs, outputs, options);
    CheckOutputs(model_.name(), model_.outputs(), outputs);
    if (options.alone == RunOptions::Alone::kAlways) return RunAtHome(inputs, outputs, options.report);
    if (!options.report) return session_->Run(inputs, outputs);
    RequestReport report;
    session_->Run(inputs, outputs, &report);
    *options.report = ReportOf(std::move(report));
  }

  const Model& model() const override { return model_; }
  bool settled() const override { return session_->has_first_plan(); }
  void Settle() override { session_->AwaitFirstPlan(); }
  std::string PlanText() const override { return ToText(session_->plan(), DivisibleOf(model_)); }
  std::string PlanJson() const override { return ToJson(session_->plan(), DivisibleOf(model_)); }
  std::vector<std::string> Notes() const override { return notes_->all(); }
  const SessionStats& stats() const override { return stats_; }
  ShapeStats shape_stats() const override { return other_shapes_ ? other_shapes_->stats() : ShapeStats{}; }

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
            PartsOf(plan, session_->memory())};
  }

  PoolSession& session() { return *session_; }

 private:
  void CheckRun(const RunOptions& options) const {
    if (options.trace)
      Fail(Code::kUnimplemented, "trace",
           "a run on a pool has none, because each processor has steps of its own; try RunOptions::report");
    if (options.cancel && options.cancel->cancelled())
      throw Error(Code::kCancelled, "[session] cancelled before the request began");
    ThrowIfStopped(Stops(options), "session");
  }

  // Returns whether the inputs have the shapes for which the model was loaded, whose rows the plan divides.
  // Error if the model's file does not allow their shapes, or the home cannot compute others.
  bool AreShapesOfPlan(std::span<const ConstView> inputs) const {
    CheckOpenInputs(model_.name(), model_.inputs(), inputs);
    if (!other_shapes_) CheckInputs(model_.name(), model_.inputs(), inputs);
    return HasLoadedShapes(model_, inputs);
  }
  bool HaveShapesOfPlan(std::span<const Tensor> inputs) const {
    std::vector<ConstView> views;
    for (const Tensor& input : inputs) views.push_back(input.view());
    return AreShapesOfPlan(views);
  }

  std::vector<Tensor> RunOtherShapes(std::span<const Tensor> inputs, const RunOptions& options) {
    const int64_t start_ns = NowNs();
    std::vector<Tensor> outputs = other_shapes_->Run(inputs, Stops(options));
    for (size_t i = 0; i < inputs.size(); ++i) NoteOtherShape(i, inputs[i].shape());
    if (options.report) *options.report = {.us = double(NowNs() - start_ns) * 1e-3, .alone = true};
    return outputs;
  }
  void RunOtherShapes(std::span<const ConstView> inputs, std::span<const View> outputs,
                      const RunOptions& options) {
    CheckOutputMemory(model_.name(), model_.outputs(), outputs);
    const int64_t start_ns = NowNs();
    other_shapes_->Run(inputs, outputs, Stops(options));
    for (size_t i = 0; i < inputs.size(); ++i) NoteOtherShape(i, inputs[i].shape);
    if (options.report) *options.report = {.us = double(NowNs() - start_ns) * 1e-3, .alone = true};
  }

  // Notes, at the first input with another shape, who computes such runs.
  void NoteOtherShape(size_t input, const Shape& shape) {
    const Port& port = model_.inputs()[input];
    if (shape == port.shape || noted_shape_.exchange(true)) return;
    notes_->Add(
        fmt::format("the plan is for the shapes for which the model was loaded ({} {}), and the home "
                    "computes others alone, "
                    "such as {}; for a plan of that shape load the model with --shape {}={}, in C++ "
                    "LoadOptions::input_shapes",
                    port.name, ToString(port.shape), ToString(shape), port.name, ToString(shape)));
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
    if (report) *report = {.us = double(NowNs() - start_ns) * 1e-3, .alone = true};
  }

  const Model model_;
  const std::shared_ptr<NoteBook> notes_;
  const std::unique_ptr<PoolSession> session_;
  SessionStats stats_;
  std::optional<OtherShapes> other_shapes_;  // nothing: the home is no CPU
  std::atomic<bool> noted_shape_{false};
};

}  // namespace

Session::Session(const Model& model, const Pool& pool) : Session(model, pool, PoolOptions{}) {}

Session::Session(const Model& model, const Pool& pool, const PoolOptions& options)
    : Session(PoolInternals::MakeSession(model, pool, options, TimeOneAndSeveral)) {}

Session PoolInternals::MakeSession(const Model& model, const Pool& pool, const PoolOptions& options,
                                   const TimeOfSessions& time) {
  Session session;
  session.on_pool_ = std::make_unique<OnPool>(model, pool, options, time);
  return session;
}

PoolSession& PoolInternals::SessionOf(const Session& session) {
  auto* on_pool = static_cast<OnPool*>(session.on_pool_.get());
  if (!on_pool) Fail(Code::kFailedPrecondition, "session", "runs on one CPU; expected one on a pool");
  return on_pool->session();
}

}  // namespace mete
