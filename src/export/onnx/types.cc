// Types of values that Graph leaves open because their shapes follow from the data of a run.
#include <algorithm>
#include <string_view>

#include "export/onnx/onnx_form.h"
#include "graph/bodies.h"
#include "graph/traits.h"

namespace mete {
namespace {

template <size_t kCount>
bool IsIn(const std::string_view (&ops)[kCount], std::string_view op) {
  return std::find(std::begin(ops), std::end(ops), op) != std::end(ops);
}

constexpr std::string_view kOfIndices[] = {"ArgMax",  "ArgMin", "NonMaxSuppression",
                                           "NonZero", "Shape",  "Size"};
constexpr std::string_view kOfTruth[] = {
    "And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual", "Not", "Or", "Xor"};
// Operators whose first output has the type of their first input, beside those that are element-wise.
constexpr std::string_view kOfFirstInput[] = {"Add",
                                              "Compress",
                                              "Concat",
                                              "Conv",
                                              "Div",
                                              "Expand",
                                              "Flatten",
                                              "Gather",
                                              "GatherND",
                                              "Gemm",
                                              "Identity",
                                              "MatMul",
                                              "Max",
                                              "Min",
                                              "Mod",
                                              "Mul",
                                              "Pad",
                                              "Pow",
                                              "ReduceMax",
                                              "ReduceMean",
                                              "ReduceMin",
                                              "ReduceSum",
                                              "Reshape",
                                              "Resize",
                                              "ScatterND",
                                              "Slice",
                                              "Softmax",
                                              "Split",
                                              "Squeeze",
                                              "Sub",
                                              "Tile",
                                              "TopK",
                                              "Transpose",
                                              "GatherElements",
                                              "ScatterElements",
                                              "Unsqueeze",
                                              "LogSoftmax"};

class Types {
 public:
  explicit Types(const Graph& graph) : graph_(graph), uses_(graph) {}

  DType Of(ValueId id) const {
    const Value& value = graph_.value(id);
    const int p = uses_.producer[size_t(id)];
    if (value.type != DType::kUnknown || p < 0) return value.type;
    return OfOutput(graph_.nodes[size_t(p)], id);
  }

 private:
  DType OfOutput(const Node& node, ValueId id) const {
    if (IsIn(kOfIndices, node.op) || (node.op == "TopK" && id == node.output(1))) return DType::kI64;
    if (IsIn(kOfTruth, node.op)) return DType::kBool;
    if (node.op == "Cast") return DTypeOf(node.attributes.String("to", ""));
    if (const Tensor* labels = node.attributes.TensorOf("values_tensor")) return labels->type();
    if (node.op == "Where") return Of(node.inputs[1]);
    if (IsControlFlow(node.op)) return OfBodies(node, id);
    const bool first = IsIn(kOfFirstInput, node.op) || IsElementwiseOperator(node.op);
    return first && node.input(0) != kNoValue ? Of(node.inputs[0]) : DType::kUnknown;
  }

  DType OfBodies(const Node& node, ValueId id) const {
    size_t at = size_t(std::find(node.outputs.begin(), node.outputs.end(), id) - node.outputs.begin());
    if (node.op == "Loop") ++at;  // the first output of its body is the condition
    for (const std::string_view name : BodyNames(node.op)) {
      const Graph body = WithInputTypes(node, *node.attributes.GraphOf(name));
      const DType type = at < body.outputs.size() ? Types(body).Of(body.outputs[at]) : DType::kUnknown;
      if (type != DType::kUnknown) return type;
    }
    return DType::kUnknown;
  }

  // The last inputs of a body are those of its node, in the same order.
  Graph WithInputTypes(const Node& node, Graph body) const {
    for (size_t i = 1; i <= std::min(body.inputs.size(), node.inputs.size()); ++i) {
      const ValueId outer = node.inputs[node.inputs.size() - i];
      DType& type = body.value(body.inputs[body.inputs.size() - i]).type;
      if (outer != kNoValue && type == DType::kUnknown) type = Of(outer);
    }
    return body;
  }

  const Graph& graph_;
  const Uses uses_;
};

}  // namespace

std::vector<DType> OutputTypes(const Graph& graph) {
  const Types types(graph);
  std::vector<DType> of;
  for (const ValueId id : graph.outputs) of.push_back(types.Of(id));
  return of;
}

}  // namespace mete
