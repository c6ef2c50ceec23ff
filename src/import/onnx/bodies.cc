// The subgraphs of control flow operators become bodies (graph/bodies.h).
#include <algorithm>
#include <utility>

#include "graph/bodies.h"
#include "import/onnx/importer.h"

namespace mete::onnx_import {
namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;

std::set<std::string> NamesDefinedIn(const GraphProto& graph, const std::vector<FlatNode>& nodes) {
  std::set<std::string> names;
  for (const auto& input : graph.input()) names.insert(input.name());
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const FlatNode& node : nodes) names.insert(node.proto.output().begin(), node.proto.output().end());
  return names;
}

AttributeProto* FindSubgraph(::onnx::NodeProto& node, std::string_view name) {
  for (AttributeProto& a : *node.mutable_attribute())
    if (a.name() == name && a.has_g()) return &a;
  return nullptr;
}

}  // namespace

// Returns a value of a subgraph for one of the graphs around it: a copy where it is a constant.
ValueId Importer::Capture(const std::string& name) {
  Scope& inner = *std::exchange(scope_, scope_->outer);
  const ValueId outer = Reference(name);
  const Value value = scope_->graph.value(outer);
  scope_ = &inner;
  const ValueId id =
      value.is_constant() ? inner.graph.AddConstant(name, value.constant) : inner.graph.AddValue(name);
  if (!value.is_constant()) {
    inner.captures.push_back(name);
    inner.captured.push_back(id);
  }
  inner.defined.insert(id);
  return id;
}

// The parameters of a body. The number of a run and the condition have one element, in a shape that files
// write in two ways.
void Importer::AddParameters(const GraphProto& proto, const std::string& op) {
  std::set<std::string> constants;
  for (const auto& t : proto.initializer()) constants.insert(t.name());
  for (const auto& input : proto.input()) {
    if (constants.contains(input.name())) continue;
    const ValueId id = Define(input.name(), "subgraph input " + input.name());
    if (id == kNoValue) continue;
    const auto& tensor = input.type().tensor_type();
    Graph& graph = scope_->graph;
    if (op == "Loop" && graph.inputs.size() < 2) {
      graph.value(id).type = graph.inputs.empty() ? DType::kI64 : DType::kBool;
      graph.value(id).shape = tensor.shape().dim_size() == 1 ? Shape{1} : Shape{};
    }
    graph.inputs.push_back(id);
  }
}

Importer::ImportedBody Importer::ImportBody(GraphProto& proto, const FlatNode& flat) {
  std::vector<FlatNode> nodes = functions_.Flatten(proto, flat.opset);
  Scope scope;
  scope.outer = scope_;
  scope.own = NamesDefinedIn(proto, nodes);
  scope.graph.name = proto.name();
  scope_ = &scope;
  ++depth_;
  AddInitializers(proto);
  AddParameters(proto, flat.proto.op_type());
  AddNodes(nodes);
  AddOutputs(proto);
  Finish();
  --depth_;
  scope_ = scope.outer;
  ImportedBody body{std::make_shared<Graph>(std::move(scope.graph)), {}};
  for (size_t i = 0; i < scope.captures.size(); ++i)
    body.captures.emplace(scope.captures[i], scope.captured[i]);
  return body;
}

// Imports the subgraphs of a node, and makes what they read of the graphs around them inputs of the node.
void Importer::AddBodies(FlatNode& flat, Upgrade& upgrade) {
  Node& node = upgrade.node;
  if (depth_ >= kMaxDepth)
    return problems_.Bad(node.name, "subgraphs nest deeper than {}; expected less", kMaxDepth);
  if (node.op == "Loop" && node.inputs.size() < 2) node.inputs.resize(2, kNoValue);
  std::vector<std::pair<std::string_view, ImportedBody>> bodies;
  std::set<std::string> captures;
  for (const std::string_view name : BodyNames(node.op)) {
    AttributeProto* const subgraph = FindSubgraph(flat.proto, name);
    if (!subgraph) {
      upgrade.Bad("attribute '{}' is missing; expected a graph", name);
      continue;
    }
    ImportedBody& body = bodies.emplace_back(name, ImportBody(*subgraph->mutable_g(), flat)).second;
    for (const auto& [capture, id] : body.captures) captures.insert(capture);
  }
  for (auto& [name, body] : bodies) {
    for (const std::string& capture : captures) {
      const auto at = body.captures.find(capture);
      body.graph->inputs.push_back(at == body.captures.end() ? body.graph->AddValue(capture) : at->second);
    }
    node.attributes.Set(name, GraphPtr(std::move(body.graph)));
  }
  for (const std::string& capture : captures) {
    node.inputs.push_back(Reference(capture));
    scope_->first_reader.emplace(node.inputs.back(), node.name);
  }
  if (!captures.empty()) node.attributes.Set(kCaptures, int64_t(captures.size()));
}

}  // namespace mete::onnx_import
