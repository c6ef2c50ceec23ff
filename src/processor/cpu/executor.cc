#include "processor/cpu/executor.h"

#include <cstring>

#include "base/clock.h"
#include "base/error.h"
#include "base/problems.h"
#include "base/rethrow.h"
#include "graph/bodies.h"
#include "graph/flops.h"
#include "graph/operators.h"

namespace mete {

namespace {

// An arena that has to grow doubles, so that a length that grows by one does not make one each time.
Tensor ArenaOf(int64_t bytes, const Tensor& before) {
  const int64_t has = int64_t(before.has_value() ? before.bytes() : 0);
  return has >= bytes && before.has_value() ? before : Tensor(DType::kU8, Shape{std::max(bytes, 2 * has)});
}

}  // namespace

Executor::Executor(const Graph& graph, const ThreadPlan& plan, CpuKernels& cpu,
                   const std::function<void(int, int)>& progress)
    : graph_(graph), plan_(plan), cpu_(cpu), memory_(PlanMemory(graph)) {
  arena_ = ArenaOf(memory_.arena_bytes, {});
  BindAll(nullptr, progress);
}

Executor::Executor(const Graph& graph, const ThreadPlan& plan, CpuKernels& cpu, const Like& like)
    : graph_(graph), plan_(plan), cpu_(cpu), memory_(PlanMemory(graph)) {
  arena_ = ArenaOf(memory_.arena_bytes, like.arena);
  if (like.changed) whole_run_ = like.other.whole_run_;
  BindAll(&like, nullptr);
}

void Executor::BindAll(const Like* like, const std::function<void(int, int)>& progress) {
  steps_.resize(graph_.nodes.size());
  dynamic_.resize(graph_.values.size());
  current_inputs_.resize(graph_.inputs.size());
  current_outputs_.resize(graph_.outputs.size());
  BindValues();
  MakeViews();
  Problems problems;
  for (size_t i = 0; i < steps_.size(); ++i) {
    problems.Try([&] { Bind(i, like); });
    if (progress) progress(int(i) + 1, int(steps_.size()));
  }
  problems.ThrowIfAny();
  cpu_.pool().TakeTimes();  // of what was measured and packed
}

void Executor::BindValues() {
  bound_to_ = arena_.data();
  bound_.reserve(graph_.values.size());
  for (size_t i = 0; i < graph_.values.size(); ++i) {
    const Value& v = graph_.values[i];
    if (v.open != kNoValue) open_.push_back(v.constant);
    ConstView& view = bound_.emplace_back(ConstView{nullptr, v.type, v.shape});
    switch (memory_.home[i]) {
      case Home::kConstant: view.data = DataIfThere(ValueId(i)); break;
      case Home::kArena: view.data = InArena(ValueId(i)); break;
      default: break;
    }
  }
}

const Tensor& Executor::ConstantOf(ValueId id) const {
  return graph_.value(memory_.alias_of[size_t(id)]).constant;
}

// A constant with a source (base/tensor_source.h) gets its data only for steps that read it.
const void* Executor::DataIfThere(ValueId id) const {
  const Tensor& constant = ConstantOf(id);
  return constant.source() ? nullptr : constant.data();
}

void Executor::BindSources(BoundStep& step) const {
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const ValueId id = step.node->inputs[i];
    if (id == kNoValue || memory_.home[size_t(id)] != Home::kConstant || step.inputs[i].data) continue;
    const Tensor& constant = ConstantOf(id);
    if (!step.prepared || !constant.source()) continue;
    const PreparedNode::Reads reads = step.prepared->reads(i);
    if (reads == PreparedNode::Reads::kBytes) step.inputs[i].data = constant.source()->bytes();
    if (reads != PreparedNode::Reads::kNothing && !step.inputs[i].data) step.inputs[i].data = constant.data();
  }
}

const void* Executor::InArena(ValueId id) const {
  return static_cast<const std::byte*>(arena_.data()) + memory_.where[size_t(id)];
}

