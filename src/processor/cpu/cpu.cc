#include "processor/cpu/cpu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

// The first core of the plans that the processor makes for its shares.
int CallerCoreOf(const SessionOptions& options) {
  if (options.cores.empty()) return -1;
  const CpuChoice choice{options.threads, options.cores, options.speeds, options.policy};
  return PlanOneCpu({}, ReadMachine(), choice).cores[0];
}

}  // namespace

Cpu::Cpu(std::string name, SessionOptions options)
    : info_{std::move(name), "cpu", Describe(options)},
      options_(std::move(options)),
      caller_core_(CallerCoreOf(options_)),
      arenas_(std::make_shared<Arenas>()) {}

std::string Cpu::WhyNot(const Graph&, const Node& node) const {
  return FindReference(node.op) ? "" : "no kernel for operator " + node.op;
}

std::shared_ptr<Ready> Cpu::Prepare(const Graph& share) {
  auto graph = std::make_unique<Graph>(share);
  (void)RunPasses(*graph);
  return std::make_shared<ReadyOnCpu>(std::move(graph), options_, arenas_);
}

}  // namespace mete
