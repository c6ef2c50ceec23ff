#include "costs/bytes_since.h"

#include <algorithm>

#include "graph/flops.h"
#include "graph/traits.h"

namespace mete {
namespace {

bool Touches(const Node& node, ValueId id) {
  const auto has = [&](const std::vector<ValueId>& ids) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  return has(node.inputs) || has(node.outputs);
}

}  // namespace

double BytesSince(const Graph& graph, const Node& node, ValueId id, double run_bytes, double enough) {
  double bytes = double(BytesMoved(graph, node)) / 2;
  for (const Node* before = &node; before != graph.nodes.data();) {
    if (bytes > enough) return bytes;
    --before;
    if (IsViewOperator(before->op)) {
      if (before->outputs[0] == id) id = before->inputs[0];
      continue;
    }
    const double moved = double(BytesMoved(graph, *before));
    if (Touches(*before, id)) return bytes + moved / 2;
    bytes += moved;
  }
  return std::max(bytes, run_bytes);
}

double BytesOfRun(const Graph& graph) {
  double constants = 0, most = 0;
  std::vector<bool> counted(graph.values.size());
  for (const Node& node : graph.nodes) {
    if (IsViewOperator(node.op)) continue;
    double computed = double(BytesMoved(graph, node));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      // a table, of which the node reads only some rows; BytesMoved() counts these rows
      const bool is_table = i == 0 && node.op.starts_with("Gather");
      if (id == kNoValue || is_table || !graph.value(id).is_constant()) continue;
      const double bytes = double(graph.value(id).constant.bytes());
      computed -= bytes;
      if (!counted[size_t(id)]) constants += bytes;
      counted[size_t(id)] = true;
    }
    most = std::max(most, computed);
  }
  return constants + most;
}

}  // namespace mete
