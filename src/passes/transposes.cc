// Merges a Transpose with the Transpose before it, and removes the identities that result.
#include "base/permutation.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

Ints PermOf(const Graph& graph, const Node& node) {
  Ints perm = node.attributes.IntList("perm");
  if (perm.empty())
    for (int i = graph.value(node.inputs[0]).shape.rank() - 1; i >= 0; --i) perm.push_back(i);
  return perm;
}

void TurnIntoReshape(Graph& graph, Node& node) {
  const Shape& out = graph.value(node.outputs[0]).shape;
  node.op = "Reshape";
  node.attributes = {};
  node.inputs.push_back(AddInts(graph, node.name + ".shape", Ints(out.begin(), out.end())));
}

}  // namespace

bool CancelTransposes(Graph& graph) {
  const Uses uses(graph);
  bool changed = false;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& node = graph.nodes[n];
    if (node.op != "Transpose" || !graph.value(node.inputs[0]).shape.known()) continue;
    Ints perm = PermOf(graph, node);
    const int p = uses.producer[size_t(node.inputs[0])];
    if (p >= 0 && graph.nodes[size_t(p)].op == "Transpose") {
      const Node& before = graph.nodes[size_t(p)];
      const Ints first = PermOf(graph, before);
      for (int64_t& axis : perm) axis = first[size_t(axis)];
      node.inputs[0] = before.inputs[0];
      node.attributes.Set("perm", perm);
      changed = true;
    }
    const Shape& in = graph.value(node.inputs[0]).shape;
    if (!IsIdentity(perm) && in.Elements() > 0 && MovesOnlyOnes(in, perm)) {
      TurnIntoReshape(graph, node);
      changed = true;
    }
  }
  return Simplify(graph) | changed;
}

}  // namespace mete
