#include "import/onnx/functions.h"

#include <set>
#include <utility>

namespace mete::onnx_import {
namespace {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

// The field number of FunctionProto.attribute_proto (since IR version 9), which the installed schema lacks.
constexpr int kAttributeDefaults = 11;

std::string Key(const std::string& domain, const std::string& name) {
  return (IsDefaultDomain(domain) ? "" : domain) + "." + name;
}

// Copies the nodes of a function for one call of it: with the call's names and attributes.
class Copier {
 public:
  Copier(const std::map<std::string, std::string>& names, const std::map<std::string, AttributeProto>& given,
         const std::string& prefix)
      : names_(names), given_(given), prefix_(prefix) {}

  NodeProto Copy(const NodeProto& body) const {
    NodeProto node = body;
    node.set_name(prefix_ + (body.name().empty() ? body.op_type() : body.name()));
    for (auto& name : *node.mutable_input()) name = Renamed(name);
    for (auto& name : *node.mutable_output()) name = Renamed(name);
    FillAttributes(node, {});
    return node;
  }

 private:
  using Defined = std::set<std::string>;

  std::string Renamed(const std::string& name) const {
    const auto at = names_.find(name);
    return at != names_.end() ? at->second : name.empty() ? name : prefix_ + name;
  }

  // Gives the attributes that refer to one of the function their values, and renames what subgraphs read of
  // the function.
  void FillAttributes(NodeProto& node, const Defined& defined) const {
    const auto attributes = std::exchange(*node.mutable_attribute(), {});
    for (const AttributeProto& a : attributes) {
      AttributeProto& set = *node.add_attribute();
      set = a;
      if (!a.ref_attr_name().empty()) {
        const auto at = given_.find(a.ref_attr_name());
        if (at == given_.end()) {
          node.mutable_attribute()->RemoveLast();
          continue;
        }
        set = at->second;
        set.set_name(a.name());
      } else if (set.has_g()) {
        RenameIn(*set.mutable_g(), defined);
      }
    }
  }

  // `defined`: the names that the subgraphs around this one define.
  void RenameIn(GraphProto& graph, Defined defined) const {
    for (const auto& input : graph.input()) defined.insert(input.name());
    for (const auto& tensor : graph.initializer()) defined.insert(tensor.name());
    for (const NodeProto& node : graph.node()) defined.insert(node.output().begin(), node.output().end());
    const auto rename = [&](std::string& name) {
      if (!defined.contains(name)) name = Renamed(name);
    };
    for (NodeProto& node : *graph.mutable_node()) {
      for (std::string& name : *node.mutable_input()) rename(name);
      FillAttributes(node, defined);
    }
    for (auto& output : *graph.mutable_output()) rename(*output.mutable_name());
  }

  const std::map<std::string, std::string>& names_;
  const std::map<std::string, AttributeProto>& given_;
  const std::string& prefix_;
};

}  // namespace

bool IsDefaultDomain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

FunctionInliner::AttributeMap FunctionInliner::DefaultsOf(const FunctionProto& function) {
  AttributeMap out;
  const auto& unknown = function.unknown_fields();
  for (int i = 0; i < unknown.field_count(); ++i) {
    const auto& field = unknown.field(i);
    if (field.number() != kAttributeDefaults ||
        field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      continue;
    AttributeProto a;
    if (a.ParsePartialFromString(field.length_delimited())) out[a.name()] = a;
  }
  return out;
}

FunctionInliner::FunctionInliner(const ::onnx::ModelProto& model, int64_t max_bytes, ImportProblems& problems)
    : bytes_left_(max_bytes), problems_(problems) {
  for (const FunctionProto& f : model.functions())
    if (!functions_.emplace(Key(f.domain(), f.name()), Function{&f, DefaultsOf(f)}).second)
      problems_.Bad(problems_.model(), "function '{}' is defined twice", f.name());
}

std::vector<FlatNode> FunctionInliner::Flatten(GraphProto& graph, int64_t opset) {
  for (NodeProto& node : *graph.mutable_node()) Add(std::move(node), opset, 0);
  return std::exchange(flat_, {});
}

void FunctionInliner::Add(NodeProto&& node, int64_t opset, int depth) {
  const auto function = functions_.find(Key(node.domain(), node.op_type()));
  if (function == functions_.end()) flat_.push_back({std::move(node), opset});
  else Expand(node, function->second, opset, depth);
}

void FunctionInliner::Expand(const NodeProto& call, const Function& function, int64_t opset, int depth) {
  if (failed_) return;
  if (depth >= kMaxDepth)
    return Stop("function '{}' calls itself, or calls nest deeper than {}", call.op_type(), kMaxDepth);
  const FunctionProto& f = *function.proto;
  if (call.input_size() > f.input_size() || call.output_size() > f.output_size())
    return problems_.Bad(
        call.name(),
        "call of function '{}' does not fit; got {} inputs and {} outputs, expected at most {} and {}",
        f.name(), call.input_size(), call.output_size(), f.input_size(), f.output_size());
  const std::string prefix = fmt::format("{}#{}/", f.name(), ++calls_);
  const Names names = BindNames(call, f, prefix, opset);
  AttributeMap given = function.defaults;
  for (const AttributeProto& a : call.attribute()) given[a.name()] = a;
  const int64_t own = DefaultOpset(f.opset_import());
  const Copier copier(names, given, prefix);
  for (const NodeProto& body : f.node()) {
    bytes_left_ -= int64_t(sizeof(NodeProto)) + int64_t(body.ByteSizeLong());
    if (bytes_left_ < 0) return Stop("functions expand to too many nodes; first passed in '{}'", f.name());
    Add(copier.Copy(body), own ? own : opset, depth + 1);
  }
}

// Maps the names of the function's inputs and outputs to the names of the call's inputs and outputs.
FunctionInliner::Names FunctionInliner::BindNames(const NodeProto& call, const FunctionProto& f,
                                                  const std::string& prefix, int64_t opset) {
  Names names;
  for (int i = 0; i < f.input_size(); ++i) names[f.input(i)] = i < call.input_size() ? call.input(i) : "";
  for (int i = 0; i < f.output_size() && i < call.output_size(); ++i) {
    if (call.output(i).empty()) continue;
    if (names.count(f.output(i))) PassThrough(names[f.output(i)], call.output(i), prefix, opset);
    else names[f.output(i)] = call.output(i);
  }
  return names;
}

void FunctionInliner::PassThrough(const std::string& from, const std::string& to, const std::string& prefix,
                                  int64_t opset) {
  NodeProto identity;
  identity.set_op_type("Identity");
  identity.set_name(prefix + "Identity_" + to);
  identity.add_input(from);
  identity.add_output(to);
  flat_.push_back({std::move(identity), opset});
}

}  // namespace mete::onnx_import
