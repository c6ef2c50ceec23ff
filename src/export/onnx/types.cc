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

// Goes through the nodes in their order once.
class Types {
 public:
  explicit Types(const Graph& graph) : graph_(graph) {
    for (const Value& value : graph.values) types_.push_back(value.type);
  }

  // Types of inputs that the graph leaves open, as those of a body.
  void Give(ValueId input, DType type) {
    if (Of(input) == DType::kUnknown) types_[size_t(input)] = type;
  }

  std::vector<DType> OfOutputs() {
    for (const Node& node : graph_.nodes) Infer(node);
    std::vector<DType> of;
    for (const ValueId id : graph_.outputs) of.push_back(Of(id));
    return of;
  }

 private:
  DType Of(ValueId id) const { return id == kNoValue ? DType::kUnknown : types_[size_t(id)]; }

  void Infer(const Node& node) {
    const bool open = std::any_of(node.outputs.begin(), node.outputs.end(),
                                  [&](ValueId id) { return id != kNoValue && Of(id) == DType::kUnknown; });
    if (!open) return;
    const std::vector<DType> of_bodies = OfBodies(node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id == kNoValue || Of(id) != DType::kUnknown) continue;
      types_[size_t(id)] = i < of_bodies.size() ? of_bodies[i] : OfOutput(node, i);
    }
  }

  DType OfOutput(const Node& node, size_t output) const {
    if (IsIn(kOfIndices, node.op) || (node.op == "TopK" && output == 1)) return DType::kI64;
    if (IsIn(kOfTruth, node.op)) return DType::kBool;
    if (node.op == "Cast") return DTypeOf(node.attributes.String("to", ""));
    if (const Tensor* labels = node.attributes.TensorOf("values_tensor")) return labels->type();
    if (node.op == "Where") return Of(node.inputs[1]);
    const bool first = IsIn(kOfFirstInput, node.op) || IsElementwiseOperator(node.op);
    return first ? Of(node.input(0)) : DType::kUnknown;
  }

  // Returns the types of the outputs of a control flow node; none of others.
  std::vector<DType> OfBodies(const Node& node) const {
    std::vector<DType> of;
    for (const std::string_view name : BodyNames(node.op)) {
      std::vector<DType> body = OfBody(node, *node.attributes.GraphOf(name));
      if (node.op == "Loop" && !body.empty()) body.erase(body.begin());  // the condition
      of.resize(std::max(of.size(), body.size()), DType::kUnknown);
      for (size_t i = 0; i < body.size(); ++i)
        if (of[i] == DType::kUnknown) of[i] = body[i];
    }
    return of;
  }

  // The last inputs of a body are those of its node, in the same order.
  std::vector<DType> OfBody(const Node& node, const Graph& body) const {
    Types types(body);
    for (size_t i = 1; i <= std::min(body.inputs.size(), node.inputs.size()); ++i)
      types.Give(body.inputs[body.inputs.size() - i], Of(node.inputs[node.inputs.size() - i]));
    return types.OfOutputs();
  }

  const Graph& graph_;
  std::vector<DType> types_;  // per value
};

}  // namespace

std::vector<DType> OutputTypes(const Graph& graph) { return Types(graph).OfOutputs(); }

}  // namespace mete
