#include "processor/cpu/ready_on_cpu.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/nearest.h"
#include "dispatch/options.h"
#include "graph/fused.h"
#include "kernels/fast/target/features.h"
#include "passes/pass.h"
#include "plan/cores/cores.h"
#include "processor/check_share.h"
#include "processor/cpu/environment.h"
#include "processor/cpu/prepare/sources_digest.h"
#include "processor/cpu/stored_profile.h"

namespace mete {
namespace {

CpuChoice ChoiceOf(const SessionOptions& options) {
  if (options.threads < 0) Invalid("threads", "cannot be negative; got {}", options.threads);
  if (const auto& names = PolicyNames(); std::find(names.begin(), names.end(), options.policy) == names.end())
    Invalid("policy", "unknown policy; got '{}'{}", options.policy, ExpectedOneOf(options.policy, names));
  if (options.kept_shapes < 1)
    Invalid("kept_shapes", "cannot be that few; got {}, expected 1 or more", options.kept_shapes);
  return {options.threads, options.cores, options.speeds, options.policy};
}

// The profile of this machine where there is one that serves; `note` says why one does not.
std::unique_ptr<Profile> ProfileFor(const SessionOptions& options, const Machine& machine,
                                    std::string* note) {
  const bool reference = options.reference || ReferenceFromEnvironment();
  return reference ? nullptr : LoadProfile(options.profile_cache, machine, note);
}

ThreadPlan Verified(ThreadPlan plan, const Graph& graph, const Machine& machine) {
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

bool HasTheShapes(const Graph& graph, std::span<const ConstView> inputs) {
  return std::equal(graph.inputs.begin(), graph.inputs.end(), inputs.begin(), inputs.end(),
                    [&](ValueId id, const ConstView& input) { return graph.value(id).shape == input.shape; });
}

// Returns the graph with the precisions of nodes that a given plan has; null: the graph has them.
std::unique_ptr<const Graph> AsPlanned(const Graph& graph, const std::optional<ThreadPlan>& plan) {
  if (!plan) return nullptr;
  std::map<std::string, Precision> given;
  for (const Step& step : plan->steps)
    if (!step.precision.empty()) given.emplace(step.node, ParsePrecision(step.node, step.precision));
  std::erase_if(given, [&](const auto& of_node) {
    const auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                   [&](const Node& n) { return n.name == of_node.first; });
    if (node == graph.nodes.end() || OperandsOf(*node) == of_node.second) return true;
    if (of_node.second != UsualPrecision(*node) && !MayRound(graph, *node, of_node.second))
      Invalid(node->name, "cannot round its operands; got {} in the plan, expected {}; try planning again",
              Name(of_node.second), Name(UsualPrecision(*node)));
    return false;
  });
  if (given.empty()) return nullptr;
  return std::make_unique<const Graph>(WithOperands(graph, given));
}

std::unique_ptr<const Graph> OwnedAsPlanned(std::unique_ptr<const Graph> graph,
                                            const std::optional<ThreadPlan>& plan) {
  std::unique_ptr<const Graph> planned = AsPlanned(*graph, plan);
  return planned ? std::move(planned) : std::move(graph);
}

}  // namespace

ReadyOnCpu::ReadyOnCpu(const Graph& graph, const SessionOptions& options,
                       const std::optional<ThreadPlan>& threads, std::unique_ptr<ShapedGraphs> shaped,
                       const CpuMemory& memory)
    : ReadyOnCpu(AsPlanned(graph, threads), graph, options, threads, memory) {
  if (shaped) KeepVariants(options, std::move(shaped));
}

ReadyOnCpu::ReadyOnCpu(std::unique_ptr<const Graph> graph, const SessionOptions& options,
                       const std::optional<ThreadPlan>& threads, const CpuMemory& memory)
    : ReadyOnCpu(OwnedAsPlanned(std::move(graph), threads), Graph(), options, threads, memory) {}

ReadyOnCpu::ReadyOnCpu(std::unique_ptr<const Graph>&& owned, const Graph& graph,
                       const SessionOptions& options, const std::optional<ThreadPlan>& threads,
                       const CpuMemory& memory)
    : owned_(std::move(owned)),
      graph_(owned_ ? *owned_ : graph),
      start_ns_(NowNs()),
      machine_(ReadMachine()),
      choice_(ChoiceOf(options)),
      plans_(!threads),
      profile_(plans_ ? ProfileFor(options, machine_, &profile_note_) : nullptr),
      plan_(Verified(threads ? *threads : PlanByProfile(graph_, machine_, choice_, profile_.get()), graph_,
                     machine_)),
      kernels_(OptionsOf(options, memory)),
      executor_(graph_, plan_, kernels_, options.progress),
      stats_(StatsOf(options)) {
  if (tuner_) tuner_->Save();
  if (tuner_) to_measure_.emplace(executor_, kernels_.pool(), *tuner_);
  if (!memory.arenas) return;
  need_.emplace(memory.arenas, executor_.arena_bytes());
  executor_.LeaveArena();  // its own, which has not been used
}

ReadyOnCpu::~ReadyOnCpu() {
  if (tuner_) tuner_->Save();
}

void ReadyOnCpu::KeepVariants(const SessionOptions& options, std::unique_ptr<ShapedGraphs> shaped) {
  variants_.emplace(
      std::move(shaped), kernels_, executor_, [this](const Graph& graph) { return PlanAgain(graph); },
      size_t(options.kept_shapes));
}

// The plan for a graph of other shapes. Where the session's plan was given, nodes have their threads of it.
ThreadPlan ReadyOnCpu::PlanAgain(const Graph& graph) const {
  if (plans_) return PlanByProfile(graph, machine_, choice_, profile_.get());
  return WithThreadsOf(plan_, graph);
}

KernelOptions ReadyOnCpu::OptionsOf(const SessionOptions& options, const CpuMemory& memory) {
  KernelOptions kernels{plan_.threads, plan_.cores, options.reference || ReferenceFromEnvironment(),
                        OptionsFor(graph_)};
  kernels.dispatch.conv = ConvFromEnvironment();
  kernels.packed_cache = options.packed_cache;
  kernels.packed = memory.packed;
  kernels.speeds = plan_.speeds;
  kernels.workers = WorkersOf(plan_, machine_);
  kernels.plan_body = [this](const Graph& graph) { return PlanAgain(graph); };
  if (kernels.reference && !plan_.speeds.empty())
    Invalid("speeds", "the reference kernels cannot be slowed; leave out one of the two");
  if (!plan_.steps.empty()) kernels.policy = plan_.steps[0].policy;
  const Cluster& fastest = machine_.clusters.front();
  kernels.weights_from_memory = ConstantBytes(graph_) + graph_.other_constant_bytes >
                                std::max(fastest.cache_bytes(2), fastest.cache_bytes(3));
  if (options.tune == Tune::kNever || kernels.reference) return kernels;
  tuner_.emplace(TuningFile(options.tuning_cache, CpuOfTimes(machine_, plan_.cores), ActiveInstructions(),
                            kSourcesDigest),
                 options.tune == Tune::kBefore ? Tuner::When::kNow : Tuner::When::kLater);
  kernels.tuner = &*tuner_;
  return kernels;
}

SessionStats ReadyOnCpu::StatsOf(const SessionOptions& options) const {
  SessionStats stats;
  stats.prepare_ms = double(NowNs() - start_ns_) * 1e-6;
  stats.arena_bytes = executor_.arena_bytes();
  stats.values_bytes = executor_.unshared_bytes();
  stats.packed_bytes = executor_.packed_bytes();
  stats.mapped_bytes = kernels_.packer().mapped_bytes();
  stats.threads = plan_.threads;
  stats.cores = plan_.cores;
  stats.speeds = plan_.speeds;
  stats.computed_flops = executor_.computed_flops();
  stats.policy = plan_.steps.empty() ? options.policy : plan_.steps[0].policy;
  return stats;
}

SessionStats ReadyOnCpu::stats() const {
  std::lock_guard lock(mutex_);  // measurements change it
  SessionStats stats = stats_;
  stats.packed_bytes = executor_.packed_bytes();
  stats.computed_flops = executor_.computed_flops();
  return stats;
}

int64_t ReadyOnCpu::memory_bytes() const {
  const SessionStats now = stats();
  return now.arena_bytes + now.packed_bytes;
}

// Returns the executor for the shapes of the inputs, after a check of what may be wrong with them.
std::shared_ptr<Executor> ReadyOnCpu::ExecutorFor(std::span<const ConstView> inputs) {
  if (!variants_ || HasTheShapes(graph_, inputs)) {
    CheckViews("input", graph_, graph_.inputs, inputs, [&](size_t i) { return executor_.input(i).shape; });
    return {std::shared_ptr<void>(), &executor_};
  }
  CheckViews("input", graph_, graph_.inputs, inputs, [&](size_t i) { return inputs[i].shape; });
  std::lock_guard lock(mutex_);
  return variants_->Of(inputs);
}

void ReadyOnCpu::Start(std::span<const ConstView> inputs, std::span<const View> outputs,
                       const RunOptions& options) {
  const std::shared_ptr<Executor> executor = ExecutorFor(inputs);
  CheckViews("output", graph_, graph_.outputs, outputs, [&](size_t i) { return executor->output(i).shape; });
  SettledLine line{graph_.name};
  std::lock_guard lock(mutex_);
  MeasureSome(line);
  const Arenas::Loan loan(need_, *executor);
  RunOnce(*executor, inputs, outputs, options);
}

void ReadyOnCpu::RunOnce(Executor& executor, std::span<const ConstView> inputs, std::span<const View> outputs,
                         const RunOptions& options) {
  const Clock::Time begin = spare_time_.Now();
  executor.Run(inputs, outputs, options);
  spare_time_.Earn(begin);
}

bool ReadyOnCpu::settled() const {
  std::lock_guard lock(mutex_);
  return !to_measure_ || to_measure_->done();
}

void ReadyOnCpu::Settle(const std::function<bool()>& pause) {
  SettledLine line{graph_.name};
  std::lock_guard lock(mutex_);
  if (!to_measure_ || to_measure_->done()) return;
  to_measure_->Resume();
  while (true) {
    to_measure_->Step();
    if (to_measure_->done()) break;
    if (pause && pause()) to_measure_->Resume();
  }
  HaveSettled(line);
}

bool ReadyOnCpu::MeasureFor(double us) {
  SettledLine line{graph_.name};
  std::lock_guard lock(mutex_);
  if (!to_measure_ || to_measure_->done()) return false;
  to_measure_->Resume();
  const int64_t end_ns = NowNs() + int64_t(us * 1e3);
  do to_measure_->Step();
  while (!to_measure_->done() && NowNs() < end_ns);
  if (to_measure_->done()) HaveSettled(line);
  return !to_measure_->done();
}

// Before a run, so that a session that runs once measures nothing.
void ReadyOnCpu::MeasureSome(SettledLine& line) {
  if (to_measure_ && spare_time_.Spend(*to_measure_) && to_measure_->done()) HaveSettled(line);
}

ReadyOnCpu::SettledLine::~SettledLine() {
  if (due) Log(LogLevel::kDebug, graph, "all kernels are measured and chosen for good");
}

// Other shapes have taken the estimated kernels, and take the measured ones when they come again.
void ReadyOnCpu::HaveSettled(SettledLine& line) {
  line.due = true;
  if (variants_) variants_->Forget();
}

std::vector<Tensor> ReadyOnCpu::Run(std::span<const Tensor> inputs, const RunOptions& options) {
  std::vector<ConstView> in;
  for (const Tensor& input : inputs) in.push_back(input.view());
  const std::shared_ptr<Executor> executor = ExecutorFor(in);
  std::vector<Tensor> results(graph_.outputs.size());
  std::vector<View> out(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const ConstView& output = executor->output(i);
    if (!output.shape.known() || output.type == DType::kUnknown) continue;
    results[i] = Tensor(output.type, output.shape);
    out[i] = results[i].mutable_view();
  }
  SettledLine line{graph_.name};
  std::lock_guard lock(mutex_);
  MeasureSome(line);
  const Arenas::Loan loan(need_, *executor);
  RunOnce(*executor, in, out, options);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].has_value()) continue;
    const ConstView v = executor->Output(i);
    results[i] = Tensor(v.type, v.shape);
    if (v.bytes() > 0)
      std::copy_n(static_cast<const std::byte*>(v.data), v.bytes(),
                  static_cast<std::byte*>(results[i].mutable_view().data));
  }
  return results;
}

ShapeStats ReadyOnCpu::shape_stats() const {
  std::lock_guard lock(mutex_);  // runs change it
  ShapeStats stats;
  stats.arena_bytes = executor_.arena_bytes();
  stats.packed_bytes = kernels_.packer().packed_bytes();
  if (!variants_) return stats;
  stats.kept += variants_->kept();
  stats.planned += variants_->planned();
  stats.passes = variants_->graphs().passes_run();
  stats.arena_bytes = variants_->arena_bytes();
  stats.note = variants_->graphs().note();
  return stats;
}

std::vector<StepInfo> ReadyOnCpu::Steps(const Trace& trace) const {
  std::lock_guard lock(mutex_);  // measurements change them
  return executor_.Steps(trace);
}

SessionOptions SessionOptions::Estimated(int threads) {
  SessionOptions options;
  options.threads = threads;
  options.tune = Tune::kNever;
  options.tuning_cache = options.profile_cache = "";
  return options;
}

}  // namespace mete
