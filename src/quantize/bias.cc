#include "quantize/bias.h"

#include <algorithm>

#include "graph/operators.h"

namespace mete {
namespace {

Tensor Difference(const Tensor& a, const Tensor& b) {
  Tensor out(DType::kF32, a.shape());
  const int64_t count = a.elements();
  auto* to = out.mutable_view().as<float>();
  for (int64_t i = 0; i < count; ++i) to[i] = a.as<float>()[i] - b.as<float>()[i];
  return out;
}

// Adds the product with the error of its weights instead of the weights, and its mean input as an input.
void AddErrorOf(const Graph& graph, const Node& product, const WeightScales& scales, const Tensor& mean,
                Graph& errors, std::vector<Tensor>& inputs) {
  const Tensor& weights = graph.value(product.inputs[1]).constant;
  const int axis = WeightAxisOf(product);
  std::vector<float> own = scales.at(product.inputs[1]);
  std::replace(own.begin(), own.end(), 0.0f, 1.0f);  // all weights are 0
  const Tensor error = Difference(Dequantized(QuantizeWeights(weights, axis, own), axis), weights);
  const ValueId x = errors.AddValue(product.name + ".mean", DType::kF32, mean.shape());
  const ValueId w = errors.AddConstant(product.name + ".error", error);
  const ValueId y = errors.AddValue(product.name + ".mean_error");
  errors.inputs.push_back(x);
  errors.outputs.push_back(y);
  errors.AddNode(product.op, product.name, {x, w}, {y}, product.attributes);
  inputs.push_back(mean);
}

// The mean of each channel, which are dimension 1 of the outputs of Conv and Gemm.
std::vector<double> ChannelMeans(const Tensor& t, int axis) {
  const int64_t channels = t.shape()[axis], inner = t.shape().Elements(axis + 1, t.shape().rank());
  std::vector<double> sums(static_cast<size_t>(channels));
  const int64_t count = t.elements();
  for (int64_t i = 0; i < count; ++i) sums[size_t(i / inner % channels)] += double(t.as<float>()[i]);
  for (double& sum : sums) sum *= double(channels) / double(count);
  return sums;
}

void TakeFromBias(Graph& graph, Node& product, const std::vector<double>& error) {
  const ValueId old = product.input(2);
  Tensor bias(DType::kF32, Shape{int64_t(error.size())});
  for (size_t c = 0; c < error.size(); ++c) {
    const double had = old == kNoValue ? 0 : double(graph.value(old).constant.as<float>()[c]);
    bias.mutable_view().as<float>()[c] = float(had - error[c]);
  }
  product.inputs.resize(3, kNoValue);
  const std::string name = old == kNoValue ? product.name + "_bias" : graph.value(old).name;
  product.inputs[2] = graph.AddConstant(name, bias);
}

}  // namespace

BiasErrors FindBiasErrors(const Graph& graph, const Places& places, const WeightScales& scales,
                          const Means& means, const Runs& runs) {
  Graph errors;
  errors.name = graph.name;
  std::vector<Tensor> inputs;
  std::vector<size_t> products;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!places.computes[n] || !HasWeights(graph, node) || node.op == "MatMul") continue;
    AddErrorOf(graph, node, scales, means.at(node.inputs[0]), errors, inputs);
    products.push_back(n);
  }
  if (products.empty()) return {};
  InferShapes(errors);
  const std::vector<Tensor> results = runs.processor.Prepare(errors)->Run(inputs, {});
  BiasErrors by_product;
  for (size_t i = 0; i < products.size(); ++i) by_product[products[i]] = ChannelMeans(results[i], 1);
  return by_product;
}

Graph WithCorrectedBiases(const Graph& graph, const Places& places, const BiasErrors& errors) {
  Graph out = graph;
  for (const auto& [n, error] : errors)
    if (places.computes[n]) TakeFromBias(out, out.nodes[n], error);
  return out;
}

}  // namespace mete
