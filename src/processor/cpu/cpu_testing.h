// Processors of this process, for tests of what runs shares on them.
#pragma once

#include <memory>

#include "processor/cpu/cpu.h"
#include "processor/cpu/ready_on_cpu.h"

namespace mete {

inline SessionOptions ReferenceOptions(int threads = 1) {
  SessionOptions options = SessionOptions::Estimated(threads);
  options.reference = true;
  return options;
}

// One thread, reference kernels.
inline Cpu& ReferenceCpu() {
  static Cpu cpu("reference", ReferenceOptions());
  return cpu;
}

// The graph as it is, without passes, by reference kernels.
inline std::shared_ptr<Ready> ReferenceReady(const Graph& graph) {
  return std::make_shared<ReadyOnCpu>(std::make_unique<const Graph>(graph), ReferenceOptions());
}

// One thread, kernels by estimate.
inline Cpu& FastCpu() {
  static Cpu cpu("fast", SessionOptions::Estimated());
  return cpu;
}

inline std::shared_ptr<Ready> FastReady(const Graph& graph) { return FastCpu().Prepare(graph); }

}  // namespace mete
