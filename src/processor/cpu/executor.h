// Executes a plan for one set of shapes: every step's inputs and outputs are bound to memory once; a run only
// patches the addresses that the caller gives. Executors of one session share prepared nodes and memory.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/growing_tensor.h"
#include "graph/graph.h"
#include "kernels/reference/reference.h"
#include "mete/engine.h"
#include "plan/threads/thread_plan.h"
#include "processor/cpu/bodies.h"
#include "processor/cpu/prepare/kernels.h"
#include "processor/memory/memory_plan.h"
#include "processor/stops.h"
#include "schedule/whole_run.h"

namespace mete {

class Executor {
 public:
  // Keeps references to the graph, the plan and `cpu`, and copies what it needs of the graph's present
  // shapes. Prepares every step; throws one Error with every step that cannot be prepared. `progress` is as
  // in SessionOptions.
  Executor(const Graph& graph, const ThreadPlan& plan, CpuKernels& cpu,
           const std::function<void(int, int)>& progress = nullptr);

  // Another executor of the session, for other shapes. Executors without threads of their own run in turns.
  struct Like {
    const Executor& other;
    // For each node: whether one of its shapes or constants differs from those of `other`, which executes the
    // same graph. Null: `other` executes another graph, whose nodes have the same names if they are the same.
    const std::vector<uint8_t>* changed = nullptr;
    Tensor arena = {};  // the executors use it in turn; a larger one is made if needed
  };
  // Takes the prepared nodes of `like.other` that have not changed, and prepares the others in the same way,
  // without measurements.
  Executor(const Graph& graph, const ThreadPlan& plan, CpuKernels& cpu, const Like& like);

  // Runs the graph once. `outputs[i].data` may be null for an output whose shape is known only at run time;
  // read it with Output(i) afterwards. Not reentrant.
  void Run(std::span<const ConstView> inputs, std::span<const View> outputs, const RunOptions& options);

  // The same within a step of another executor, on whose threads this one is: it computes with all of them,
  // or on the calling thread alone, as that one does, and is no part of a trace.
  void RunAsBody(std::span<const ConstView> inputs, std::span<const View> outputs, const Stops& stops,
                 bool alone);

  // Returns output i of the last run if the executor keeps it; the view is valid until the next run.
  ConstView Output(size_t i) const { return Current(graph_.outputs[i]); }

  // Return the type and the shape of an input or an output, without data.
  const ConstView& input(size_t i) const { return bound_[size_t(graph_.inputs[i])]; }
  const ConstView& output(size_t i) const { return bound_[size_t(graph_.outputs[i])]; }
  const Tensor& arena() const { return arena_; }
  // Moves the activations to another arena, which has arena_bytes() or more.
  void UseArena(const Tensor& arena);
  // Releases the arena's memory. Before the next run, the caller must call UseArena().
  void LeaveArena() { arena_ = {}; }

  // The steps that were prepared by estimate because their candidates have no times yet
  // (Tuner::When::kLater).
  const std::vector<size_t>& unmeasured() const { return unmeasured_; }
  // Prepares such a step again with the times that are known now. Returns what has to be measured before it
  // is prepared for good; nothing: it is.
  std::optional<Tuner::Waiting> PrepareByTimes(size_t step);
  int step_threads(size_t step) const { return plan_.steps[step].threads; }
  const ThreadPlan& plan() const { return plan_; }

  int64_t arena_bytes() const { return memory_.arena_bytes; }
  int64_t unshared_bytes() const { return memory_.unshared_bytes; }
  int64_t packed_bytes() const;
  int64_t computed_flops() const;  // SessionStats::computed_flops
  // Returns how each step is computed, with its time if `trace` has it.
  std::vector<StepInfo> Steps(const Trace& trace) const;
  const WholeRun& whole_run() const { return whole_run_; }

 private:
  struct BoundStep {
    const Node* node = nullptr;
    std::shared_ptr<PreparedNode> prepared;  // null for views, dynamic steps and control flow
    RefKernel dynamic = nullptr;
    std::unique_ptr<ControlFlowStep> control_flow;  // null for other operators
    std::span<ConstView> inputs;                    // in input_views_
    std::span<View> outputs;                        // in output_views_
    int64_t flops = 0, bytes = 0;
    int64_t number = 0;  // from ThreadPool::NewStep()
    int threads = 1;

    int64_t computed_flops() const { return prepared ? prepared->computed_flops(flops) : flops; }
  };
  // An address that changes from run to run.
  struct Patch {
    int step;
    int index;
    bool is_output;
    Home home;
    int port;
  };
  void BindValues();
  void MakeViews();
  const void* InArena(ValueId id) const;
  const Tensor& ConstantOf(ValueId id) const;
  const void* DataIfThere(ValueId id) const;
  void BindSources(BoundStep& step) const;
  void BindAll(const Like* like, const std::function<void(int, int)>& progress);
  void Bind(size_t step, const Like* like);
  bool BindViews(size_t step);  // returns whether a shape of the step is known only at run time
  void PrepareStep(size_t step, const Like* like);
  const BoundStep* StepLike(size_t step, const Like& like) const;
  ConstView Current(ValueId id) const;
  void RunDynamic(BoundStep& step);
  void RunControlFlow(BoundStep& step, const RunOptions& options);
  void FinishOutputs(std::span<const View> outputs);
  void BeginTrace(Trace& trace);
  void Record(const BoundStep& step, int64_t start, int64_t end, int64_t run_start, Trace& trace);
  void UseAddresses(std::span<const ConstView> inputs, std::span<const View> outputs);
  void RunSteps(const RunOptions& options, int64_t run_start);
  void RunStep(BoundStep& step, const RunOptions& options, int64_t run_start);

  const Graph& graph_;
  const ThreadPlan& plan_;
  CpuKernels& cpu_;
  MemoryPlan memory_;
  Tensor arena_;
  const void* bound_to_ = nullptr;  // the address of the arena for which the views are bound
  WholeRun whole_run_;
  bool alone_ = false;            // the run is the calling thread's alone
  std::vector<ConstView> bound_;  // per value: its type, shape and address in the arena or of a constant
  std::vector<Tensor> open_;      // constants that are valid for these shapes only
  std::vector<ConstView> input_views_;  // of all steps, one after the other
  std::vector<View> output_views_;
  std::vector<BoundStep> steps_;
  std::vector<size_t> unmeasured_;
  std::vector<Patch> patches_;
  std::vector<GrowingTensor> dynamic_;  // per value
  std::vector<ConstView> current_inputs_;
  std::vector<View> current_outputs_;
  Scratch scratch_;
};

// Returns a table with one row for each step. Rows have shares of the limits if these are known. `columns` is
// that of Session::Explain().
std::string ExplainTable(const std::vector<StepInfo>& steps, const DeviceLimits& limits, int columns = 0);

}  // namespace mete
