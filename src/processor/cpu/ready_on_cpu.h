// A graph made ready on the threads of a CPU: planned, its kernels chosen and measured, its weights packed.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "plan/threads/thread_plan.h"
#include "processor/cpu/executor.h"
#include "processor/cpu/prepare/kernels.h"
#include "processor/processor.h"

namespace mete {

class ReadyOnCpu : public Ready {
 public:
  // `graph` has had its passes. Keeps a reference to it. `threads`: the plan of its steps, which replaces the
  // options about threads; nothing: it plans.
  ReadyOnCpu(const Graph& graph, const SessionOptions& options,
             const std::optional<ThreadPlan>& threads = std::nullopt);
  // The same for a graph that this object keeps. It plans.
  ReadyOnCpu(std::unique_ptr<const Graph> graph, const SessionOptions& options);

  void Start(std::span<const ConstView> inputs, std::span<const View> outputs,
             const RunOptions& options) override;
  void Wait() override {}
  int64_t memory_bytes() const override { return stats_.arena_bytes + stats_.packed_bytes; }
  int threads() const override { return plan_.threads; }
  double prepare_ms() const override { return stats_.prepare_ms; }

  using Ready::Run;
  std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options) override;

  // As those of Session (mete/engine.h).
  std::string Explain(const Trace& trace, const DeviceLimits& limits, int columns) const;
  std::vector<StepInfo> Steps(const Trace& trace) const { return executor_.Steps(trace); }
  std::vector<std::string> Notes() const;
  const ThreadPlan& thread_plan() const { return plan_; }
  const SessionStats& stats() const { return stats_; }

 private:
  ReadyOnCpu(std::unique_ptr<const Graph>&& owned, const Graph& graph, const SessionOptions& options,
             const std::optional<ThreadPlan>& threads);
  KernelOptions OptionsOf(const SessionOptions& options);
  SessionStats StatsOf(const SessionOptions& options) const;
  std::string WholeRunText() const;

  const std::unique_ptr<const Graph> owned_;  // null where the graph is another's
  const Graph& graph_;
  const int64_t start_ns_;
  const Machine machine_;
  std::string profile_note_;  // before the plan, which fills it
  const ThreadPlan plan_;
  std::optional<Tuner> tuner_;  // measures while the executor prepares
  CpuKernels kernels_;
  Executor executor_;
  SessionStats stats_;
  mutable std::mutex mutex_;
};

}  // namespace mete
