// Runs a whole graph with the reference kernels, for tests.
#pragma once

#include <random>
#include <vector>

#include "graph/graph.h"
#include "kernels/reference/reference.h"

namespace mete {

// Returns one f32 tensor for each input of the graph, with values between -2 and 2.
inline std::vector<Tensor> RandomInputs(const Graph& graph, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Tensor> inputs;
  for (ValueId id : graph.inputs) {
    Tensor t(DType::kF32, graph.value(id).shape);
    for (int64_t i = 0; i < t.elements(); ++i)
      t.mutable_view().as<float>()[i] = std::uniform_real_distribution<float>(-2, 2)(random);
    inputs.push_back(std::move(t));
  }
  return inputs;
}

// Returns every value of a graph, by id. All shapes of the graph must be known.
inline std::vector<Tensor> EvaluateAll(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> values(graph.values.size());
  for (size_t i = 0; i < values.size(); ++i)
    if (graph.values[i].is_constant()) values[i] = graph.values[i].constant;
  for (size_t i = 0; i < inputs.size(); ++i) values[size_t(graph.inputs[i])] = inputs[i];
  Scratch scratch;
  for (const Node& node : graph.nodes) {
    std::vector<ConstView> in;
    std::vector<View> out;
    for (ValueId id : node.inputs) in.push_back(id == kNoValue ? ConstView{} : values[size_t(id)].view());
    for (ValueId id : node.outputs) {
      if (id != kNoValue) values[size_t(id)] = Tensor(graph.value(id).type, graph.value(id).shape);
      out.push_back(id == kNoValue ? View{} : values[size_t(id)].mutable_view());
    }
    RefArgs args{node.attributes, in, out, scratch, {}};
    FindReference(node.op)(args);
    scratch.Reset();
  }
  return values;
}

}  // namespace mete
