// Replaces formulas that exporters write in place of an operator: Gelu, Swish, HardSwish, Mish,
// LayerNormalization, RMSNormalization.
#include <cmath>

#include "graph/operators.h"
#include "passes/pass.h"
#include "passes/pattern.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// Builds the inputs and attributes of the replacement. Returns false if a condition beyond the pattern does
// not hold.
using Build = bool (*)(Graph&, const Pattern::Match&, std::vector<ValueId>* inputs, Attributes* attributes);

struct Rule {
  const char* pattern;
  const char* op;
  Build build;
};

bool Unary(Graph&, const Pattern::Match& m, std::vector<ValueId>* inputs, Attributes*) {
  *inputs = {m.bound.at("x")};
  return true;
}

bool TanhGelu(Graph& g, const Pattern::Match& m, std::vector<ValueId>* inputs, Attributes* attributes) {
  attributes->Set("approximate", std::string("tanh"));
  return Unary(g, m, inputs, attributes);
}

// x * HardSigmoid(x) is HardSwish only with alpha 1/6 and beta 1/2.
bool HardSwishOfHardSigmoid(Graph& g, const Pattern::Match& m, std::vector<ValueId>* inputs,
                            Attributes* attributes) {
  for (int n : m.nodes) {
    const Node& node = g.nodes[size_t(n)];
    if (node.op != "HardSigmoid") continue;
    if (std::abs(node.attributes.Float("alpha", 0.2f) - 1.f / 6) > 1e-5f ||
        node.attributes.Float("beta", 0.5f) != 0.5f)
      return false;
  }
  return Unary(g, m, inputs, attributes);
}

// Returns true if every ReduceMean of the match reduces only the last axis and keeps it.
bool OverLastAxis(const Graph& graph, const Pattern::Match& m, ValueId x) {
  const int rank = graph.value(x).shape.rank();
  for (int n : m.nodes) {
    const Node& node = graph.nodes[size_t(n)];
    if (node.op != "ReduceMean") continue;
    const auto axes = IntsOf(graph, node.input(1));
    if (!axes || axes->size() != 1 || ((*axes)[0] != -1 && (*axes)[0] != rank - 1) ||
        node.attributes.Int("keepdims", 1) != 1)
      return false;
  }
  return true;
}

bool NormalizeLast(Graph& graph, const Pattern::Match& m, std::vector<ValueId>* inputs,
                   Attributes* attributes) {
  const ValueId x = m.bound.at("x"), gamma = m.bound.at("gamma");
  const auto epsilon = ScalarOf(graph, m.bound.at("epsilon"));
  if (!epsilon || !IsF32(graph, x) || graph.value(x).shape.rank() < 1 || !OverLastAxis(graph, m, x))
    return false;
  const Shape row{graph.value(x).shape.back()};
  if (graph.value(gamma).shape != row) return false;
  *inputs = {x, gamma};
  if (m.Has("beta")) {
    if (graph.value(m.bound.at("beta")).shape != row) return false;
    inputs->push_back(m.bound.at("beta"));
  }
  attributes->Set("axis", int64_t{-1});
  attributes->Set("epsilon", float(*epsilon));
  return true;
}

constexpr Rule kRules[] = {
    {"Mul(Mul(x, Add(Erf(Div(x, 1.4142135)), 1)), 0.5)", "Gelu", Unary},
    {"Mul(x, Mul(Add(Erf(Div(x, 1.4142135)), 1), 0.5))", "Gelu", Unary},
    {"Mul(Mul(x, 0.5), Add(Erf(Div(x, 1.4142135)), 1))", "Gelu", Unary},
    {"Mul(Mul(x, Add(Erf(Mul(x, 0.70710678)), 1)), 0.5)", "Gelu", Unary},
    {"Mul(x, Mul(Add(Erf(Mul(x, 0.70710678)), 1), 0.5))", "Gelu", Unary},
    {"Mul(Mul(x, 0.5), Add(Erf(Mul(x, 0.70710678)), 1))", "Gelu", Unary},
    {"Mul(Mul(x, 0.5), Add(Tanh(Mul(Add(x, Mul(Pow(x, 3), 0.044715)), 0.79788456)), 1))", "Gelu", TanhGelu},
    {"Mul(x, Mul(Add(Tanh(Mul(Add(x, Mul(Pow(x, 3), 0.044715)), 0.79788456)), 1), 0.5))", "Gelu", TanhGelu},
    {"Mul(x, Sigmoid(x))", "Swish", Unary},
    {"Mul(x, HardSigmoid(x))", "HardSwish", HardSwishOfHardSigmoid},
    {"Mul(x, Div(Clip(Add(x, 3), 0, 6), 6))", "HardSwish", Unary},
    {"Div(Mul(x, Clip(Add(x, 3), 0, 6)), 6)", "HardSwish", Unary},
    {"Mul(Mul(x, Clip(Add(x, 3), 0, 6)), 0.16666667)", "HardSwish", Unary},
    {"Mul(x, Mul(Clip(Add(x, 3), 0, 6), 0.16666667))", "HardSwish", Unary},
    {"Mul(x, Tanh(Softplus(x)))", "Mish", Unary},
    {"Add(Mul(Div(Sub(x, ReduceMean(x)), Sqrt(Add(ReduceMean(Pow(Sub(x, ReduceMean(x)), 2)), ?epsilon))), "
     "?gamma), ?beta)",
     "LayerNormalization", NormalizeLast},
    {"Mul(Div(x, Sqrt(Add(ReduceMean(Pow(x, 2)), ?epsilon))), ?gamma)", "RMSNormalization", NormalizeLast},
    {"Mul(Mul(x, Div(1, Sqrt(Add(ReduceMean(Pow(x, 2)), ?epsilon)))), ?gamma)", "RMSNormalization",
     NormalizeLast},
    {"Mul(Mul(x, Reciprocal(Sqrt(Add(ReduceMean(Pow(x, 2)), ?epsilon)))), ?gamma)", "RMSNormalization",
     NormalizeLast},
};

bool Apply(Graph& graph, const Rule& rule, const Pattern::Match& match) {
  std::vector<ValueId> inputs;
  Attributes attributes;
  if (!rule.build(graph, match, &inputs, &attributes)) return false;
  for (ValueId id : inputs)
    if (!IsF32(graph, id)) return false;
  Node& root = graph.nodes[size_t(match.nodes[0])];
  if (graph.value(root.outputs[0]).shape != graph.value(inputs[0]).shape) return false;
  root.op = rule.op;
  root.inputs = std::move(inputs);
  root.attributes = std::move(attributes);
  return true;
}

}  // namespace

bool FusePatterns(Graph& graph) {
  bool changed = false;
  for (const Rule& rule : kRules) {
    const Pattern pattern(rule.pattern);
    // A replacement makes `uses` stale only for the replaced nodes, whose operators no longer match.
    const Uses uses(graph);
    bool replaced = false;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      Pattern::Match match;
      if (pattern.Matches(graph, uses, int(n), &match)) replaced |= Apply(graph, rule, match);
    }
    if (replaced) RemoveUnused(graph);
    changed |= replaced;
  }
  return changed;
}

}  // namespace mete
