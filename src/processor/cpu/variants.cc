#include "processor/cpu/variants.h"

#include <algorithm>

namespace mete {
namespace {

bool HasShapes(const std::vector<Shape>& shapes, std::span<const ConstView> inputs) {
  return std::equal(shapes.begin(), shapes.end(), inputs.begin(), inputs.end(),
                    [](const Shape& shape, const ConstView& input) { return shape == input.shape; });
}

// The elements of all values that a run computes: a measure of its work.
double ComputedElements(const Graph& graph) {
  double elements = 0;
  for (const Value& value : graph.values)
    if (!value.is_constant() && value.shape.known()) elements += double(value.shape.Elements());
  return elements;
}

}  // namespace

Variants::Variants(std::unique_ptr<ShapedGraphs> graphs, CpuKernels& kernels, Executor& first,
                   Planner planner, size_t most)
    : graphs_(std::move(graphs)),
      kernels_(kernels),
      first_(first),
      planner_(std::move(planner)),
      most_(most),
      arena_(first.arena()) {}

std::shared_ptr<Executor> Variants::Of(std::span<const ConstView> inputs) {
  auto at = std::find_if(kept_.begin(), kept_.end(),
                         [&](const auto& variant) { return HasShapes(variant->inputs, inputs); });
  if (at == kept_.end()) {
    kept_.push_front(Make(inputs));
    ++planned_;
    if (kept_.size() > most_) kept_.pop_back();
  } else {
    kept_.splice(kept_.begin(), kept_, at);
  }
  return {kept_.front(), kept_.front()->executor.get()};
}

// The walked variant has the estimated kernels too, and would hand them on.
void Variants::Forget() {
  kept_.clear();
  walked_ = nullptr;
}

std::shared_ptr<Variants::Variant> Variants::Make(std::span<const ConstView> inputs) {
  auto variant = std::make_shared<Variant>();
  for (const ConstView& input : inputs) variant->inputs.push_back(input.shape);
  // It is unknown which shapes the graph has after an error.
  const std::shared_ptr<Variant> before = std::move(walked_);
  const ShapedGraphs::Shaped shaped = graphs_->At(variant->inputs);
  variant->graph = shaped.graph;
  const Variant* near = shaped.walk && before && before->graph == shaped.graph ? before.get() : nullptr;
  PlanThreads(*variant, near);
  variant->executor = std::make_unique<Executor>(
      *variant->graph, *variant->plan, kernels_,
      Executor::Like{near ? *near->executor : first_, near ? &shaped.walk->changed() : nullptr, arena_});
  ShareArena(variant->executor->arena());
  if (shaped.walk) walked_ = variant;
  return variant;
}

void Variants::ShareArena(const Tensor& arena) {
  if (arena.data() == arena_.data()) return;
  arena_ = arena;
  first_.UseArena(arena_);
  for (const auto& variant : kept_) variant->executor->UseArena(arena_);
}

// Threads are planned again where the work has doubled or halved: a plan costs more than a small run.
void Variants::PlanThreads(Variant& variant, const Variant* before) const {
  const double elements = ComputedElements(*variant.graph);
  if (before && elements <= 2 * before->planned_elements && 2 * elements >= before->planned_elements) {
    variant.plan = before->plan;
    variant.planned_elements = before->planned_elements;
    return;
  }
  variant.plan = std::make_shared<const ThreadPlan>(planner_(*variant.graph));
  variant.planned_elements = elements;
}

}  // namespace mete
