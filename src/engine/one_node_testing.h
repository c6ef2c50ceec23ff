// A model of one operator, for tests that compare its results with plain loops.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "engine/engine_testing.h"

namespace mete {

// A model of one node "node", of com.microsoft unless another domain is named, with inputs of values, which
// are inputs of the model or, with a name that begins with "c_", constants.
class OneNodeModel {
 public:
  explicit OneNodeModel(const std::string& op, const std::string& domain = "com.microsoft")
      : model_(EmptyModel(17)) {
    NodeProto& node = *model_.mutable_graph()->add_node();
    node.set_op_type(op);
    node.set_name("node");
    node.set_domain(domain);
  }

  OneNodeModel& Floats(const std::string& name, const std::vector<int64_t>& shape, float step = 0.02f) {
    Tensor t = Ramp(Shape(std::span(shape)), step);
    // Neither input is a multiple of another one.
    for (int64_t i = 0; i < t.elements(); ++i)
      static_cast<float*>(t.mutable_view().data)[i] += 0.01f * float((i * 7 + int64_t(name.size()) * 3) % 11);
    return Give(name, std::move(t));
  }
  template <class T>
  OneNodeModel& Numbers(const std::string& name, DType type, const std::vector<int64_t>& shape,
                        const std::vector<T>& values) {
    return Give(name, Tensor::Of<T>(type, Shape(std::span(shape)), std::span(values)));
  }
  OneNodeModel& I32(const std::string& name, const std::vector<int64_t>& shape,
                    const std::vector<int32_t>& values) {
    return Numbers(name, DType::kI32, shape, values);
  }
  OneNodeModel& None() {
    Node().add_input("");
    return *this;
  }
  OneNodeModel& Int(const std::string& name, int64_t value) {
    AddInt(Node(), name, value);
    return *this;
  }
  OneNodeModel& Float(const std::string& name, float value) {
    AddFloat(Node(), name, value);
    return *this;
  }
  OneNodeModel& IntList(const std::string& name, const std::vector<int64_t>& values) {
    AddInts(Node(), name, values);
    return *this;
  }
  NodeProto& Node() { return *model_.mutable_graph()->mutable_node(0); }

  const Tensor& operator[](const std::string& name) const { return values_.at(name); }

  // Leaves all dimensions of the inputs open.
  OneNodeModel& Open() {
    for (auto& input : *model_.mutable_graph()->mutable_input())
      for (auto& dim : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
        dim.clear_dim_value();
    return *this;
  }

  Model Load(size_t outputs) {
    for (size_t i = 0; i < outputs; ++i) {
      Node().add_output("y" + std::to_string(i));
      AddOutput(model_, "y" + std::to_string(i));
    }
    const ModelFile file(model_);
    LoadOptions options;
    for (const auto& [name, value] : values_)
      if (!name.starts_with("c_")) options.input_shapes[name] = value.shape();
    return Model::Load(file.path(), options);
  }
  std::vector<Tensor> Inputs(const Model& model) const {
    std::vector<Tensor> inputs;
    for (const Port& port : model.inputs()) inputs.push_back(values_.at(port.name));
    return inputs;
  }

  // Runs the model with reference and with fast kernels, expects the same of both, and returns the outputs.
  std::vector<Tensor> Run(size_t outputs = 1) {
    const Model model = Load(outputs);
    std::vector<Tensor> exact = Session(model, {.reference = true}).Run(Inputs(model));
    const std::vector<Tensor> fast = Session(model, SessionOptions::Estimated()).Run(Inputs(model));
    for (size_t i = 0; i < exact.size(); ++i) {
      EXPECT_EQ(exact[i].shape(), fast[i].shape());
      if (exact[i].type() != DType::kF32) continue;
      for (int64_t e = 0; e < exact[i].elements(); ++e)
        EXPECT_NEAR(exact[i].as<float>()[e], fast[i].as<float>()[e], Tolerance(exact[i])) << i << " " << e;
    }
    return exact;
  }

  // Three sums of at most 64 products each follow each other, and each product rounds by half a unit at most.
  static float Tolerance(const Tensor& t) {
    float most = 1;
    for (int64_t i = 0; i < t.elements(); ++i) most = std::max(most, std::abs(t.as<float>()[i]));
    return most * 3 * 64 * 0.5f * std::numeric_limits<float>::epsilon();
  }

 private:
  OneNodeModel& Give(const std::string& name, Tensor t) {
    std::vector<int64_t> dims(t.shape().begin(), t.shape().end());
    const int32_t type = t.type() == DType::kF32   ? TensorProto::FLOAT
                         : t.type() == DType::kI32 ? TensorProto::INT32
                         : t.type() == DType::kI64 ? TensorProto::INT64
                                                   : TensorProto::UINT8;
    if (name.starts_with("c_"))
      AddRaw(model_, name, type, dims, std::string(static_cast<const char*>(t.data()), t.bytes()));
    else AddInput(model_, name, dims, {}, type);
    Node().add_input(name);
    values_[name] = std::move(t);
    return *this;
  }

  ModelProto model_;
  std::map<std::string, Tensor> values_;
};

inline void ExpectNear(const Tensor& got, const Shape& shape, const std::function<double(int64_t)>& want) {
  ASSERT_EQ(got.shape(), shape);
  for (int64_t i = 0; i < got.elements(); ++i)
    ASSERT_NEAR(double(got.as<float>()[i]), want(i), double(OneNodeModel::Tolerance(got))) << i;
}

// Values by batch, head, place and element, as attention sees them.
using ByHead = std::function<double(int64_t, int64_t, int64_t, int64_t)>;

// Of a tensor batch x length x (heads * size).
inline ByHead InRows(const Tensor& t, int64_t heads, int64_t first_head = 0, int64_t all_heads = 0) {
  const int64_t length = t.shape()[1], size = t.shape()[2] / (all_heads == 0 ? heads : all_heads);
  const int64_t row = t.shape()[2];
  return [=](int64_t b, int64_t h, int64_t i, int64_t e) {
    return double(t.as<float>()[(b * length + i) * row + (first_head + h) * size + e]);
  };
}
// Of a tensor batch x heads x length x size.
inline ByHead InHeads(const Tensor& t) {
  const Shape s = t.shape();
  return [=](int64_t b, int64_t h, int64_t i, int64_t e) {
    return double(t.as<float>()[((b * s[1] + h) * s[2] + i) * s[3] + e]);
  };
}
// Turns the pairs of elements e and e + 2 of size 4 by the angles of a place, whose cosines and sines are
// `cos` and `sin` (places x 2).
inline ByHead Turned(const ByHead& x, const Tensor& cos, const Tensor& sin,
                     const std::function<int64_t(int64_t, int64_t)>& place) {
  return [=](int64_t b, int64_t h, int64_t i, int64_t e) {
    const int64_t at = place(b, i) * 2 + e % 2;
    const double c = double(cos.as<float>()[at]), s = double(sin.as<float>()[at]);
    const double real = x(b, h, i, e % 2), imaginary = x(b, h, i, e % 2 + 2);
    return e < 2 ? c * real - s * imaginary : c * imaginary + s * real;
  };
}

}  // namespace mete
