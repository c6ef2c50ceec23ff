// The parts of GraphBuilder for nodes, initialisers and the file. The layers are in layers.cc.
#include "zoo/builder.h"

#define ONNX_ML 1  // the variant of the schema that onnx_pb.h includes
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace mete::zoo {
namespace {

constexpr int kIrVersion = 8;  // the IR version of opset 17
constexpr int kOpset = 17;     // the first opset with LayerNormalization

int64_t Product(const Dims& dims) {
  int64_t product = 1;
  for (const int64_t d : dims) product *= d;
  return product;
}

void SetType(onnx::ValueInfoProto* info, const Tensor& tensor, int type) {
  info->set_name(tensor.name);
  auto* tensor_type = info->mutable_type()->mutable_tensor_type();
  tensor_type->set_elem_type(type);
  auto* shape = tensor_type->mutable_shape();
  for (const int64_t d : tensor.dims) shape->add_dim()->set_dim_value(d);
}

struct AttributeSetter {
  onnx::AttributeProto* attribute;

  void operator()(int64_t value) const {
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
  }
  void operator()(float value) const {
    attribute->set_type(onnx::AttributeProto::FLOAT);
    attribute->set_f(value);
  }
  void operator()(const Dims& values) const {
    attribute->set_type(onnx::AttributeProto::INTS);
    for (const int64_t v : values) attribute->add_ints(v);
  }
  void operator()(const std::string& value) const {
    attribute->set_type(onnx::AttributeProto::STRING);
    attribute->set_s(value);
  }
};

onnx::TensorProto* AddInitializer(onnx::ModelProto* model, const std::string& name, const Dims& dims,
                                  int type) {
  onnx::TensorProto* tensor = model->mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const int64_t d : dims) tensor->add_dims(d);
  return tensor;
}

// Calls `next()` for every element and stores the results in the file's byte order (little-endian, as in
// memory).
template <class F>
void Fill(onnx::TensorProto* tensor, int64_t count, F next) {
  std::string* bytes = tensor->mutable_raw_data();
  bytes->resize(size_t(count) * sizeof(float));
  for (int64_t i = 0; i < count; ++i) {
    const float value = next();
    std::memcpy(bytes->data() + size_t(i) * sizeof(float), &value, sizeof(float));
  }
}

}  // namespace

GraphBuilder::GraphBuilder(const std::string& name, uint64_t seed, bool dry)
    : model_(std::make_unique<onnx::ModelProto>()), random_(seed), dry_(dry) {
  model_->set_ir_version(kIrVersion);
  model_->set_producer_name(kProducer);
  auto* opset = model_->add_opset_import();
  opset->set_domain("");
  opset->set_version(kOpset);
  model_->mutable_graph()->set_name(name);
}

GraphBuilder::~GraphBuilder() = default;

Tensor GraphBuilder::Image(int channels, int height, int width) {
  return Floats("image", {1, channels, height, width});
}

Tensor GraphBuilder::Floats(const std::string& name, const Dims& dims) {
  Tensor x{name, dims};
  SetType(model_->mutable_graph()->add_input(), x, onnx::TensorProto::FLOAT);
  return x;
}

Tensor GraphBuilder::Tokens(const std::string& name, const Dims& dims) {
  Tensor x{name, dims};
  SetType(model_->mutable_graph()->add_input(), x, onnx::TensorProto::INT64);
  return x;
}

void GraphBuilder::Output(const Tensor& x, const std::string& name) {
  auto* graph = model_->mutable_graph();
  for (auto& node : *graph->mutable_node()) {
    for (auto& output : *node.mutable_output()) {
      if (output == x.name) output = name;
    }
    for (auto& input : *node.mutable_input()) {
      if (input == x.name) input = name;
    }
  }
  SetType(graph->add_output(), Tensor{name, x.dims}, onnx::TensorProto::FLOAT);
}

