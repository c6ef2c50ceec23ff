#include "processor/cpu/kernels_of.h"

#include "dispatch/dispatch.h"
#include "graph/traits.h"
#include "passes/pass.h"

namespace mete {

std::vector<std::string> CpuKernelsOf(const Graph& share) {
  Graph graph = share;
  (void)RunPasses(graph);
  const DispatchOptions options = OptionsFor(graph);
  std::vector<std::string> kernels;
  std::string why;
  for (const Node& node : graph.nodes) {
    if (IsViewOperator(node.op)) continue;
    const auto fast = FastKernelOf(graph, node, options, &why);
    kernels.push_back(fast ? KernelNames(*fast).front() : "reference");
  }
  return kernels;
}

}  // namespace mete
