#include "quantize/dynamic.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "graph/operators.h"
#include "passes/rewrite.h"
#include "quantize/finished.h"
#include "quantize/places.h"
#include "quantize/quantize.h"
#include "quantize/scales.h"

namespace mete {
namespace {

bool IsMatrixProduct(const Graph& graph, const Node& node) {
  return node.op != "Conv" && HasWeights(graph, node);
}

class Inserter {
 public:
  explicit Inserter(const Graph& graph) : graph_(graph), before_(graph) {}

  void Replace(size_t n) {
    const Node product = before_.nodes[n];
    const QuantizedWeights weights = WeightsOf(product);
    const Bytes& x = BytesOf(product.inputs[0]);
    const std::string& name = product.name;
    const ValueId sums = graph_.AddValue(name + "_sums"), floats = graph_.AddValue(name + "_floats"),
                  scale = graph_.AddValue(name + "_scale");
    Attributes to;
    to.Set("to", Name(DType::kF32));
    graph_.AddNode(
        "MatMulInteger", name + "_MatMulInteger",
        {x.bytes, graph_.AddConstant(before_.value(product.inputs[1]).name + "_quantized", weights.bytes),
         x.zero},
        {sums});
    graph_.AddNode("Cast", name + "_Cast", {sums}, {floats}, std::move(to));
    graph_.AddNode(
        "Mul", name + "_scales",
        {x.scale, graph_.AddConstant(before_.value(product.inputs[1]).name + "_scale", weights.scales)},
        {scale});
    const bool has_bias = product.input(2) != kNoValue;
    const ValueId scaled = has_bias ? graph_.AddValue(name + "_scaled") : product.outputs[0];
    graph_.AddNode("Mul", name + "_Mul", {floats, scale}, {scaled});
    if (has_bias) graph_.AddNode("Add", name + "_Add", {scaled, product.inputs[2]}, product.outputs);
    graph_.nodes[n].op.clear();
  }

  Graph Take() { return Finished(std::move(graph_)); }

 private:
  struct Bytes {
    ValueId bytes, scale, zero;
  };

  // MatMulInteger takes K x N.
  QuantizedWeights WeightsOf(const Node& product) const {
    const Tensor& weights = before_.value(product.inputs[1]).constant;
    const Tensor columns = WeightAxisOf(product) == 0 ? Permuted(weights, {1, 0}) : weights;
    std::vector<float> scales = WeightScalesOf(columns, 1);
    std::replace(scales.begin(), scales.end(), 0.0f, 1.0f);
    return QuantizeWeights(columns, 1, scales);
  }

  // Products of one value share its bytes.
  const Bytes& BytesOf(ValueId id) {
    const auto at = bytes_.find(id);
    if (at != bytes_.end()) return at->second;
    const std::string name = before_.value(id).name;
    const Bytes b{graph_.AddValue(name + "_quantized"), graph_.AddValue(name + "_scale"),
                  graph_.AddValue(name + "_zero_point")};
    graph_.AddNode("DynamicQuantizeLinear", name + "_QuantizeLinear", {id}, {b.bytes, b.scale, b.zero});
    return bytes_[id] = b;
  }

  Graph graph_;
  const Graph& before_;
  std::map<ValueId, Bytes> bytes_;
};

}  // namespace

bool HasAttention(const Graph& graph) {
  const Uses uses(graph);
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    if (node.op != "Softmax") return false;
    const auto& readers = uses.readers[size_t(node.outputs[0])];
    return std::any_of(readers.begin(), readers.end(),
                       [&](int reader) { return graph.nodes[size_t(reader)].op == "MatMul"; });
  });
}

Graph QuantizeDynamically(const Graph& graph, const std::set<std::string>& kept) {
  CheckIsOfFloats(graph);
  CheckIsFinite(graph, kept);
  Inserter inserter(graph);
  bool any = false;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!IsMatrixProduct(graph, graph.nodes[n]) || kept.contains(graph.nodes[n].name)) continue;
    inserter.Replace(n);
    any = true;
  }
  if (!any)
    Invalid(graph.name,
            "no product can have dynamic activations; expected a MatMul or Gemm of f32 with constant "
            "weights; try "
            "--activations u8");
  return inserter.Take();
}

}  // namespace mete
