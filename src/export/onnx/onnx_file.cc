#include "export/onnx/onnx_file.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/error.h"
#include "export/onnx/onnx_form.h"
#include "graph/bodies.h"
#include "import/onnx/packed.h"
#include "import/onnx/proto.h"
#include "import/onnx/tensors.h"

namespace mete {
namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using ::onnx::ValueInfoProto;
using onnx_import::OnnxTypeOf;

// The IR version that came with an opset, from ONNX's list of versions (docs/Versioning.md).
int64_t IrVersionOf(int64_t opset) {
  constexpr struct {
    int64_t opset, ir;
  } kVersions[] = {{14, 7}, {18, 8}, {20, 9}, {22, 10}, {24, 11}, {25, 12}};
  for (const auto& row : kVersions)
    if (opset <= row.opset) return row.ir;
  return 13;
}

void FillTensor(const Tensor& from, TensorProto& to) {
  to.set_data_type(OnnxTypeOf(from.type()));
  for (const int64_t d : from.shape()) to.add_dims(d);
  to.set_raw_data(onnx_import::Packed(from));
}

// Returns whether the attribute names an element type, which Graph holds as text ("f32").
bool NamesType(std::string_view name) { return name == "to" || name == "dtype" || name == "output_dtype"; }

struct AttributeWriter {
  AttributeProto& to;
  size_t captures;  // of the node

  void operator()(int64_t value) const {
    to.set_type(AttributeProto::INT);
    to.set_i(value);
  }
  void operator()(float value) const {
    to.set_type(AttributeProto::FLOAT);
    to.set_f(value);
  }
  void operator()(const std::string& value) const {
    if (NamesType(to.name())) return (*this)(int64_t(OnnxTypeOf(DTypeOf(value))));
    to.set_type(AttributeProto::STRING);
    to.set_s(value);
  }
  void operator()(const Ints& values) const {
    to.set_type(AttributeProto::INTS);
    to.mutable_ints()->Add(values.begin(), values.end());
  }
  void operator()(const Floats& values) const {
    to.set_type(AttributeProto::FLOATS);
    to.mutable_floats()->Add(values.begin(), values.end());
  }
  void operator()(const Strings& values) const {
    to.set_type(AttributeProto::STRINGS);
    for (const std::string& value : values) to.add_strings(value);
  }
  void operator()(const Tensor& value) const {
    to.set_type(AttributeProto::TENSOR);
    FillTensor(value, *to.mutable_t());
  }
  void operator()(const GraphPtr& value) const;  // a body
};

bool IsOfMl(const Node& node) { return node.op.starts_with(kMlDomain); }

void WriteNode(const Graph& graph, const Node& node, NodeProto& to) {
  to.set_op_type(IsOfMl(node) ? node.op.substr(kMlDomain.size() + 1) : node.op);
  if (IsOfMl(node)) to.set_domain(std::string(kMlDomain));
  to.set_name(node.name);
  const size_t captures = CapturesOf(node.attributes);  // which bodies name themselves
  for (size_t i = 0; i + captures < node.inputs.size(); ++i)
    to.add_input(node.inputs[i] == kNoValue ? "" : graph.value(node.inputs[i]).name);
  for (const ValueId id : node.outputs) to.add_output(id == kNoValue ? "" : graph.value(id).name);
  for (const auto& [name, value] : node.attributes) {
    if (name == kCaptures) continue;
    AttributeProto& attribute = *to.add_attribute();
    attribute.set_name(name);
    std::visit(AttributeWriter{attribute, captures}, value);
  }
}

void WriteNodes(const Graph& graph, GraphProto& to) {
  to.set_name(graph.name.empty() ? "graph" : graph.name);  // ONNX wants a name
  for (const Node& node : graph.nodes) WriteNode(graph, node, *to.add_node());
}

// What is known of a parameter or an output of a body. The rest follows from the node's inputs; the number of
// a run and the condition of a Loop need not have any.
void WriteKnown(const Value& value, ValueInfoProto& to) {
  to.set_name(value.name);
  if (value.type == DType::kUnknown) return;
  auto& tensor = *to.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(OnnxTypeOf(value.type));
  if (!value.shape.known()) return;
  auto& shape = *tensor.mutable_shape();
  for (const int64_t d : value.shape) {
    auto& dim = *shape.add_dim();
    if (d >= 0) dim.set_dim_value(d);
  }
}

// Writes a body with the parameters that ONNX gives it. Its constants are those of the outermost graph.
void AttributeWriter::operator()(const GraphPtr& value) const {
  to.set_type(AttributeProto::GRAPH);
  GraphProto& body = *to.mutable_g();
  WriteNodes(*value, body);
  for (size_t i = 0; i + captures < value->inputs.size(); ++i)
    WriteKnown(value->value(value->inputs[i]), *body.add_input());
  for (const ValueId id : value->outputs) WriteKnown(value->value(id), *body.add_output());
}

// Writes the constants of a graph and of its bodies, each name once. Constants that no node reads, and that
// are no outputs, are left out.
void WriteConstants(const Graph& graph, std::set<std::string>& written, GraphProto& to) {
  const Uses uses(graph);
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    if (!value.is_constant() || (uses.readers[i].empty() && !uses.is_output[i])) continue;
    if (!written.insert(value.name).second) continue;
    TensorProto& tensor = *to.add_initializer();
    tensor.set_name(value.name);
    FillTensor(value.constant, tensor);
  }
  for (const Node& node : graph.nodes)
    for (const std::string_view name : BodyNames(node.op))
      WriteConstants(*node.attributes.GraphOf(name), written, to);
}

