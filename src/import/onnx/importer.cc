#include "import/onnx/importer.h"

#include <algorithm>

#include "base/custom_operators.h"
#include "graph/bodies.h"
#include "graph/operators.h"
#include "import/onnx/attributes.h"
#include "import/onnx/composed.h"
#include "import/onnx/inputs.h"
#include "import/onnx/microsoft.h"
#include "import/onnx/ml.h"

namespace mete::onnx_import {
namespace {

using ::onnx::NodeProto;

// Opsets 25 to 28 changed no operator of opset 24 in a way that matters here.
constexpr int64_t kNewestOpset = 28;

bool IsOtherFloat(int32_t data_type) {
  const DType type = DTypeOfOnnx(data_type);
  return type == DType::kF16 || type == DType::kBF16 || type == DType::kF64;
}

bool HasOtherFloats(const NodeProto& node);

bool HasOtherFloats(const ::onnx::GraphProto& graph) {
  const auto& tensors = graph.initializer();
  const auto& inputs = graph.input();
  const auto& nodes = graph.node();
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const auto& t) { return IsOtherFloat(t.data_type()); }) ||
         std::any_of(inputs.begin(), inputs.end(),
                     [](const auto& i) { return IsOtherFloat(TensorTypeOf(i).elem_type()); }) ||
         std::any_of(nodes.begin(), nodes.end(), [](const NodeProto& n) { return HasOtherFloats(n); });
}

bool HasOtherFloats(const NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(), [](const auto& a) {
    const bool named = (a.name() == "to" || a.name() == "dtype") && a.i() > 0 && a.i() < 100;
    return IsOtherFloat(a.t().data_type()) || (named && IsOtherFloat(int32_t(a.i()))) ||
           (a.has_g() && HasOtherFloats(a.g()));
  });
}

// Returns whether floats other than f32 can appear anywhere in the model; `nodes` are those of its graph.
bool HasMixedFloats(const ::onnx::ModelProto& model, const std::vector<FlatNode>& nodes) {
  if (HasOtherFloats(model.graph())) return true;
  for (const FlatNode& n : nodes)
    if (HasOtherFloats(n.proto)) return true;
  for (const auto& function : model.functions())
    for (const NodeProto& n : function.node())
      if (HasOtherFloats(n)) return true;
  return false;
}

// Returns whether the node has a subgraph. ReadAttributes() reports such a node as unsupported, unless it is
// control flow.
bool HasSubgraph(const NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [](const auto& a) { return a.has_g() || a.graphs_size() > 0; });
}

std::string WhyUnsupported(const ::onnx::TensorProto& t) {
  const std::string type = "element type " + OnnxTypeName(t.data_type());
  return IsComplex(t.data_type()) ? type + "; no operator here computes with complex numbers" : type;
}

// Returns the number of inputs that ONNX allows for the operators to which Mete's passes add inputs
// (graph/fused.h, sections 1, 7 and 9). Returns 0 for all other operators, whose inputs Verify() counts.
int MostInputs(std::string_view op) {
  if (op == "MatMul") return 2;
  if (op == "QLinearConv") return 9;
  return op == "Conv" || op == "Gemm" ? 3 : 0;
}

// Returns whether the program has registered the operator. One of ONNX cannot be registered.
bool IsCustom(const NodeProto& node) { return FindCustom(node.domain(), node.op_type()) != nullptr; }

// Adds a node of a registered operator. Its attributes have names with a prefix in the graph.
void AddCustom(Graph& graph, Node&& node, const NodeProto& proto) {
  Attributes attributes;
  attributes.Set(kCustomName, proto.domain() + "." + proto.op_type());
  for (const auto& [name, value] : node.attributes) attributes.Set(kCustomPrefix + name, value);
  graph.AddNode(kCustomOperator, std::move(node.name), std::move(node.inputs), std::move(node.outputs),
                std::move(attributes));
}

std::string DomainName(const std::string& domain) { return domain.empty() ? "ai.onnx" : domain; }

bool IsFlexAttention(const NodeProto& node) {
  return node.domain() == "ai.onnx.preview" && node.op_type() == "FlexAttention";
}