std::string GraphBuilder::NewName(const std::string& op) {
  std::string name = op + "_" + std::to_string(++nodes_);
  for (char& c : name) c = char(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

onnx::NodeProto* GraphBuilder::AddNode(const std::string& op, std::span<const std::string> inputs,
                                       std::span<const Attribute> attributes) {
  onnx::NodeProto* node = model_->mutable_graph()->add_node();
  node->set_op_type(op);
  node->set_name(NewName(op));
  for (const std::string& input : inputs) node->add_input(input);
  for (const auto& [name, value] : attributes) {
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name(name);
    std::visit(AttributeSetter{attribute}, value);
  }
  return node;
}

Tensor GraphBuilder::ToFloat(const Tensor& x) {
  const std::string inputs[] = {x.name};
  const Attribute attributes[] = {{"to", int64_t{onnx::TensorProto::FLOAT}}};
  return Node("Cast", inputs, x.dims, x.mean_square, attributes);
}

Tensor GraphBuilder::Node(const std::string& op, std::span<const std::string> inputs, const Dims& dims,
                          double mean_square, std::span<const Attribute> attributes) {
  onnx::NodeProto* node = AddNode(op, inputs, attributes);
  node->add_output(node->name());
  return {node->name(), dims, mean_square};
}

std::vector<Tensor> GraphBuilder::Split(const Tensor& x, int parts, int axis) {
  Dims dims = x.dims;
  dims[size_t(axis)] /= parts;
  // Equal sizes are optional, but pnnx loses the split without them.
  const std::vector<int64_t> sizes(size_t(parts), dims[size_t(axis)]);
  const std::string inputs[] = {x.name,
                                Constant("split_" + std::to_string(nodes_ + 1) + ".sizes", {parts}, sizes)};
  const Attribute attributes[] = {{"axis", int64_t(axis)}};
  onnx::NodeProto* node = AddNode("Split", inputs, attributes);
  std::vector<Tensor> result;
  for (int i = 0; i < parts; ++i) {
    result.push_back({node->name() + "." + std::to_string(i), dims, x.mean_square});
    node->add_output(result.back().name);
  }
  return result;
}

Tensor GraphBuilder::Lstm(const Tensor& x, int64_t hidden) {
  const int64_t features = x.dims[2];
  const std::string name = "lstm_" + std::to_string(nodes_ + 1);
  const double std = 1 / std::sqrt(double(hidden));
  const std::string inputs[] = {
      x.name,
      Weights(name + ".w", {1, 4 * hidden, features}, 1 / std::sqrt(double(features) * x.mean_square)),
      Weights(name + ".r", {1, 4 * hidden, hidden}, std), Weights(name + ".b", {1, 8 * hidden}, 0.05)};
  const Attribute attributes[] = {{"hidden_size", hidden}};
  const Tensor y = Node("LSTM", inputs, {x.dims[0], 1, x.dims[1], hidden}, 0.15, attributes);
  const int64_t direction = 1;
  const std::string squeezed[] = {y.name, Constant(name + ".axes", {1}, std::span(&direction, 1))};
  return Node("Squeeze", squeezed, {x.dims[0], x.dims[1], hidden}, y.mean_square);
}

std::string GraphBuilder::Weights(const std::string& name, const Dims& dims, double std, double mean) {
  parameters_ += Product(dims);
  return Normal(name, dims, std, mean);
}

std::string GraphBuilder::Normal(const std::string& name, const Dims& dims, double std, double mean) {
  onnx::TensorProto* tensor = AddInitializer(model_.get(), name, dims, onnx::TensorProto::FLOAT);
  const float s = float(std), m = float(mean);
  // The product of two floats is exact in a double, so fused multiply-adds change nothing.
  if (!dry_) Fill(tensor, Product(dims), [&] { return float(double(random_.Normal()) * s + m); });
  return name;
}

std::string GraphBuilder::Uniform(const std::string& name, const Dims& dims, double low, double high) {
  onnx::TensorProto* tensor = AddInitializer(model_.get(), name, dims, onnx::TensorProto::FLOAT);
  const float first = float(low), range = float(high - low);
  if (!dry_) Fill(tensor, Product(dims), [&] { return float(double(random_.Uniform()) * range + first); });
  return name;
}

std::string GraphBuilder::Constant(const std::string& name, const Dims& dims,
                                   std::span<const int64_t> values) {
  onnx::TensorProto* tensor = AddInitializer(model_.get(), name, dims, onnx::TensorProto::INT64);
  for (const int64_t v : values) tensor->add_int64_data(v);
  return name;
}

std::string GraphBuilder::Constant(const std::string& name, const Dims& dims, std::span<const float> values) {
  onnx::TensorProto* tensor = AddInitializer(model_.get(), name, dims, onnx::TensorProto::FLOAT);
  for (const float v : values) tensor->add_float_data(v);
  return name;
}

std::string GraphBuilder::Scalar(float value) {
  return Constant("scalar_" + std::to_string(++nodes_), {}, std::span(&value, 1));
}

std::string GraphBuilder::Bytes(const std::string& name, const Dims& dims, double std) {
  parameters_ += Product(dims);
  onnx::TensorProto* tensor = AddInitializer(model_.get(), name, dims, onnx::TensorProto::INT8);
  if (dry_) return name;
  std::string* bytes = tensor->mutable_raw_data();
  for (int64_t i = 0, n = Product(dims); i < n; ++i)
    bytes->push_back(char(std::clamp(std::nearbyint(double(random_.Normal()) * std), -127.0, 127.0)));
  return name;
}

std::string GraphBuilder::Byte(uint8_t value) {
  const std::string name = "byte_" + std::to_string(++nodes_);
  AddInitializer(model_.get(), name, {}, onnx::TensorProto::UINT8)->set_raw_data(std::string(1, char(value)));
  return name;
}

std::string GraphBuilder::Byte(int8_t value) {
  const std::string name = "byte_" + std::to_string(++nodes_);
  AddInitializer(model_.get(), name, {}, onnx::TensorProto::INT8)->set_raw_data(std::string(1, char(value)));
  return name;
}

void GraphBuilder::Save(const std::string& path) const {
  if (dry_) Fail(Code::kInternal, path, "a network without weights cannot be saved");
  const std::string temporary = path + ".tmp" + std::to_string(getpid());
  errno = 0;
  bool written = false;
  {
    std::ofstream file(temporary, std::ios::binary);
    written = file && model_->SerializeToOstream(&file);
    file.close();
    written = written && !file.fail();
  }
  const int problem = errno;
  std::error_code error;
  if (written) std::filesystem::rename(temporary, path, error);
  if (written && !error) return;
  const std::string reason = written        ? error.message()
                             : problem != 0 ? std::strerror(problem)
                                            : "the disk may be full";
  std::filesystem::remove(temporary, error);
  Fail(Code::kUnavailable, path,
       "cannot write the file; got \"{}\", expected a writable folder; try another path", reason);
}

}  // namespace mete::zoo
