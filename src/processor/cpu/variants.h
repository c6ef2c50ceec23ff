// The variants of a session: plans and executors for sets of input shapes other than the session's first
// one.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "passes/shaped_graphs.h"
#include "plan/threads/thread_plan.h"
#include "processor/cpu/executor.h"
#include "processor/cpu/prepare/kernels.h"

namespace mete {

class Variants {
 public:
  // Plans the threads of a graph's steps.
  using Planner = std::function<ThreadPlan(const Graph&)>;

  // Keeps the `most` variants that were used last. `first` is the executor of the session's first shapes,
  // whose choices of kernels the others take. Keeps references to `kernels` and `first`.
  Variants(std::unique_ptr<ShapedGraphs> graphs, CpuKernels& kernels, Executor& first, Planner planner,
           size_t most);

  // Returns the executor for the shapes of these inputs, which have the types of the graph's inputs, and
  // shapes that fit the model's file. It may run as long as the caller holds it, in turns with the others.
  // Allocates nothing where the variant is kept. Errors as those of the passes and of Executor.
  std::shared_ptr<Executor> Of(std::span<const ConstView> inputs);

  // Lets go of all variants: they are made again when their shapes come, by the kernels of `first` as it is
  // then. A caller that holds an executor may run it once more.
  void Forget();

  int64_t kept() const { return int64_t(kept_.size()); }
  int64_t planned() const { return planned_; }
  int64_t arena_bytes() const { return int64_t(arena_.bytes()); }
  const ShapedGraphs& graphs() const { return *graphs_; }

 private:
  struct Variant {
    std::vector<Shape> inputs;
    std::shared_ptr<const Graph> graph;
    std::shared_ptr<const ThreadPlan> plan;
    double planned_elements = 0;  // that the values had for which the threads were planned
    std::unique_ptr<Executor> executor;
  };

  std::shared_ptr<Variant> Make(std::span<const ConstView> inputs);
  void PlanThreads(Variant& variant, const Variant* before) const;
  void ShareArena(const Tensor& arena);

  const std::unique_ptr<ShapedGraphs> graphs_;
  CpuKernels& kernels_;
  Executor& first_;
  const Planner planner_;
  const size_t most_;
  Tensor arena_;
  std::list<std::shared_ptr<Variant>> kept_;  // the last used first
  std::shared_ptr<Variant> walked_;           // the one whose shapes the open graph has; null: unknown
  int64_t planned_ = 0;
};

}  // namespace mete