// Returns the value of a Constant node, or a tensor without a value if the node holds something else.
Tensor ConstantValue(const Attributes& a) {
  if (const Tensor* t = a.TensorOf("value")) return *t;
  if (a.Has("value_float")) {
    const float v = a.Float("value_float", 0);
    return Tensor::Floats({}, std::span(&v, 1));
  }
  if (a.Has("value_floats"))
    return Tensor::Floats({int64_t(a.FloatList("value_floats").size())}, a.FloatList("value_floats"));
  if (a.Has("value_int")) {
    const int64_t v = a.Int("value_int", 0);
    return Tensor::Of<int64_t>(DType::kI64, {}, std::span(&v, 1));
  }
  if (a.Has("value_ints")) return Tensor::Ints(a.IntList("value_ints"));
  return {};
}

}  // namespace

Imported Importer::Run() {
  root_.graph.name = model_.graph().name().empty() ? name_ : model_.graph().name();
  CheckVersions();
  ReadMetadata();
  std::vector<FlatNode> nodes = functions_.Flatten(*model_.mutable_graph(), opset_);
  mixed_floats_ = HasMixedFloats(model_, nodes);
  AddInitializers(model_.graph());
  AddInputs();
  AddNodes(nodes);
  AddOutputs(model_.graph());
  Finish();
  problems_.Throw();
  Verify(root_.graph);
  result_.graph = std::move(root_.graph);
  return std::move(result_);
}

void Importer::AddNodes(std::vector<FlatNode>& nodes) {
  for (FlatNode& node : nodes) AddNode(node);
}

void Importer::Finish() {
  CheckDangling();
  try {
    SortTopologically(scope_->graph);
  } catch (const Error& e) {
    problems_.Bad(e);
  }
}

void Importer::CheckVersions() {
  opset_ = DefaultOpset(model_.opset_import());
  if (opset_ == 0 && model_.opset_import_size() == 0) {
    if (model_.ir_version() >= 3)
      problems_.Bad(name_, "the file does not say its opset; it may be truncated");
    opset_ = 1;  // the format defines this for files older than IR version 3
  }
  if (opset_ > kNewestOpset)
    problems_.Bad(
        name_, "the opset is too new; got {}, expected at most {}; try to export the model with an older one",
        opset_, kNewestOpset);
  if (model_.graph().sparse_initializer_size() > 0)
    problems_.Unsupported("initializer", "it is sparse",
                          model_.graph().sparse_initializer(0).values().name());
}

void Importer::ReadMetadata() {
  const auto add = [&](const std::string& key, const std::string& value) {
    if (!value.empty()) result_.metadata[Printable(key)] = Printable(value);
  };
  FileInfo& file = result_.file;
  file.format = "ONNX";
  for (const auto& set : model_.opset_import()) {
    int64_t& version = file.opsets[DomainName(set.domain())];
    version = std::max<int64_t>(version, set.version());
  }
  if (file.opsets.empty()) file.opsets[DomainName("")] = opset_;
  file.producer = model_.producer_name();
  file.producer_version = model_.producer_version();
  file.description = model_.doc_string();
  file.domain = model_.domain();
  file.version = model_.model_version();
  file.graph_description = model_.graph().doc_string();
  for (const auto& entry : model_.metadata_props()) {
    add(entry.key(), entry.value());
    file.custom[entry.key()] = entry.value();
  }
  add("producer", model_.producer_name());
  add("version", model_.producer_version());
}

void Importer::AddInitializers(const ::onnx::GraphProto& graph) {
  for (const auto& t : graph.initializer()) {
    const std::string where = fmt::format("{}: initializer '{}'", name_, t.name());
    try {
      if (t.name().empty()) Invalid(where, "has no name");
      AddConstant(t.name(), tensors_.Read(t, where), where);
    } catch (const Error& e) {
      // An error about a file is thrown at once, without the other problems.
      if (e.code() == Code::kNotFound || e.code() == Code::kDataLoss) throw;
      if (e.code() == Code::kUnimplemented) problems_.Unsupported("initializer", WhyUnsupported(t), t.name());
      else problems_.Bad(e);
      scope_->defined.insert(Reference(t.name()));  // so that its readers are not reported as well
    }
  }
}

