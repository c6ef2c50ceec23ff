#include "engine/open_divisible.h"

#include <algorithm>

#include "engine/model.h"
#include "passes/fold_node.h"
#include "passes/open_graph.h"
#include "passes/pass.h"

namespace mete {
namespace {

// Takes over the constants of `open` that differ, targets of a Reshape for example. Returns false if the
// graphs differ in more than that.
bool TakeConstants(const Graph& open, Graph& graph) {
  if (open.nodes.size() != graph.nodes.size()) return false;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node &from = open.nodes[n], &to = graph.nodes[n];
    if (from.name != to.name || from.op != to.op || from.inputs.size() != to.inputs.size()) return false;
    for (size_t i = 0; i < to.inputs.size(); ++i) {
      if ((from.inputs[i] == kNoValue) != (to.inputs[i] == kNoValue)) return false;
      if (to.inputs[i] == kNoValue) continue;
      const Value& source = open.value(from.inputs[i]);
      Value& target = graph.value(to.inputs[i]);
      if (source.open != kNoValue || source.is_constant() != target.is_constant()) return false;
      if (!target.is_constant() || SameContents(source.constant, target.constant)) continue;
      if (source.type != DType::kI64 || source.shape != target.shape) return false;
      target.constant = source.constant;
    }
  }
  return true;
}

}  // namespace

std::optional<Graph> OpenDivisibleOf(const Model& model) {
  const ModelInternals::Impl& impl = ModelInternals::Of(model);
  Graph graph = impl.divisible;
  if (impl.imported.inputs.empty()) return graph;  // no dimension is open
  PassChoice passes = impl.passes;
  for (const std::string& name : PassesBehindDivision()) passes.disabled.push_back(name);
  const Opened opened = OpenGraph(impl.imported, impl.dims, passes);
  if (!opened.walk || !TakeConstants(*opened.walk->graph(), graph)) return std::nullopt;
  return graph;
}

}  // namespace mete
