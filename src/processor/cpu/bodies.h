// The bodies of a control flow node on a CPU: each is executed as a graph of its own, by the threads of the
// graph that it is in.
#pragma once

#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/precision.h"
#include "graph/graph.h"
#include "kernels/reference/control_flow.h"
#include "mete/engine.h"
#include "plan/threads/thread_plan.h"
#include "processor/cpu/prepare/kernels.h"
#include "processor/stops.h"

namespace mete {

class Executor;

// A body with an executor for each of the sets of shapes that its inputs had last. The passes run for each of
// these sets.
class CpuBody final : public Body {
 public:
  // Keeps references to `kernels` and to `outer`, the executor of the graph that has the body. `precision`:
  // that of the body's passes.
  CpuBody(GraphPtr body, Precision precision, CpuKernels& kernels, const Executor& outer);
  ~CpuBody() override;

  size_t outputs() const override { return body_->outputs.size(); }
  void Run(std::span<const ConstView> inputs, std::span<GrowingTensor> results) override;
  ConstView Expected(std::span<const ConstView> inputs, size_t i) override;

  // For the runs that follow, as Executor::RunAsBody().
  void RunNextWith(const Stops& stops, bool alone) {
    stops_ = stops;
    alone_ = alone;
  }

 private:
  struct Variant;
  Executor& Of(std::span<const ConstView> inputs);
  std::unique_ptr<Variant> Make();
  void ShareArena(const Tensor& arena);

  const GraphPtr body_;
  const Precision precision_;
  CpuKernels& kernels_;
  const Executor& outer_;
  Stops stops_;
  bool alone_ = false;
  std::vector<ConstView> inputs_;             // with the shapes that the body declares
  std::list<std::unique_ptr<Variant>> kept_;  // the last used first
  Tensor arena_;                              // of all of them, as they run in turn
};

// A control flow node with its bodies.
class ControlFlowStep {
 public:
  ControlFlowStep(const Node& node, CpuKernels& kernels, const Executor& outer);
  // `output`: as ControlFlowArgs::output; the others as in Executor::RunAsBody(). Errors name the node of the
  // body that they come from.
  void Run(const Node& node, std::span<const ConstView> inputs,
           std::function<View(size_t i, DType type, const Shape& shape)> output, const Stops& stops,
           bool alone);

 private:
  std::vector<std::unique_ptr<CpuBody>> bodies_;
};

}  // namespace mete