void Importer::AddInputs() {
  std::set<std::string> constants;
  for (const auto& t : model_.graph().initializer()) constants.insert(t.name());
  for (const auto& t : model_.graph().sparse_initializer()) constants.insert(t.values().name());
  for (const Input& input : ResolveInputs(model_.graph(), constants, options_, result_.notes, problems_)) {
    const ValueId id = Define(input.name, "input " + input.name);
    if (id == kNoValue) continue;
    root_.graph.value(id).type = input.type;
    root_.graph.value(id).shape = input.shape;
    root_.graph.inputs.push_back(id);
    result_.declared[input.name] = input.declared;
    result_.dims[input.name] = input.dims;
  }
  // so that the readers of an input that is reported are not reported as well
  for (const auto& input : model_.graph().input())
    if (!input.name().empty()) root_.defined.insert(Reference(input.name()));
}

bool Importer::CheckOperator(const FlatNode& flat, const std::string& node) {
  const std::string& op = flat.proto.op_type();
  if (op.starts_with("mete.")) {
    problems_.Bad(
        node, "operator {} is none of ONNX: only Mete's own passes make it; expected an operator of ai.onnx",
        op);
    return false;
  }
  const bool microsoft = flat.proto.domain() == kMicrosoft;
  if (IsCustom(flat.proto)) return true;
  if ((microsoft && IsMicrosoft(op)) || (flat.proto.domain() == kMl && IsMl(op)) ||
      IsFlexAttention(flat.proto))
    return true;
  if (!IsDefaultDomain(flat.proto.domain())) {
    problems_.Unsupported(
        "operator " + flat.proto.domain() + "." + op,
        fmt::format("its domain is not ai.onnx and the model does not define it{}",
                    microsoft
                        ? "; try the model from before ONNX Runtime's optimizer or quantizer changed it"
                        : "; try --operators FILE.so, in C++ RegisterOperator() of mete/custom_operator.h"),
        node);
    return false;
  }
  if (const int most = MostInputs(op); most > 0 && flat.proto.input_size() > most) {
    problems_.Bad(node, "{} has too many inputs; got {}, expected at most {}", op, flat.proto.input_size(),
                  most);
    return false;
  }
  return true;
}

void Importer::AddNode(FlatNode& flat) {
  const NodeProto& proto = flat.proto;
  const std::string node = NodeName(proto);
  const bool known = CheckOperator(flat, node);
  const Attributes attributes = known ? ReadAttributes(proto, node, tensors_, problems_) : Attributes();
  if (known && proto.op_type() == "Constant" && !IsCustom(proto))
    return AddConstantNode(proto, node, attributes);

  Upgrade upgrade{
      scope_->graph,  scope_->names, problems_, mixed_floats_, {node, proto.op_type(), {}, {}, attributes},
      &scope_->shapes};
  for (const std::string& name : proto.input()) {
    upgrade.node.inputs.push_back(Reference(name));
    if (!name.empty()) scope_->first_reader.emplace(upgrade.node.inputs.back(), node);
  }
  for (const std::string& name : proto.output())
    upgrade.node.outputs.push_back(name.empty() ? kNoValue : Define(name, node));
  if (!known) return;
  if (IsCustom(proto)) return AddCustom(scope_->graph, std::move(upgrade.node), proto);
  if (IsControlFlow(proto.op_type())) AddBodies(flat, upgrade);
  const size_t before = scope_->graph.nodes.size();
  int64_t opset = flat.opset;
  try {
    if (proto.domain() == kMicrosoft) {
      ExpandMicrosoft(upgrade);
      if (!FindOperator(upgrade.node.op)) return;  // the problem is reported
    } else if (proto.domain() == kMl) {
      ExpandMl(upgrade);
      if (!FindOperator(upgrade.node.op)) return;  // the problem is reported
    } else if (IsFlexAttention(proto)) {
      ExpandFlexAttention(flat, upgrade);
      if (!FindOperator(upgrade.node.op)) return;  // the problem is reported
    } else if (IsComposed(proto.op_type())) {
      if (proto.op_type() == "DFT" && flat.opset < 20 && !attributes.Has("axis"))
        upgrade.node.attributes.Set("axis", int64_t{1});  // opset 20 has another default
      ExpandComposed(upgrade);
      if (!FindOperator(upgrade.node.op)) return;  // the problem is reported
      opset = kNewestOpset;
    }
    UpgradeAndAdd(upgrade, opset);
  } catch (const Error& e) {
    problems_.Bad(node, "{}", e.what());
    return;
  }
  const Node& added = scope_->graph.nodes.back();
  if (!FindOperator(added.op)) {
    if (!HasSubgraph(proto)) problems_.Unsupported("operator " + added.op, "Mete does not have it", node);
    return;
  }
  for (Node& n : std::span(scope_->graph.nodes).subspan(before)) RefuseReserved(n, node, problems_);
}

