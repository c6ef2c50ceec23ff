#include "costs/bytes_since.h"

#include <algorithm>

#include "graph/flops.h"

namespace mete {
namespace {

bool Touches(const Node& node, ValueId id) {
  const auto has = [&](const std::vector<ValueId>& ids) { return std::find(ids.begin(), ids.end(), id) != ids.end(); };
  return has(node.inputs) || has(node.outputs);
}

}  // namespace

double BytesSince(const Graph& graph, const Node& node, ValueId id, double enough) {
  double bytes = double(BytesMoved(graph, node)) / 2;
  for (const Node* before = &node; before != graph.nodes.data() && bytes <= enough;) {
    --before;
    if (IsViewOperator(before->op)) {
      if (before->outputs[0] == id) id = before->inputs[0];
      continue;
    }
    const double moved = double(BytesMoved(graph, *before));
    if (Touches(*before, id)) return bytes + moved / 2;
    bytes += moved;
  }
  return bytes;
}

}  // namespace mete