bool HasMl(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    const auto bodies = BodyNames(node.op);
    return IsOfMl(node) || std::any_of(bodies.begin(), bodies.end(), [&](std::string_view name) {
             return HasMl(*node.attributes.GraphOf(name));
           });
  });
}

class Writer {
 public:
  Writer(const Graph& graph, const OnnxFileOptions& options) : graph_(InOnnxForm(graph)), options_(options) {
    NameValues(graph_);
  }

  std::string Write() {
    CheckOnnxForm(graph_);
    CheckSize();
    const int64_t opset = OpsetOf(graph_);
    model_.set_ir_version(IrVersionOf(opset));
    model_.set_producer_name("mete");
    model_.add_opset_import()->set_version(opset);
    if (HasMl(graph_)) {
      auto& ml = *model_.add_opset_import();
      ml.set_domain(std::string(kMlDomain));
      ml.set_version(4);  // the first one with attributes that are tensors
    }
    for (const auto& [key, value] : options_.metadata) {
      auto* entry = model_.add_metadata_props();
      entry->set_key(key);
      entry->set_value(value);
    }
    AddInputs();
    WriteNodes(graph_, *model_.mutable_graph());
    std::set<std::string> written;
    WriteConstants(graph_, written, *model_.mutable_graph());
    const std::vector<DType> types = OutputTypes(graph_);
    for (size_t i = 0; i < types.size(); ++i) AddOutput(graph_.outputs[i], types[i]);
    return model_.SerializeAsString();
  }

 private:
  void CheckSize() const {
    const int64_t bytes = ConstantBytesWithBodies(graph_), most = std::numeric_limits<int32_t>::max();
    if (bytes > most)
      Fail(Code::kResourceExhausted, graph_.name,
           "too large for one ONNX file; got {} bytes of constants, expected at most {}", bytes, most);
  }

  void AddInputs() {
    for (const ValueId id : graph_.inputs) {
      const Value& value = graph_.value(id);
      ValueInfoProto& info = *model_.mutable_graph()->add_input();
      info.set_name(graph_.value(id).name);
      auto& tensor = *info.mutable_type()->mutable_tensor_type();
      tensor.set_elem_type(OnnxTypeOf(value.type));
      const auto port = std::find_if(options_.inputs.begin(), options_.inputs.end(),
                                     [&](const Port& p) { return p.name == value.name; });
      const bool declared = port != options_.inputs.end() && port->declared.known();
      const Shape& shape = declared ? port->declared : value.shape;
      auto& to = *tensor.mutable_shape();  // also where it has no dimensions
      for (int i = 0; i < shape.rank(); ++i) {
        auto& dim = *to.add_dim();
        open_ |= shape[i] < 0;
        if (shape[i] >= 0) dim.set_dim_value(shape[i]);
        else if (size_t(i) < port->dims.size() && !port->dims[size_t(i)].empty())
          dim.set_dim_param(port->dims[size_t(i)]);
      }
    }
  }

  // Where sizes of inputs are open, any size of an output may follow from them, so that its rank alone is
  // told.
  void AddOutput(ValueId id, DType type) {
    ValueInfoProto& info = *model_.mutable_graph()->add_output();
    info.set_name(graph_.value(id).name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(OnnxTypeOf(type));
    const Shape& shape = graph_.value(id).shape;
    if (!shape.known()) return;
    auto& to = *tensor.mutable_shape();
    for (const int64_t d : shape) {
      auto& dim = *to.add_dim();
      if (!open_) dim.set_dim_value(d);
    }
  }

  Graph graph_;
  const OnnxFileOptions& options_;
  ModelProto model_;
  bool open_ = false;  // an input has an open dimension
};

}  // namespace

std::string OnnxFileOf(const Graph& graph, const OnnxFileOptions& options) {
  return Writer(graph, options).Write();
}

}  // namespace mete
