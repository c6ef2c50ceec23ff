// Small graphs for tests of the passes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "graph/operators.h"
#include "kernels/reference/evaluate_testing.h"
#include "passes/pass.h"

namespace mete {

// Builds a graph node by node. Every method that adds a node or a constant returns its value.
class Builder {
 public:
  explicit Builder(uint32_t seed = 1) : random_(seed) { graph.name = "test"; }

  ValueId Input(const Shape& shape) {
    const ValueId id = graph.AddValue("x" + std::to_string(graph.inputs.size()), DType::kF32, shape);
    graph.inputs.push_back(id);
    return id;
  }
  ValueId Weight(const Shape& shape, float least = -1, float most = 1) {
    Tensor t(DType::kF32, shape);
    std::uniform_real_distribution<float> d(least, most);
    for (int64_t i = 0; i < t.elements(); ++i) t.mutable_view().as<float>()[i] = d(random_);
    return graph.AddConstant(Name(), t);
  }
  ValueId Scalar(float v) { return graph.AddConstant(Name(), Tensor::Floats({}, {&v, 1})); }
  ValueId Floats(const std::vector<float>& v) {
    return graph.AddConstant(Name(), Tensor::Floats({int64_t(v.size())}, v));
  }
  ValueId Ints(const mete::Ints& v) { return graph.AddConstant(Name(), Tensor::Ints(v)); }
  ValueId Op(const std::string& op, std::vector<ValueId> in, Attributes attributes = {}) {
    const ValueId out = graph.AddValue(Name());
    graph.AddNode(op, op + std::to_string(graph.nodes.size()), std::move(in), {out}, std::move(attributes));
    return out;
  }
  ValueId Conv(ValueId x, int64_t in, int64_t out, int64_t kernel, mete::Ints pads = {0, 0, 0, 0}) {
    Attributes a;
    a.Set("pads", std::move(pads));
    return Op("Conv", {x, Weight({out, in, kernel, kernel})}, a);
  }
  ValueId BatchNorm(ValueId x, int64_t c) {
    return Op("BatchNormalization", {x, Weight({c}), Weight({c}), Weight({c}), Weight({c}, 0.5, 2)});
  }
  Graph& Output(ValueId id) {
    graph.outputs.push_back(id);
    return graph;
  }

  Graph graph;

 protected:
  std::string Name() { return "v" + std::to_string(graph.values.size()); }

 private:
  std::mt19937 random_;
};

inline std::vector<Tensor> Evaluate(const Graph& graph) {
  const std::vector<Tensor> values = EvaluateAll(graph, RandomInputs(graph, 7));
  std::vector<Tensor> outputs;
  for (ValueId id : graph.outputs) outputs.push_back(values[size_t(id)]);
  return outputs;
}

inline int CountOf(const Graph& graph, const std::string& op) {
  return int(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return n.op == op; }));
}

inline void Settle(Graph& graph) {
  SortTopologically(graph);
  RemoveUnused(graph);
  Verify(graph);
}

// Runs one pass over a settled graph and checks that it changes the graph but not its outputs. The tolerance
// is that of sums of a few hundred products of magnitude 1 to 10, which folding rounds once more.
inline void ExpectSameOutputs(Graph& graph, bool (*pass)(Graph&)) {
  const std::vector<Tensor> before = Evaluate(graph);
  EXPECT_TRUE(pass(graph));
  Settle(graph);
  const std::vector<Tensor> after = Evaluate(graph);
  ASSERT_EQ(before.size(), after.size());
  for (size_t o = 0; o < before.size(); ++o) {
    ASSERT_EQ(before[o].shape(), after[o].shape());
    for (int64_t i = 0; i < before[o].elements(); ++i) {
      const float a = before[o].as<float>()[i], b = after[o].as<float>()[i];
      ASSERT_NEAR(a, b, 1e-5 * (1 + std::abs(a))) << "output " << o << " element " << i << "\n"
                                                  << ToText(graph);
    }
  }
}

// Does the same behind the folding of constants.
inline void ExpectSame(Graph& graph, bool (*pass)(Graph&)) {
  FoldConstants(graph);
  Settle(graph);
  ExpectSameOutputs(graph, pass);
}

}  // namespace mete
