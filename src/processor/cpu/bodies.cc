#include "processor/cpu/bodies.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "graph/bodies.h"
#include "passes/pass.h"
#include "processor/cpu/executor.h"

namespace mete {
namespace {

// A loop that goes through more shapes than this, as a value that grows does, prepares its body for each of
// them in each run. Guess: a window that grows, or the lengths of the parts of a text.
constexpr size_t kMostKept = 64;

}  // namespace

struct CpuBody::Variant {
  std::vector<ConstView> inputs;  // types and shapes
  Graph graph;
  ThreadPlan plan;
  std::unique_ptr<Executor> executor;

  bool Takes(std::span<const ConstView> views) const {
    return std::equal(
        views.begin(), views.end(), inputs.begin(), inputs.end(),
        [](const ConstView& a, const ConstView& b) { return a.type == b.type && a.shape == b.shape; });
  }
};

CpuBody::CpuBody(GraphPtr body, Precision precision, CpuKernels& kernels, const Executor& outer)
    : body_(std::move(body)), precision_(precision), kernels_(kernels), outer_(outer) {}

CpuBody::~CpuBody() = default;

Executor& CpuBody::Of(std::span<const ConstView> inputs) {
  inputs_.assign(inputs.begin(), inputs.end());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Shape& declared = body_->value(body_->inputs[i]).shape;  // of one element, if any (Loop)
    if (declared.known() && inputs_[i].elements() == 1) inputs_[i].shape = declared;
  }
  const auto at = std::find_if(kept_.begin(), kept_.end(), [&](const auto& v) { return v->Takes(inputs_); });
  if (at != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, at);
    return *kept_.front()->executor;
  }
  if (kept_.size() == kMostKept) kept_.pop_back();
  kept_.push_front(Make());
  ShareArena(kept_.front()->executor->arena());
  return *kept_.front()->executor;
}

// Prepares the body for the inputs' types and shapes.
std::unique_ptr<CpuBody::Variant> CpuBody::Make() {
  auto variant = std::make_unique<Variant>();
  variant->inputs = inputs_;
  variant->graph = *body_;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Value& value = variant->graph.value(variant->graph.inputs[i]);
    value.type = inputs_[i].type;
    value.shape = inputs_[i].shape;
  }
  (void)RunPasses(variant->graph, {.optimize = !kernels_.reference(), .precision = precision_});
  variant->plan = kernels_.PlanBody(variant->graph, outer_.plan());
  variant->executor = std::make_unique<Executor>(variant->graph, variant->plan, kernels_,
                                                 Executor::Like{outer_, nullptr, arena_});
  return variant;
}

void CpuBody::ShareArena(const Tensor& arena) {
  if (arena_.has_value() && arena_.data() == arena.data()) return;
  arena_ = arena;
  for (const auto& variant : kept_) variant->executor->UseArena(arena_);
}

void CpuBody::Run(std::span<const ConstView> inputs, std::span<GrowingTensor> results) {
  Executor& executor = Of(inputs);
  std::vector<View> outputs(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const ConstView& expected = executor.output(i);
    if (expected.present() && expected.shape.known())
      outputs[i] = results[i].Resize(expected.type, expected.shape);
  }
  executor.RunAsBody(inputs_, outputs, stops_, alone_);
  for (size_t i = 0; i < results.size(); ++i) {
    if (outputs[i].present()) continue;
    const ConstView result = executor.Output(i);
    const View to = results[i].Resize(result.type, result.shape);
    if (result.bytes() > 0) std::memcpy(to.data, result.data, result.bytes());
  }
}

ConstView CpuBody::Expected(std::span<const ConstView> inputs, size_t i) { return Of(inputs).output(i); }

ControlFlowStep::ControlFlowStep(const Node& node, CpuKernels& kernels, const Executor& outer) {
  const Precision precision = ParsePrecision(node.name, node.attributes.String(kBodyPrecision, "f32"));
  for (const std::string_view name : BodyNames(node.op))
    bodies_.push_back(std::make_unique<CpuBody>(node.attributes.GraphOf(name), precision, kernels, outer));
}

void ControlFlowStep::Run(const Node& node, std::span<const ConstView> inputs,
                          std::function<View(size_t i, DType type, const Shape& shape)> output,
                          const Stops& stops, bool alone) {
  for (const auto& body : bodies_) body->RunNextWith(stops, alone);
  const ControlFlowArgs args{node.attributes, inputs, CapturesOf(node.attributes), std::move(output)};
  if (node.op == "If") RunIf(args, *bodies_[0], *bodies_[1]);
  else if (node.op == "Loop") RunLoop(args, *bodies_[0]);
  else RunScan(args, *bodies_[0]);
}

}  // namespace mete
