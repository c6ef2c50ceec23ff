#include "processor/opencl/gpu/trace_of.h"

#include <map>

#include "graph/flops.h"

namespace mete::opencl {
namespace {

struct NodeTime {
  int64_t start_ns = 0, ns = 0;
};

std::map<int, NodeTime> TimesOfNodes(std::span<const int> nodes, std::span<const EventTimes> times) {
  std::map<int, NodeTime> of_nodes;
  for (size_t l = 0; l < times.size(); ++l) {
    if (nodes[l] < 0) continue;
    const auto [at, is_first] = of_nodes.try_emplace(nodes[l]);
    if (is_first) at->second.start_ns = times[l].start_ns - times[0].queued_ns;
    at->second.ns += times[l].run_ns();
  }
  return of_nodes;
}

}  // namespace

Trace TraceOf(const Graph& graph, std::span<const int> nodes, std::span<const EventTimes> times) {
  Trace trace;
  trace.process = graph.name;
  for (const auto& [n, time] : TimesOfNodes(nodes, times)) {
    const Node& node = graph.nodes[size_t(n)];
    trace.events.push_back({node.name, node.op, 0, time.start_ns, time.start_ns + time.ns, Flops(graph, node),
                            node.attributes.Has("mete_layout"), BytesMoved(graph, node)});
  }
  return trace;
}

}  // namespace mete::opencl