void Importer::AddConstantNode(const NodeProto& proto, const std::string& node,
                               const Attributes& attributes) {
  if (proto.output_size() != 1)
    return problems_.Bad(node, "Constant has {} outputs; expected 1", proto.output_size());
  try {
    Tensor value = ConstantValue(attributes);
    if (value.has_value()) {
      AddConstant(proto.output(0), std::move(value), node);
      return;
    }
    // ReadAttributes() has reported the problem.
    if (attributes.empty() && proto.attribute_size() > 0) return void(Define(proto.output(0), node));
    problems_.Unsupported("operator Constant", "its value is not a tensor, number or list of numbers", node);
  } catch (const Error& e) {
    problems_.Bad(node, "{}", e.what());
  }
  Define(proto.output(0), node);
}

void Importer::AddConstant(const std::string& name, Tensor tensor, const std::string& where) {
  const ValueId id = Define(name, where);
  if (id == kNoValue) return;
  Value& value = scope_->graph.value(id);
  value.type = tensor.type();
  value.shape = tensor.shape();
  value.constant = std::move(tensor);
}

void Importer::AddOutputs(const ::onnx::GraphProto& graph) {
  std::set<std::string> seen;
  for (const auto& output : graph.output()) {
    if (scope_ == &root_ && !seen.insert(output.name()).second) {
      problems_.Bad(output.name(), "two outputs have this name");
      continue;
    }
    const ValueId id = Reference(output.name());
    if (id == kNoValue) {
      problems_.Bad(name_, "an output has no name");
      continue;
    }
    scope_->first_reader.emplace(id, "the model's outputs");
    scope_->graph.outputs.push_back(id);
  }
  if (graph.output_size() == 0 && scope_ == &root_)
    problems_.Bad(name_, "the model has no outputs; expected at least one");
}

void Importer::CheckDangling() {
  for (const auto& [id, reader] : scope_->first_reader)
    if (!scope_->defined.count(id))
      problems_.Bad(reader,
                    "input '{}' is made by no node and is neither an input of the model nor an initializer",
                    scope_->graph.value(id).name);
}

ValueId Importer::Reference(const std::string& name) {
  if (name.empty()) return kNoValue;
  const auto at = scope_->ids.find(name);
  if (at != scope_->ids.end()) return at->second;
  const bool own = !scope_->outer || scope_->own.contains(name);
  const ValueId id = own ? scope_->graph.AddValue(name) : Capture(name);
  scope_->ids.emplace(name, id);
  return id;
}

ValueId Importer::Define(const std::string& name, const std::string& where) {
  const ValueId id = Reference(name);
  if (id != kNoValue && scope_->defined.insert(id).second) return id;
  if (id == kNoValue) problems_.Bad(where, "has no name for what it makes");
  else problems_.Bad(where, "makes '{}', which is made elsewhere already", name);
  return kNoValue;
}

std::string Importer::NodeName(const NodeProto& proto) {
  if (!proto.name().empty()) return scope_->names.Unique(Printable(proto.name()));
  return scope_->names.Unique(
      Printable(proto.op_type() + "_" + (proto.output_size() ? proto.output(0) : "nothing")));
}

}  // namespace mete::onnx_import