void Executor::UseArena(const Tensor& arena) {
  arena_ = arena;
  if (arena_.data() == bound_to_) return;
  bound_to_ = arena_.data();
  const auto moves = [&](ValueId id) { return id != kNoValue && memory_.home[size_t(id)] == Home::kArena; };
  for (size_t i = 0; i < bound_.size(); ++i)
    if (moves(ValueId(i))) bound_[i].data = InArena(ValueId(i));
  for (BoundStep& step : steps_) {
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (moves(step.node->inputs[i])) step.inputs[i].data = InArena(step.node->inputs[i]);
    for (size_t i = 0; i < step.outputs.size(); ++i)
      if (moves(step.node->outputs[i]))
        step.outputs[i].data = const_cast<void*>(InArena(step.node->outputs[i]));
  }
}

// All at once, because a step of a new length must cost little.
void Executor::MakeViews() {
  size_t inputs = 0, outputs = 0;
  for (const Node& node : graph_.nodes) {
    inputs += node.inputs.size();
    outputs += node.outputs.size();
  }
  input_views_.resize(inputs);
  output_views_.resize(outputs);
  auto input = input_views_.begin();
  auto output = output_views_.begin();
  for (size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].inputs = {input, graph_.nodes[i].inputs.size()};
    steps_[i].outputs = {output, graph_.nodes[i].outputs.size()};
    input += std::ssize(steps_[i].inputs);
    output += std::ssize(steps_[i].outputs);
  }
}

bool Executor::BindViews(size_t i) {
  BoundStep& step = steps_[i];
  const Node& node = graph_.nodes[i];
  bool dynamic = false;
  for (size_t k = 0; k < node.inputs.size() + node.outputs.size(); ++k) {
    const bool is_output = k >= node.inputs.size();
    const size_t index = is_output ? k - node.inputs.size() : k;
    const ValueId id = is_output ? node.outputs[index] : node.inputs[index];
    const ConstView bound = id == kNoValue ? ConstView{} : bound_[size_t(id)];
    if (is_output) step.outputs[index] = {const_cast<void*>(bound.data), bound.type, bound.shape};
    else step.inputs[index] = bound;
    if (id == kNoValue) continue;
    const Home home = memory_.home[size_t(id)];
    dynamic |= home == Home::kDynamic;
    if (home == Home::kInput || home == Home::kOutput)
      patches_.push_back({int(i), int(index), is_output, home, int(memory_.where[size_t(id)])});
  }
  return dynamic;
}

// The step that computes the same node there; null where no node has its name and operator.
const Executor::BoundStep* Executor::StepLike(size_t i, const Like& like) const {
  if (like.changed) return &like.other.steps_[i];
  const Node& node = graph_.nodes[i];
  for (const BoundStep& step : like.other.steps_)
    if (step.node->name == node.name && step.node->op == node.op) return &step;
  return nullptr;
}

void Executor::Bind(size_t i, const Like* like) {
  BoundStep& step = steps_[i];
  const Node& node = graph_.nodes[i];
  step.node = &node;
  const bool dynamic = BindViews(i);
  const bool same = like && like->changed && !(*like->changed)[i];
  const BoundStep* there = same ? &like->other.steps_[i] : nullptr;
  step.flops = there ? there->flops : Flops(graph_, node);
  step.bytes = there ? there->bytes : BytesMoved(graph_, node);
  if (memory_.is_view[i]) return;
  if (IsControlFlow(node.op)) {
    step.threads = plan_.steps[i].threads;
    step.control_flow = std::make_unique<ControlFlowStep>(node, cpu_, *this);
    return;
  }
  if (dynamic) {
    step.dynamic = FindReference(node.op);
    if (!step.dynamic) Fail(Code::kUnimplemented, node.name, "no kernel for operator {}", node.op);
    return;
  }
  step.threads = plan_.steps[i].threads;
  if (there && there->prepared && there->threads == step.threads) {
    step.prepared = there->prepared;
    step.number = there->number;
  } else {
    PrepareStep(i, like);
  }
  BindSources(step);
}

void Executor::PrepareStep(size_t i, const Like* like) {
  BoundStep& step = steps_[i];
  const BoundStep* there = like ? StepLike(i, *like) : nullptr;
  // what the policy has learned of the step is as good for other sizes of it
  step.number = there && there->number > 0 ? there->number : cpu_.pool().NewStep();
  step.prepared =
      like ? cpu_.PrepareAgain(graph_, *step.node, plan_.steps[i], there ? there->prepared.get() : nullptr)
           : cpu_.Prepare(graph_, *step.node, plan_.steps[i]);
  if (cpu_.TakeWaiting()) unmeasured_.push_back(i);
}

