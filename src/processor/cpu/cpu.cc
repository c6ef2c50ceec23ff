#include "processor/cpu/cpu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "graph/bodies.h"
#include "kernels/reference/reference.h"
#include "machine/machine.h"
#include "passes/pass.h"
#include "plan/threads/thread_plan.h"
#include "processor/cpu/ready_on_cpu.h"

namespace mete {
namespace {

std::string Describe(const SessionOptions& options) {
  const int threads = options.threads > 0 ? options.threads : int(options.cores.size());
  std::string text =
      threads == 0 ? "all threads" : fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
  if (!options.cores.empty())
    text +=
        fmt::format(" on core{} {}", options.cores.size() == 1 ? "" : "s", fmt::join(options.cores, ", "));
  if (!options.speeds.empty()) text += fmt::format(", emulated at speed {}", fmt::join(options.speeds, ", "));
  return text;
}

std::unique_ptr<const Graph> AfterPasses(const Graph& share) {
  auto graph = std::make_unique<Graph>(share);
  (void)RunPasses(*graph);
  return graph;
}

// A plan may not take a share to cores of another processor.
void CheckCores(const std::string& name, const ThreadPlan& got, const ThreadPlan& own) {
  if (got.threads == own.threads && got.cores == own.cores && got.speeds == own.speeds) return;
  const auto text = [](const ThreadPlan& plan) {
    return fmt::format("{} threads on cores {}", plan.threads, fmt::join(plan.cores, ", "));
  };
  Invalid(name, "the plan's threads are not this processor's; got {}, expected {}; try planning again",
          text(got), text(own));
}

// Profiles, trials and the watch over drift compare times of shares, which must therefore stay as they are.
SessionOptions MeasuredBefore(SessionOptions options) {
  if (options.tune == Tune::kAfter) options.tune = Tune::kBefore;
  return options;
}

// Threads and cores of the plans that the processor makes for its shares.
ThreadPlan OwnThreads(const SessionOptions& options) {
  return PlanOneCpu({}, ReadMachine(), {options.threads, options.cores, options.speeds, options.policy});
}

// The machine is read only to compare cores: that takes a millisecond, for which the first answer would wait.
int CallerCoreOf(const SessionOptions& options) {
  if (options.cores.size() < 2) return options.cores.empty() ? -1 : options.cores[0];
  return OwnThreads(options).cores[0];
}

}  // namespace

Cpu::Cpu(std::string name, SessionOptions options)
    : info_{std::move(name), "cpu", Describe(options)},
      options_(MeasuredBefore(std::move(options))),
      caller_core_(CallerCoreOf(options_)),
      memory_(std::make_shared<const CpuMemory>(
          CpuMemory{std::make_shared<Arenas>(), std::make_shared<PackedInUse>()})) {}

ProcessorMemory Cpu::memory() const { return {memory_->packed->bytes(), memory_->arenas->memory_bytes()}; }

std::string Cpu::WhyNot(const Graph&, const Node& node) const {
  return FindReference(node.op) || IsControlFlow(node.op) ? "" : "no kernel for operator " + node.op;
}

std::shared_ptr<Ready> Cpu::Prepare(const Graph& share) {
  return std::make_shared<ReadyOnCpu>(AfterPasses(share), options_, std::nullopt, *memory_);
}

std::shared_ptr<Ready> Cpu::PrepareSoon(const Graph& share) {
  SessionOptions options = options_;
  if (options.tune == Tune::kBefore) options.tune = Tune::kAfter;
  return std::make_shared<ReadyOnCpu>(AfterPasses(share), options, std::nullopt, *memory_);
}

std::shared_ptr<Ready> Cpu::PrepareAsPlanned(const Graph& share, const ThreadPlan& threads) {
  CheckCores(info_.name, threads, OwnThreads(options_));
  return std::make_shared<ReadyOnCpu>(AfterPasses(share), options_, threads, *memory_);
}

}  // namespace mete
