#include "import/onnx/functions.h"

#include <map>
#include <set>

namespace mete::onnx_import {
namespace {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::NodeProto;

constexpr int kMaxDepth = 32;  // levels of nested calls; real exporters nest a few levels
// The field number of FunctionProto.attribute_proto (since IR version 9), which the installed schema lacks.
constexpr int kAttributeDefaults = 11;

using Names = std::map<std::string, std::string>;
using AttributeMap = std::map<std::string, AttributeProto>;

struct Function {
  const FunctionProto* proto;
  AttributeMap defaults;
};

std::string Key(const std::string& domain, const std::string& name) {
  return (IsDefaultDomain(domain) ? "" : domain) + "." + name;
}

AttributeMap DefaultsOf(const FunctionProto& function) {
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

class Inliner {
 public:
  Inliner(const ::onnx::ModelProto& model, int64_t max_bytes, Problems& problems)
      : bytes_left_(max_bytes), problems_(problems) {
    for (const FunctionProto& f : model.functions())
      if (!functions_.emplace(Key(f.domain(), f.name()), Function{&f, DefaultsOf(f)}).second)
        problems_.Bad(problems_.model(), "function '{}' is defined twice", f.name());
  }

  void Add(NodeProto&& node, int64_t opset, int depth) {
    const auto function = functions_.find(Key(node.domain(), node.op_type()));
    if (function == functions_.end()) flat_.push_back({std::move(node), opset});
    else Expand(node, function->second, opset, depth);
  }

  std::vector<FlatNode> Take() { return std::move(flat_); }

 private:
  void Expand(const NodeProto& call, const Function& function, int64_t opset, int depth) {
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
    for (const NodeProto& body : f.node()) {
      bytes_left_ -= int64_t(sizeof(NodeProto)) + int64_t(body.ByteSizeLong());
      if (bytes_left_ < 0) return Stop("functions expand to too many nodes; first passed in '{}'", f.name());
      Add(Copy(body, names, given, prefix), own ? own : opset, depth + 1);
    }
  }

  // Maps the names of the function's inputs and outputs to the names of the call's inputs and outputs.
  Names BindNames(const NodeProto& call, const FunctionProto& f, const std::string& prefix, int64_t opset) {
    Names names;
    for (int i = 0; i < f.input_size(); ++i) names[f.input(i)] = i < call.input_size() ? call.input(i) : "";
    for (int i = 0; i < f.output_size() && i < call.output_size(); ++i) {
      if (call.output(i).empty()) continue;
      if (names.count(f.output(i))) PassThrough(names[f.output(i)], call.output(i), prefix, opset);
      else names[f.output(i)] = call.output(i);
    }
    return names;
  }

  void PassThrough(const std::string& from, const std::string& to, const std::string& prefix, int64_t opset) {
    NodeProto identity;
    identity.set_op_type("Identity");
    identity.set_name(prefix + "Identity_" + to);
    identity.add_input(from);
    identity.add_output(to);
    flat_.push_back({std::move(identity), opset});
  }

  static NodeProto Copy(const NodeProto& body, const Names& names, const AttributeMap& given,
                        const std::string& prefix) {
    auto rename = [&](const std::string& name) {
      const auto at = names.find(name);
      return at != names.end() ? at->second : name.empty() ? name : prefix + name;
    };
    NodeProto node = body;
    node.set_name(prefix + (body.name().empty() ? body.op_type() : body.name()));
    for (auto& name : *node.mutable_input()) name = rename(name);
    for (auto& name : *node.mutable_output()) name = rename(name);
    node.clear_attribute();
    for (const AttributeProto& a : body.attribute()) {
      if (a.ref_attr_name().empty()) {
        *node.add_attribute() = a;
      } else if (const auto at = given.find(a.ref_attr_name()); at != given.end()) {
        AttributeProto& set = *node.add_attribute();
        set = at->second;
        set.set_name(a.name());
      }
    }
    return node;
  }

  template <class... A>
  void Stop(fmt::format_string<A...> format, A&&... args) {
    problems_.Bad(problems_.model(), format, std::forward<A>(args)...);
    failed_ = true;
  }

  std::map<std::string, Function> functions_;
  std::vector<FlatNode> flat_;
  int64_t bytes_left_;
  int calls_ = 0;
  bool failed_ = false;
  Problems& problems_;
};

}  // namespace

bool IsDefaultDomain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

std::vector<FlatNode> InlineFunctions(::onnx::ModelProto& model, int64_t opset, int64_t max_bytes,
                                      Problems& problems) {
  Inliner inliner(model, max_bytes, problems);
  for (NodeProto& node : *model.mutable_graph()->mutable_node()) inliner.Add(std::move(node), opset, 0);
  return inliner.Take();
}

}  // namespace mete::onnx_import