// The policy has learned of another way of the step: the new number makes it learn again.
std::optional<Tuner::Waiting> Executor::PrepareByTimes(size_t i) {
  BoundStep& step = steps_[i];
  step.prepared = cpu_.Prepare(graph_, *step.node, plan_.steps[i]);
  std::optional<Tuner::Waiting> waiting = cpu_.TakeWaiting();
  BindSources(step);
  if (!waiting) step.number = cpu_.pool().NewStep();
  cpu_.pool().TakeTimes();  // of what was packed
  return waiting;
}

int64_t Executor::packed_bytes() const {
  int64_t bytes = 0;
  for (const BoundStep& s : steps_)
    if (s.prepared) bytes += s.prepared->packed_bytes();
  return bytes;
}

int64_t Executor::computed_flops() const {
  int64_t flops = 0;
  for (const BoundStep& s : steps_) flops += s.computed_flops();
  return flops;
}

ConstView Executor::Current(ValueId id) const {
  if (id == kNoValue) return {};
  ConstView view = bound_[size_t(id)];
  switch (memory_.home[size_t(id)]) {
    case Home::kDynamic: return dynamic_[size_t(id)].view();
    case Home::kInput: view.data = current_inputs_[size_t(memory_.where[size_t(id)])].data; return view;
    case Home::kOutput: view.data = current_outputs_[size_t(memory_.where[size_t(id)])].data; return view;
    case Home::kConstant:
      if (!view.data) view.data = ConstantOf(id).data();
      return view;
    default: return view;
  }
}

void Executor::RunDynamic(BoundStep& step) {
  const Node& node = *step.node;
  for (size_t i = 0; i < node.inputs.size(); ++i) step.inputs[i] = Current(node.inputs[i]);
  const auto results = InferNode(node, step.inputs);
  auto allocate = [&](size_t i, DType type, const Shape& shape) {
    if (i < node.outputs.size() && node.outputs[i] != kNoValue)
      step.outputs[i] = dynamic_[size_t(node.outputs[i])].Resize(type, shape);
  };
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    if (memory_.home[size_t(node.outputs[i])] != Home::kDynamic) continue;  // bound or patched already
    step.outputs[i] = {};
    if (results[i].shape.known()) allocate(i, results[i].type, results[i].shape);
  }
  RefArgs args{node.attributes, step.inputs, step.outputs, scratch_, allocate};
  scratch_.Reset();
  step.dynamic(args);
}

void Executor::RunControlFlow(BoundStep& step, const RunOptions& options) {
  const Node& node = *step.node;
  for (size_t i = 0; i < node.inputs.size(); ++i) step.inputs[i] = Current(node.inputs[i]);
  const auto output = [&](size_t i, DType type, const Shape& shape) {
    const ValueId id = node.output(i);
    if (id == kNoValue) return View();
    if (memory_.home[size_t(id)] == Home::kDynamic)
      return step.outputs[i] = dynamic_[size_t(id)].Resize(type, shape);
    const View& bound = step.outputs[i];
    if (bound.type != type || bound.shape != shape)
      Fail(Code::kInternal, node.name, "output {} is not what was inferred; got {} {}, expected {} {}", i,
           Name(type), ToString(shape), Name(bound.type), ToString(bound.shape));
    return bound;
  };
  step.control_flow->Run(node, step.inputs, output, Stops(options), alone_);
}

// The node's event of the calling thread, from its begin to its end, then those of the others that took part.
// All but the last of them to be done wait until the node ends.
void Executor::Record(const BoundStep& step, int64_t start, int64_t end, int64_t run_start, Trace& trace) {
  const bool layout = step.node->attributes.Has("mete_layout");
  const std::string &name = step.node->name, &op = step.node->op;
  trace.events.push_back({name, op, 0, start, end, step.flops, layout, step.bytes});
  const int64_t wait = cpu_.pool().TakeWaitNs();
  if (wait > 0) trace.events.push_back({"[wait]", name, 0, end - wait, end});
  const std::vector<ThreadPool::Span> spans = cpu_.pool().TakeSpans();
  int64_t last_end = 0;
  for (const ThreadPool::Span& span : spans) last_end = std::max(last_end, span.end_ns - run_start);
  for (const ThreadPool::Span& span : spans) {
    if (span.worker == 0) continue;
    const int64_t begun = span.start_ns - run_start, done = span.end_ns - run_start;
    trace.events.push_back({name, op, span.worker, begun, done < last_end ? end : done, 0, layout});
    if (done < last_end) trace.events.push_back({"[wait]", name, span.worker, done, end});
  }
}

