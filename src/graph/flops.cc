#include "graph/flops.h"

#include "base/fused.h"
#include "base/matmul_view.h"

namespace mete {
namespace {

int64_t Elements(const Graph& graph, ValueId id) {
  return id == kNoValue || !graph.value(id).shape.known() ? 0 : graph.value(id).shape.Elements();
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
  if (node.inputs.size() < 2 || node.outputs.empty() || node.inputs[1] == kNoValue) return 0;
  int64_t outputs = Elements(graph, node.outputs[0]);
  const Shape& weight = graph.value(node.inputs[1]).shape;
  if (node.op == "Conv" || node.op == "ConvInteger" || node.op == "QLinearConv") {
    const Shape& w =
        node.op == "QLinearConv" && node.inputs.size() > 3 ? graph.value(node.inputs[3]).shape : weight;
    if (!w.known() || w.rank() == 0 || w[0] < 1) return 0;
    const int64_t all = node.op == "Conv" ? node.attributes.Int(kIntoChannels, 0) : 0;
    if (all > 0) outputs = outputs / all * w[0];  // the Conv computes only its slice
    return 2 * outputs * (w.Elements() / w[0]);
  }
  if (!weight.known()) return 0;
  if (IsRecurrentOperator(node.op)) return RecurrentFlops(graph, node);
  if (node.op == "ConvTranspose")
    return weight.rank() > 0 && weight[0] > 0
               ? 2 * Elements(graph, node.inputs[0]) * (weight.Elements() / weight[0])
               : 0;
  const Shape& a = graph.value(node.inputs[0]).shape;
  if (!a.known() || a.rank() == 0) return 0;
  if (node.op == "Gemm") return 2 * outputs * (node.attributes.Int("transA", 0) ? a[0] : a[1]);
  if (node.op == "MatMul" || node.op == "MatMulInteger") return 2 * outputs * a.back();
  if (node.op == "mete.MatMul") {
    MatMulView view;
    return ParseMatMulView(node.attributes, a, weight, view).empty() ? 2 * outputs * view.k : 0;
  }
  return 0;
}

bool IsRecurrentOperator(std::string_view op) { return op == "LSTM" || op == "GRU" || op == "RNN"; }

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
    if (!(all > 0 && i == size_t(kIntoInput)) && !(gathers && i == 0) && !add(node.inputs[i])) return 0;
  const int64_t read = bytes;
  for (ValueId id : node.outputs)
    if (!add(id)) return 0;
  if (gathers) return read + 2 * (bytes - read);
  if (all <= 0) return bytes;
  return read + (bytes - read) / all * graph.value(node.inputs[1]).shape[0];  // only a slice is written
}

}  // namespace mete
