#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/table.h"
#include "engine/environment.h"
#include "engine/model.h"
#include "engine/stored_profile.h"
#include "kernels/fast/target/target.h"
#include "machine/machine.h"
#include "plan/cores/cores.h"
#include "plan/plan.h"
#include "run/executor.h"

namespace mete {
namespace {

// By the profile of this machine where there is one that serves; `note` says why one does not.
Plan PlanHere(const Graph& graph, const Machine& machine, const SessionOptions& options, std::string* note) {
  const CpuChoice choice{options.threads, options.cores, options.speeds, options.policy};
  const bool reference = options.reference || ReferenceFromEnvironment();
  const auto profile = reference ? nullptr : LoadProfile(options.profile_cache, machine, note);
  return PlanByProfile(graph, machine, choice, profile.get());
}

Plan MakePlan(const Graph& graph, const Machine& machine, const SessionOptions& options, std::string* note) {
  if (options.threads < 0) Invalid("threads", "cannot be negative; got {}", options.threads);
  if (const auto& names = PolicyNames(); std::find(names.begin(), names.end(), options.policy) == names.end())
    Invalid("policy", "unknown policy; got '{}'{}", options.policy, ExpectedOneOf(options.policy, names));
  Plan plan =
      options.plan_json.empty() ? PlanHere(graph, machine, options, note) : PlanFromJson(options.plan_json);
  Verify(plan, graph, machine);
  return plan;
}

// METE_CONV names the way to compute convolutions wherever it fits; for tests and comparisons.
std::optional<ConvAlgorithm> ConvFromEnvironment() {
  static const std::optional<ConvAlgorithm> conv = [] {
    const char* name = std::getenv("METE_CONV");
    return ParseConvAlgorithm("METE_CONV", name ? name : "");
  }();
  return conv;
}

// Where the file leaves open what differs, the model can be loaded with that shape.
std::string AdviceFor(const Port& port, const Shape& shape) {
  const Shape& declared = port.declared;
  if (!declared.known() || declared.rank() != shape.rank()) return "";
  for (int i = 0; i < shape.rank(); ++i)
    if (declared[i] >= 0 && declared[i] != shape[i]) return "";
  return fmt::format("; try --shape {}={}, in C++ LoadOptions::input_shapes", port.name, ToString(shape));
}

void CheckPort(const char* kind, const Port& port, DType type, const Shape& shape, const void* data) {
  if (port.type != DType::kUnknown && type != port.type)
    Invalid(port.name, "wrong {} type; got {}, expected {}", kind, Name(type), Name(port.type));
  if (port.shape.known() && shape != port.shape)
    Invalid(port.name, "wrong {} shape; got {}, expected {}{}", kind, ToString(shape), ToString(port.shape),
            AdviceFor(port, shape));
  if (!data && shape.Elements() > 0) Invalid(port.name, "{} has no data", kind);
}

// Why the threads run what they run, in a line.
std::string ReasonOf(const Plan& plan) {
  if (plan.steps.empty()) return "nothing to do";
  const auto predicted = [](const Step& s) { return s.predicted_us > 0; };
  const auto computes = std::find_if(plan.steps.begin(), plan.steps.end(), predicted);
  if (computes == plan.steps.end() || plan.threads == 1)
    return (computes == plan.steps.end() ? plan.steps[0] : *computes).reason;
  const auto divided = [](const Step& s) { return s.predicted_us > 0 && s.threads > 1; };
  return fmt::format(
      "by the profile of this machine {} of {} nodes that compute are divided, each over the first so many "
      "threads",
      std::count_if(plan.steps.begin(), plan.steps.end(), divided),
      std::count_if(plan.steps.begin(), plan.steps.end(), predicted));
}

std::string TuningText(const std::optional<Tuner>& tuner) {
  if (!tuner) return "";
  std::string text = fmt::format("tuned: {} candidates measured at this start\n", tuner->measured());
  return tuner->note().empty() ? text : text + tuner->note() + "\n";
}

}  // namespace

void CheckInputs(const Model& model, std::span<const ConstView> inputs) {
  const auto& ports = model.inputs();
  if (inputs.size() != ports.size())
    Invalid(model.name(), "wrong number of inputs; got {}, expected {}", inputs.size(), ports.size());
  for (size_t i = 0; i < ports.size(); ++i)
    CheckPort("input", ports[i], inputs[i].type, inputs[i].shape, inputs[i].data);
}

SessionOptions SessionOptions::Estimated(int threads) {
  SessionOptions options;
  options.threads = threads;
  options.tune = false;
  options.tuning_cache = options.profile_cache = "";
  return options;
}

struct Session::Impl {
  Impl(const Model& m, const SessionOptions& options)
      : model(m),
        machine(ReadMachine()),
        plan(MakePlan(GraphOf(model), machine, options, &profile_note)),
        cpu(OptionsOf(options)),
        executor(GraphOf(model), plan, cpu, options.progress) {
    if (tuner) tuner->Save();
  }

