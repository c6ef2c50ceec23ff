#include "graph/flops.h"

#include "base/fused.h"
#include "base/matmul_view.h"
#include "graph/traits.h"

namespace mete {
namespace {

int64_t Elements(const Graph& graph, ValueId id) {
  return id == kNoValue || !graph.value(id).shape.known() ? 0 : graph.value(id).shape.Elements();
}

// Returns the elements of the weights of one channel, which is the first dimension.
int64_t ChannelWeights(const Shape& weights) {
  return weights.rank() > 0 && weights[0] > 0 ? weights.Elements() / weights[0] : 0;
}

int64_t ConvolutionFlops(const Graph& graph, const Node& node, const Shape& weights) {
  int64_t outputs = Elements(graph, node.outputs[0]);
  const int64_t all = node.attributes.Int(kIntoChannels, 0);
  if (all > 0) outputs = outputs / all * weights[0];  // the node computes only its slice
  return 2 * outputs * ChannelWeights(weights);
}

int64_t MatrixFlops(const Graph& graph, const Node& node, const Shape& b) {
  const Shape& a = graph.value(node.inputs[0]).shape;
  if (!a.known() || a.rank() == 0) return 0;
  int64_t length = a.back();
  if (node.op == "Gemm") length = node.attributes.Int("transA", 0) ? a[0] : a[1];
  if (node.op == "mete.MatMul") {
    MatMulView view;
    length = ParseMatMulView(node.attributes, a, b, view).empty() ? view.k : 0;
  }
  return 2 * Elements(graph, node.outputs[0]) * length;
}

// In every time step and batch, a row of the input is multiplied by the weights (input 1), and the state by
// the recurrent weights (input 2).
int64_t RecurrentFlops(const Graph& graph, const Node& node) {
  const Shape& x = graph.value(node.inputs[0]).shape;
  if (node.inputs.size() < 3 || !x.known() || x.rank() == 0 || x.back() < 1) return 0;
  return 2 * (x.Elements() / x.back()) * (Elements(graph, node.inputs[1]) + Elements(graph, node.inputs[2]));
}

}  // namespace

int64_t Flops(const Graph& graph, const Node& node) {
  const OpTraits& traits = TraitsOf(node.op);
  const ValueId id = node.input(size_t(traits.weights));
  if (node.outputs.empty() || id == kNoValue) return 0;
  const Shape& weights = graph.value(id).shape;
  if (!weights.known()) return 0;
  switch (traits.arithmetic) {
    case Arithmetic::kConvolution: return ConvolutionFlops(graph, node, weights);
    case Arithmetic::kTransposedConvolution:
      return 2 * Elements(graph, node.inputs[0]) * ChannelWeights(weights);
    case Arithmetic::kMatrix: return MatrixFlops(graph, node, weights);
    case Arithmetic::kRecurrent: return RecurrentFlops(graph, node);
    default: return 0;
  }
}

int64_t BytesMoved(const Graph& graph, const Node& node) {
  int64_t bytes = 0;
  auto add = [&](ValueId id) {
    if (id == kNoValue) return true;
    const Value& v = graph.value(id);
    if (v.shape.known()) bytes += v.shape.Elements() * int64_t(SizeOf(v.type));
    return v.shape.known();
  };
  const int64_t all = node.attributes.Int(kIntoChannels, 0);
  const bool gathers = node.op.starts_with("Gather");  // a Gather reads only the elements that it writes
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (!(all > 0 && i == size_t(IntoInputOf(node.op))) && !(gathers && i == 0) && !add(node.inputs[i]))
      return 0;
  const int64_t read = bytes;
  for (ValueId id : node.outputs)
    if (!add(id)) return 0;
  if (gathers) return read + 2 * (bytes - read);
  if (all <= 0) return bytes;
  return read + (bytes - read) / all * graph.value(node.inputs[1]).shape[0];  // only a slice is written
}

}  // namespace mete
