// Small ONNX models, built with the format's own classes, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "import/onnx/onnx.h"
#include "import/onnx/proto.h"
#include "mete/error.h"

namespace mete {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

inline ModelProto EmptyModel(int64_t opset = 13) {
  ModelProto m;
  m.set_ir_version(7);
  auto* import = m.add_opset_import();
  import->set_version(opset);
  m.mutable_graph()->set_name("test");
  return m;
}

// Adds an input. Dimensions below 0 are open; `names` gives them names.
inline void AddInput(ModelProto& m, const std::string& name, std::vector<int64_t> dims,
                     const std::vector<std::string>& names = {}, int32_t type = TensorProto::FLOAT) {
  auto* input = m.mutable_graph()->add_input();
  input->set_name(name);
  auto* tensor = input->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  auto* shape = tensor->mutable_shape();
  for (size_t i = 0; i < dims.size(); ++i) {
    auto* d = shape->add_dim();
    if (dims[i] >= 0) d->set_dim_value(dims[i]);
    else if (i < names.size()) d->set_dim_param(names[i]);
  }
}

inline void AddOutput(ModelProto& m, const std::string& name) {
  m.mutable_graph()->add_output()->set_name(name);
}

inline NodeProto& AddTo(GraphProto& g, const std::string& op, const std::vector<std::string>& in,
                        const std::vector<std::string>& out, const std::string& name = "") {
  NodeProto& n = *g.add_node();
  n.set_op_type(op);
  n.set_name(name);
  for (const auto& i : in) n.add_input(i);
  for (const auto& o : out) n.add_output(o);
  return n;
}

inline NodeProto& AddOp(ModelProto& m, const std::string& op, const std::vector<std::string>& in,
                        const std::vector<std::string>& out, const std::string& name = "") {
  return AddTo(*m.mutable_graph(), op, in, out, name);
}

inline TensorProto& AddRaw(ModelProto& m, const std::string& name, int32_t type,
                           const std::vector<int64_t>& dims, const std::string& raw) {
  TensorProto& t = *m.mutable_graph()->add_initializer();
  t.set_name(name);
  t.set_data_type(type);
  for (int64_t d : dims) t.add_dims(d);
  t.set_raw_data(raw);
  return t;
}

template <class T>
std::string RawOf(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

inline void AddInts(NodeProto& n, const std::string& name, const std::vector<int64_t>& values) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(AttributeProto::INTS);
  for (int64_t v : values) a->add_ints(v);
}

inline void AddInt(NodeProto& n, const std::string& name, int64_t value) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(AttributeProto::INT);
  a->set_i(value);
}

inline void AddFloat(NodeProto& n, const std::string& name, float value) {
  auto& a = *n.add_attribute();
  a.set_name(name);
  a.set_type(::onnx::AttributeProto::FLOAT);
  a.set_f(value);
}

inline void AddFloats(NodeProto& n, const std::string& name, const std::vector<float>& values) {
  auto& a = *n.add_attribute();
  a.set_name(name);
  a.set_type(::onnx::AttributeProto::FLOATS);
  for (const float v : values) a.add_floats(v);
}

inline void AddString(NodeProto& n, const std::string& name, const std::string& value) {
  auto& a = *n.add_attribute();
  a.set_name(name);
  a.set_type(::onnx::AttributeProto::STRING);
  a.set_s(value);
}

// Returns a model with one Relu from "x" (2x3) to "y", which is the smallest complete model.
inline ModelProto ReluModel(int64_t opset = 13) {
  ModelProto m = EmptyModel(opset);
  AddInput(m, "x", {2, 3});
  AddOp(m, "Relu", {"x"}, {"y"});
  AddOutput(m, "y");
  return m;
}

inline GraphProto& AddSubgraph(NodeProto& node, const std::string& name,
                               const std::vector<std::string>& outputs) {
  auto* a = node.add_attribute();
  a->set_name(name);
  a->set_type(AttributeProto::GRAPH);
  a->mutable_g()->set_name(name + "_graph");
  for (const auto& o : outputs) a->mutable_g()->add_output()->set_name(o);
  return *a->mutable_g();
}

// If(c): x + w, else Neg(y). The branches read x and w, and y.
inline ModelProto IfModel() {
  ModelProto m = EmptyModel(16);
  AddInput(m, "c", {}, {}, TensorProto::BOOL);
  AddInput(m, "x", {2});
  AddInput(m, "y", {2});
  AddRaw(m, "w", TensorProto::FLOAT, {2}, RawOf<float>({1, 2}));
  NodeProto& node = AddOp(m, "If", {"c"}, {"z"}, "choice");
  AddTo(AddSubgraph(node, "then_branch", {"sum"}), "Add", {"x", "w"}, {"sum"}, "add");
  AddTo(AddSubgraph(node, "else_branch", {"negative"}), "Neg", {"y"}, {"negative"}, "neg");
  AddOutput(m, "z");
  return m;
}

inline Imported ImportBytes(const std::string& bytes, const ImportOptions& options = {},
                            const std::string& folder = "") {
  auto owner = std::make_shared<std::string>(bytes);
  return ImportOnnx(std::as_bytes(std::span(*owner)), owner, "test.onnx", folder, options);
}

inline Imported Import(const ModelProto& m, const ImportOptions& options = {},
                       const std::string& folder = "") {
  return ImportBytes(m.SerializeAsString(), options, folder);
}

// Returns the Error that `action` throws, as "CODE: message", or "" if it throws none.
inline std::string CodedErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const mete::Error& e) {
    return std::string(CodeName(e.code())) + ": " + e.what();
  }
  return "";
}
inline std::string ImportError(const ModelProto& m, const ImportOptions& options = {},
                               const std::string& folder = "") {
  return CodedErrorOf([&] { Import(m, options, folder); });
}

inline ::testing::AssertionResult Contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << part << "' is not in '" << text << "'";
}
inline ::testing::AssertionResult StartsWith(const std::string& text, const std::string& part) {
  if (text.rfind(part, 0) == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << text << "' does not start with '" << part << "'";
}

inline const Value& ValueNamed(const Graph& graph, const std::string& name) {
  for (const Value& v : graph.values)
    if (v.name == name) return v;
  throw std::runtime_error("no value " + name);
}

}  // namespace mete