  CpuOptions OptionsOf(const SessionOptions& options) {
    CpuOptions cpu{plan.threads, plan.cores, options.reference || ReferenceFromEnvironment(),
                   ConvFromEnvironment()};
    // A network with quantized values is judged by the roundings of the engine that calibrated it
    // (passes/fuse_quantized.cc), which a larger error would cross more often.
    cpu.plain_sums = model.stats().operators.contains("QuantizeLinear");
    cpu.packed_cache = options.packed_cache;
    cpu.speeds = plan.speeds;
    cpu.workers = WorkersOf(plan, machine);
    if (cpu.reference && !plan.speeds.empty())
      Invalid("speeds", "the reference kernels cannot be slowed; leave out one of the two");
    if (!plan.steps.empty()) cpu.policy = plan.steps[0].policy;
    if (!options.tune || cpu.reference) return cpu;
    tuner.emplace(TuningFile(options.tuning_cache, machine.name, ActiveTarget()));
    cpu.tuner = &*tuner;
    const Cluster& fastest = machine.clusters.front();
    cpu.weights_from_memory =
        model.stats().constant_bytes > std::max(fastest.cache_bytes(2), fastest.cache_bytes(3));
    return cpu;
  }

  std::string WholeRunText() {
    std::lock_guard lock(mutex);  // runs change it
    const std::string text = executor.whole_run().text();
    return text.empty() ? "" : "whole runs: " + text + "\n";
  }

  const Model model;
  const Machine machine;
  std::string profile_note;  // before the plan, which fills it
  const Plan plan;
  std::optional<Tuner> tuner;  // measures while the executor prepares
  Cpu cpu;
  Executor executor;
  SessionStats stats;
  std::mutex mutex;
};

Session::Session(const Model& model, const SessionOptions& options) {
  const int64_t start = NowNs();
  impl_ = std::make_unique<Impl>(model, options);
  SessionStats& stats = impl_->stats;
  stats.prepare_ms = double(NowNs() - start) * 1e-6;
  stats.arena_bytes = impl_->executor.arena_bytes();
  stats.values_bytes = impl_->executor.unshared_bytes();
  stats.packed_bytes = impl_->executor.packed_bytes();
  stats.mapped_bytes = impl_->cpu.packer().mapped_bytes();
  stats.threads = impl_->plan.threads;
  stats.cores = impl_->plan.cores;
  stats.speeds = impl_->plan.speeds;
  stats.computed_flops = impl_->executor.computed_flops();
  stats.policy = impl_->plan.steps.empty() ? options.policy : impl_->plan.steps[0].policy;
}

Session::Session() = default;
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

void Session::Run(std::span<const ConstView> inputs, std::span<const View> outputs,
                  const RunOptions& options) {
  Impl& session = impl();
  CheckInputs(session.model, inputs);
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
  std::lock_guard lock(session.mutex);
  session.executor.Run(inputs, outputs, options);
}

std::vector<Tensor> Session::Run(std::initializer_list<Tensor> inputs, const RunOptions& options) {
  return Run(std::span(inputs.begin(), inputs.size()), options);
}

std::vector<Tensor> Session::Run(std::span<const Tensor> inputs, const RunOptions& options) {
  Impl& session = impl();
  std::vector<ConstView> views;
  for (const Tensor& t : inputs) views.push_back(t.view());
  CheckInputs(session.model, views);
  const auto& ports = session.model.outputs();
  std::vector<Tensor> results(ports.size());
  std::vector<View> outputs(ports.size());
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!ports[i].shape.known() || ports[i].type == DType::kUnknown) continue;
    results[i] = Tensor(ports[i].type, ports[i].shape);
    outputs[i] = results[i].mutable_view();
  }
  std::lock_guard lock(session.mutex);
  session.executor.Run(views, outputs, options);
  for (size_t i = 0; i < ports.size(); ++i) {
    if (results[i].has_value()) continue;
    const ConstView v = session.executor.Output(i);
    results[i] = Tensor(v.type, v.shape);
    if (v.bytes() > 0)
      std::copy_n(static_cast<const std::byte*>(v.data), v.bytes(),
                  static_cast<std::byte*>(results[i].mutable_view().data));
  }
  return results;
}

std::string Session::Explain(const Trace& trace, const DeviceLimits& limits, int columns) const {
  const Plan& plan = impl().plan;
  const std::string head = fmt::format("plan for {} on {}, {} thread{}: {}\n", plan.model, plan.machine,
                                       plan.threads, plan.threads == 1 ? "" : "s", ReasonOf(plan)) +
                           impl().WholeRunText() + TuningText(impl().tuner) + impl().cpu.packer().Explain();
  std::string text;
  for (const std::string& line : WrapText(head, columns)) text += line + "\n";
  text.erase(text.find_last_not_of('\n') + 2);  // one line break, and not that of the empty line behind it
  return text + ExplainTable(Steps(trace), limits, columns);
}

std::vector<StepInfo> Session::Steps(const Trace& trace) const { return impl().executor.Steps(trace); }

std::vector<std::string> Session::Notes() const {
  std::vector<std::string> notes;
  if (!impl().profile_note.empty()) notes.push_back(impl().profile_note);
  if (impl().tuner && !impl().tuner->note().empty()) notes.push_back(impl().tuner->note());
  for (const std::string& problem : impl().cpu.packer().problems()) notes.push_back(problem);
  for (const int core : impl().cpu.pool().refused_cores())
    notes.push_back(fmt::format(
        "no thread could be pinned to core {}, which went away or is not allowed; that thread runs on any",
        core));
  return notes;
}

std::string Session::PlanJson() const { return ToJson(impl().plan); }
const SessionStats& Session::stats() const { return impl().stats; }

Session::Impl& Session::impl() const {
  if (!impl_)
    Fail(Code::kFailedPrecondition, "session",
         "it is empty: made by default, or moved from; try to assign one made of a Model");
  return *impl_;
}

}  // namespace mete