void Executor::RunStep(BoundStep& step, const RunOptions& options, int64_t run_start) {
  if (!step.prepared && !step.dynamic && !step.control_flow) return;
  const int64_t start = options.trace ? NowNs() - run_start : 0;
  try {
    cpu_.pool().BeginStep(step.number, alone_ ? 1 : step.threads);
    if (step.prepared) step.prepared->Execute(step.inputs, step.outputs);
    else if (step.dynamic) RunDynamic(step);
    else RunControlFlow(step, options);
  } catch (...) {
    RethrowNaming(step.node->name);
  }
  if (options.trace) Record(step, start, NowNs() - run_start, run_start, *options.trace);
}

void Executor::BeginTrace(Trace& trace) {
  trace.events.clear();
  trace.process = graph_.name;
  trace.lanes.clear();
  for (int w = 0; w < plan_.threads; ++w)
    trace.lanes.push_back(fmt::format(
        "thread {}{}", w, plan_.cores.empty() ? "" : fmt::format(", core {}", plan_.cores[size_t(w)])));
  cpu_.pool().TakeWaitNs();
}

void Executor::UseAddresses(std::span<const ConstView> inputs, std::span<const View> outputs) {
  std::copy(inputs.begin(), inputs.end(), current_inputs_.begin());
  std::copy(outputs.begin(), outputs.end(), current_outputs_.begin());
  for (const Patch& p : patches_) {
    BoundStep& step = steps_[size_t(p.step)];
    const void* data = p.home == Home::kInput ? inputs[size_t(p.port)].data : outputs[size_t(p.port)].data;
    if (p.is_output) step.outputs[size_t(p.index)].data = const_cast<void*>(data);
    else step.inputs[size_t(p.index)].data = data;
  }
}

void Executor::RunSteps(const RunOptions& options, int64_t run_start) {
  const Stops stops(options);
  for (BoundStep& step : steps_) {
    ThrowIfStopped(stops, step.node->name);
    RunStep(step, options, run_start);
  }
}

void Executor::Run(std::span<const ConstView> inputs, std::span<const View> outputs,
                   const RunOptions& options) {
  UseAddresses(inputs, outputs);
  const ThreadPool::CallerPin pin(cpu_.pool());
  const bool choose = options.alone == RunOptions::Alone::kWhereSooner;
  alone_ = choose ? whole_run_.BeginAlone() : options.alone == RunOptions::Alone::kAlways;
  const int64_t start = NowNs();
  cpu_.pool().RecordSpans(options.trace != nullptr);
  if (options.trace) BeginTrace(*options.trace);
  RunSteps(options, start);
  FinishOutputs(outputs);
  const int64_t ns = NowNs() - start;
  if (choose) whole_run_.Learn(double(ns), cpu_.pool().TakeTimes());
  if (options.trace) options.trace->total_ns = ns;
}

void Executor::RunAsBody(std::span<const ConstView> inputs, std::span<const View> outputs, const Stops& stops,
                         bool alone) {
  UseAddresses(inputs, outputs);
  alone_ = alone;
  RunSteps({.cancel = stops.cancel, .deadline = stops.deadline}, 0);
  FinishOutputs(outputs);
}

// Outputs that no step writes in place: constants, inputs, values listed twice, dynamic ones.
void Executor::FinishOutputs(std::span<const View> outputs) {
  for (size_t p = 0; p < outputs.size(); ++p) {
    const ValueId id = graph_.outputs[p];
    const bool in_place =
        memory_.home[size_t(id)] == Home::kOutput && memory_.where[size_t(id)] == int64_t(p);
    if (in_place || !outputs[p].data) continue;
    const ConstView source = Current(id);
    if (source.bytes() > 0) std::memcpy(outputs[p].data, source.data, source.bytes());
  }
}

}  // namespace mete
