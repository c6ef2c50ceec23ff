// A graph made ready on the threads of a CPU: planned, its kernels chosen and measured, its weights packed.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "costs/profile.h"
#include "machine/machine.h"
#include "plan/threads/thread_plan.h"
#include "processor/cpu/arenas.h"
#include "processor/cpu/executor.h"
#include "processor/cpu/measurements.h"
#include "processor/cpu/prepare/kernels.h"
#include "processor/cpu/spare_time.h"
#include "processor/cpu/variants.h"
#include "processor/processor.h"

namespace mete {

// What the shares of one CPU, or the sessions of one model, have in common. Null: each has its own.
struct CpuMemory {
  std::shared_ptr<Arenas> arenas = nullptr;
  std::shared_ptr<PackedInUse> packed = nullptr;
};

class ReadyOnCpu : public Ready {
 public:
  // `graph` has had its passes. The object keeps a reference to it. `threads` is the plan of its steps, which
  // replaces the options about threads; nothing: the object plans. `shaped` gives the graph at other shapes;
  // null: its inputs have no other shapes. `memory` is that of the shares of one processor, or of the
  // sessions of one model.
  ReadyOnCpu(const Graph& graph, const SessionOptions& options,
             const std::optional<ThreadPlan>& threads = std::nullopt,
             std::unique_ptr<ShapedGraphs> shaped = nullptr, const CpuMemory& memory = {});
  // Does the same for a graph that this object keeps.
  ReadyOnCpu(std::unique_ptr<const Graph> graph, const SessionOptions& options,
             const std::optional<ThreadPlan>& threads = std::nullopt, const CpuMemory& memory = {});
  ~ReadyOnCpu() override;  // keeps the times that were measured

  void Start(std::span<const ConstView> inputs, std::span<const View> outputs,
             const RunOptions& options) override;
  void Wait() override {}
  int64_t memory_bytes() const override;
  int threads() const override { return plan_.threads; }
  double prepare_ms() const override { return stats_.prepare_ms; }
  bool MeasureFor(double us) override;

  using Ready::Run;
  std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options) override;

  // These functions do what the functions of Session with the same names do (mete/engine.h).
  std::string Explain(const Trace& trace, const DeviceLimits& limits, int columns) const;
  std::vector<StepInfo> Steps(const Trace& trace) const;
  std::vector<std::string> Notes() const;
  const ThreadPlan* thread_plan() const override { return &plan_; }
  SessionStats stats() const;
  bool settled() const;
  void Settle(const std::function<bool()>& pause);
  ShapeStats shape_stats() const;

 private:
  // Logs, if it is due, that all kernels are chosen. A function makes it before it takes the lock, so that
  // the line is given when the lock is free: what takes the lines may call the session.
  struct SettledLine {
    const std::string& graph;
    bool due = false;
    ~SettledLine();
  };

  ReadyOnCpu(std::unique_ptr<const Graph>&& owned, const Graph& graph, const SessionOptions& options,
             const std::optional<ThreadPlan>& threads, const CpuMemory& memory);
  KernelOptions OptionsOf(const SessionOptions& options, const CpuMemory& memory);
  void KeepVariants(const SessionOptions& options, std::unique_ptr<ShapedGraphs> shaped);
  ThreadPlan PlanAgain(const Graph& graph) const;
  std::shared_ptr<Executor> ExecutorFor(std::span<const ConstView> inputs);
  SessionStats StatsOf(const SessionOptions& options) const;
  void MeasureSome(SettledLine& line);
  void HaveSettled(SettledLine& line);
  void RunOnce(Executor& executor, std::span<const ConstView> inputs, std::span<const View> outputs,
               const RunOptions& options);
  std::string TuningText() const;
  std::vector<std::string> TunerNotes() const;
  std::string WholeRunText() const;
  std::string PackerText() const;
  std::vector<std::string> PackerProblems() const;

  const std::unique_ptr<const Graph> owned_;  // null where the graph is another's
  const Graph& graph_;
  const int64_t start_ns_;
  const Machine machine_;
  const CpuChoice choice_;
  const bool plans_;                  // false: the plan was given
  std::string profile_note_;          // before the profile, which fills it
  std::unique_ptr<Profile> profile_;  // null where there is none, or none is to be used
  const ThreadPlan plan_;
  std::optional<Tuner> tuner_;  // nothing: kernels are chosen by estimate
  CpuKernels kernels_;
  Executor executor_;
  std::optional<Arenas::Need> need_;  // nothing: the executor has an arena of its own
  SessionStats stats_;
  std::optional<Variants> variants_;        // for other shapes than those of `graph_`
  std::optional<Measurements> to_measure_;  // nothing: no tuner
  SpareTime spare_time_{Clock::Steady()};
  mutable std::mutex mutex_;  // of runs, and of all that changes between them
};

}  // namespace mete
