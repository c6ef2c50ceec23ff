#include "export/onnx/onnx_form.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>

#include "base/error.h"
#include "base/problems.h"
#include "graph/bodies.h"

namespace mete {
namespace {

// Operators that take more inputs in Graph than in ONNX (graph/fused.h).
constexpr struct {
  std::string_view op;
  size_t most_inputs;
} kMostInputs[] = {{"Conv", 3}, {"Gemm", 3}, {"MatMul", 2}, {"QLinearConv", 9}, {"QLinearMatMul", 8}};

// The attributes of fused operators. Others of Mete begin with "mete_".
constexpr std::string_view kFused[] = {"activation", "residual", "sum_piece", "into_channels"};

std::set<std::string> NodeNamesOf(const Graph& graph) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes) names.insert(node.name);
  return names;
}

std::string Unused(std::set<std::string>& names, const std::string& wanted) {
  std::string name = wanted;
  for (int i = 1; !names.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

bool HasBiasOfItsOwn(const Node& node) {
  return node.op == "MatMul" && node.inputs.size() == 3 && node.inputs[2] != kNoValue;
}

// Returns the MatMul and the Add that stand for a MatMul with a bias.
std::pair<Node, Node> Split(Graph& graph, const Node& node, std::set<std::string>& names) {
  const ValueId product = graph.AddValue(graph.value(node.outputs[0]).name + "_product");
  graph.value(product).type = graph.value(node.outputs[0]).type;
  graph.value(product).shape = graph.value(node.outputs[0]).shape;
  Node matmul = node;
  matmul.inputs.resize(2);
  matmul.outputs = {product};
  return {matmul, {Unused(names, node.name + "_Add"), "Add", {product, node.inputs[2]}, node.outputs, {}}};
}

void SplitBiases(Graph& graph) {
  std::set<std::string> names = NodeNamesOf(graph);
  std::vector<Node> nodes;
  for (const Node& node : graph.nodes) {
    if (HasBiasOfItsOwn(node)) {
      const auto [matmul, add] = Split(graph, node, names);
      nodes.push_back(matmul);
      nodes.push_back(add);
    } else {
      nodes.push_back(node);
    }
  }
  graph.nodes = std::move(nodes);
}

// ONNX drops windows behind the padded input as Caffe does, and an average that counts the padding divides by
// the part of the window within the padded input.
void LeaveCaffesRule(Node& node) {
  if (node.attributes.Int("mete_caffe", 0) == 0) return;
  if (node.op == "AveragePool") node.attributes.Set("count_include_pad", int64_t(1));
  else if (node.op != "MaxPool") return;
  node.attributes.Erase("mete_caffe");
}

// Keys and values, the first of which is the default, are attributes in ONNX.
void WriteLabels(const Graph& graph, Node& node) {
  if (node.op != "mete.LabelEncoder" || !IsConstant(graph, node.inputs[1]) ||
      !IsConstant(graph, node.inputs[2]))
    return;
  const Tensor values = graph.value(node.inputs[2]).constant;
  const auto part = [&](int64_t begin, int64_t count) {
    const auto* from = static_cast<const std::byte*>(values.data()) + size_t(begin) * SizeOf(values.type());
    return Tensor(values.type(), {count}, from, std::make_shared<Tensor>(values));
  };
  node.attributes.Set("keys_tensor", graph.value(node.inputs[1]).constant);
  node.attributes.Set("values_tensor", part(1, values.elements() - 1));
  node.attributes.Set("default_tensor", part(0, 1));
  node.inputs.resize(1);
  node.op = std::string(kMlDomain) + ".LabelEncoder";
}

// Gives each body of a node the form that `change` makes of a copy.
template <class Change>
void ChangeBodies(Node& node, const Change& change) {
  for (const std::string_view name : BodyNames(node.op)) {
    auto body = std::make_shared<Graph>(*node.attributes.GraphOf(name));
    change(*body);
    node.attributes.Set(name, GraphPtr(std::move(body)));
  }
}

// ONNX wants the outputs of a subgraph to be different values that its own nodes compute.
void ComputeOutputs(Graph& body) {
  std::set<std::string> names = NodeNamesOf(body);
  const Uses uses(body);
  std::set<ValueId> computed;
  for (ValueId& id : body.outputs) {
    if (uses.producer[size_t(id)] >= 0 && computed.insert(id).second) continue;
    const Value from = body.value(id);
    const ValueId copy = body.AddValue(from.name, from.type, from.shape);
    body.AddNode("Identity", Unused(names, from.name + "_Identity"), {id}, {copy});
    id = copy;
  }
}

// The names of a file: values of all scopes have different ones, but constants that share memory have one.
class Names {
 public:
  // `named`: per value of the graph, whether it has its name.
  void NameScope(Graph& graph, std::vector<bool> named) {
    const auto name = [&](ValueId id) {
      if (named[size_t(id)]) return;
      named[size_t(id)] = true;
      Name(graph.value(id), id);
    };
    for (const ValueId id : graph.inputs) name(id);
    for (const ValueId id : graph.outputs) name(id);
    for (size_t i = 0; i < named.size(); ++i) name(ValueId(i));
    for (Node& node : graph.nodes) ChangeBodies(node, [&](Graph& body) { NameBody(graph, node, body); });
  }

 private:
  // Its captures have the names of what they stand for, and its constants may have those of others.
  void NameBody(const Graph& graph, const Node& node, Graph& body) {
    std::vector<bool> known(body.values.size());
    const size_t captures = CapturesOf(node.attributes);
    for (size_t i = 0; i < captures; ++i) {
      const ValueId inner = body.inputs[body.inputs.size() - captures + i];
      body.value(inner).name = graph.value(node.inputs[node.inputs.size() - captures + i]).name;
      known[size_t(inner)] = true;
    }
    for (size_t i = 0; i < body.values.size(); ++i) {
      if (!body.values[i].is_constant()) continue;
      const auto same = constants_.find(KeyOf(body.values[i]));
      if (same == constants_.end()) continue;
      body.values[i].name = same->second;
      known[i] = true;
    }
    NameScope(body, std::move(known));
  }

  void Name(Value& value, ValueId id) {
    value.name = Unused(taken_, value.name.empty() ? fmt::format("value_{}", id) : value.name);
    if (value.is_constant()) constants_.emplace(KeyOf(value), value.name);
  }

  using Key = std::tuple<const void*, DType, Ints>;
  static Key KeyOf(const Value& constant) {
    const Shape& shape = constant.constant.shape();
    return {constant.constant.data(), constant.type, Ints(shape.begin(), shape.end())};
  }

  std::set<std::string> taken_;
  std::map<Key, std::string> constants_;
};

std::string ProblemOf(const Node& node) {
  const auto is_own = [&](const Attributes::Item& item) {
    return item.first.starts_with("mete_") && !(IsControlFlow(node.op) && item.first == kCaptures);
  };
  const bool own =
      node.op.starts_with("mete.") || std::any_of(node.attributes.begin(), node.attributes.end(), is_own);
  if (own) return fmt::format("ONNX has no operator for it; got {}", node.op);
  for (const auto& row : kMostInputs) {
    if (row.op != node.op) continue;
    if (node.inputs.size() > row.most_inputs)
      return fmt::format("it has more inputs than ONNX allows; got {} with {}, expected at most {}", node.op,
                         node.inputs.size(), row.most_inputs);
    for (const std::string_view name : kFused)
      if (node.attributes.Has(std::string(name)))
        return fmt::format("ONNX has no such attribute; got {} of {}", name, node.op);
  }
  return "";
}

void CheckNodes(const Graph& graph, SharedProblems& problems) {
  for (const Node& node : graph.nodes) {
    if (const std::string problem = ProblemOf(node); !problem.empty()) problems.Add(node.name, problem);
    for (const std::string_view name : BodyNames(node.op))
      CheckNodes(*node.attributes.GraphOf(name), problems);
  }
}

}  // namespace

Graph InOnnxForm(const Graph& graph) {
  Graph form = graph;
  SplitBiases(form);
  for (Node& node : form.nodes) {
    LeaveCaffesRule(node);
    WriteLabels(form, node);
    ChangeBodies(node, [](Graph& body) {
      body = InOnnxForm(body);
      ComputeOutputs(body);
    });
  }
  return form;
}

void NameValues(Graph& graph) { Names().NameScope(graph, std::vector<bool>(graph.values.size())); }

void CheckOnnxForm(const Graph& graph) {
  SharedProblems problems;
  CheckNodes(graph, problems);
  const std::vector<DType> types = OutputTypes(graph);
  for (size_t i = 0; i < types.size(); ++i)
    if (types[i] == DType::kUnknown)
      problems.Add(graph.value(graph.outputs[i]).name,
                   "the type of this output is not known, and the file has to tell it; try a Cast behind it");
  if (problems.any()) throw Error(Code::kUnimplemented, problems.Text());
}

}  // namespace mete
