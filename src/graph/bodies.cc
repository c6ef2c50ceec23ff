#include "graph/bodies.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <set>

#include "base/custom_operators.h"
#include "base/error.h"
#include "graph/operators.h"

namespace mete {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kBranches{"then_branch"sv, "else_branch"sv};
constexpr std::array kBody{"body"sv};

// More elements than the arithmetic of shapes has.
constexpr int64_t kFewElements = 64;

Tensor CopyOf(const ConstView& view) {
  Tensor tensor(view.type, view.shape);
  if (view.bytes() > 0) std::memcpy(tensor.mutable_view().data, view.data, view.bytes());
  return tensor;
}

int64_t BytesOfOthers(const Graph& graph, std::set<const void*>& counted) {
  int64_t bytes = 0;
  for (const Value& value : graph.values)
    if (value.is_constant() && counted.insert(value.constant.data()).second)
      bytes += int64_t(value.constant.bytes());
  for (const Node& node : graph.nodes)
    for (const std::string_view name : BodyNames(node.op))
      if (const GraphPtr body = node.attributes.GraphOf(name)) bytes += BytesOfOthers(*body, counted);
  return bytes;
}

}  // namespace

std::span<const std::string_view> BodyNames(std::string_view op) {
  if (op == "If") return kBranches;
  if (op == "Loop" || op == "Scan") return kBody;
  return {};
}

bool HasCustomOperator(const Node& node) {
  if (node.op == kCustomOperator) return true;
  for (const std::string_view name : BodyNames(node.op)) {
    const GraphPtr body = node.attributes.GraphOf(name);
    if (body && std::any_of(body->nodes.begin(), body->nodes.end(), HasCustomOperator)) return true;
  }
  return false;
}

int64_t ConstantBytesWithBodies(const Graph& graph) {
  std::set<const void*> counted;
  return BytesOfOthers(graph, counted);
}

std::vector<ValueId> OriginsOf(const Graph& body) {
  std::vector<ValueId> origins(body.values.size());
  std::iota(origins.begin(), origins.end(), ValueId(0));
  for (const Node& node : body.nodes)  // in the order of their values
    if (node.op == "Identity" && node.input(0) != kNoValue && node.output(0) != kNoValue)
      origins[size_t(node.outputs[0])] = origins[size_t(node.inputs[0])];
  return origins;
}

size_t CapturesOf(const Attributes& attributes) { return size_t(attributes.Int(kCaptures, 0)); }

void AppendBody(Graph& graph, const Graph& body, std::span<const ValueId> inputs,
                std::span<const ValueId> outputs, const std::string& prefix, NodeNames& names) {
  const auto named = [&](const std::string& name) { return prefix + "/" + name; };
  std::vector<ValueId> outer(body.values.size(), kNoValue);
  for (size_t i = 0; i < body.inputs.size(); ++i) outer[size_t(body.inputs[i])] = inputs[i];
  for (size_t i = 0; i < body.values.size(); ++i)
    if (body.values[i].is_constant())
      outer[i] = graph.AddConstant(named(body.values[i].name), body.values[i].constant);
  const Uses uses(body);
  for (size_t i = 0; i < outputs.size(); ++i) {
    ValueId& at = outer[size_t(body.outputs[i])];
    if (outputs[i] != kNoValue && at == kNoValue && uses.producer[size_t(body.outputs[i])] >= 0)
      at = outputs[i];
  }
  const auto renamed = [&](const std::vector<ValueId>& ids) {
    std::vector<ValueId> to;
    for (const ValueId id : ids) {
      if (id != kNoValue && outer[size_t(id)] == kNoValue)
        outer[size_t(id)] = graph.AddValue(named(body.value(id).name));
      to.push_back(id == kNoValue ? kNoValue : outer[size_t(id)]);
    }
    return to;
  };
  for (const Node& node : body.nodes) {
    std::vector<ValueId> in = renamed(node.inputs), out = renamed(node.outputs);
    graph.AddNode(node.op, names.Unique(named(node.name)), std::move(in), std::move(out), node.attributes);
  }
  // outputs that are inputs or constants of the body, or the same value as another output
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueId from = outer[size_t(body.outputs[i])];
    if (outputs[i] != kNoValue && outputs[i] != from)
      graph.AddNode("Identity", names.Unique(fmt::format("{}/output{}", prefix, i)), {from}, {outputs[i]});
  }
}

Graph WithInputs(const Graph& body, std::span<const ConstView> inputs) {
  Graph graph = body;
  for (size_t i = 0; i < graph.inputs.size() && i < inputs.size(); ++i) {
    Value& value = graph.value(graph.inputs[i]);
    value.type = inputs[i].type;
    value.shape = inputs[i].shape;
    const bool small = value.shape.known() && value.shape.Elements() <= kFewElements;
    if (small && inputs[i].data) value.constant = CopyOf(inputs[i]);
  }
  InferShapes(graph);
  return graph;
}

}  // namespace mete
