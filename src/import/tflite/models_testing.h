// Models for tests, and what they give.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "import/tflite/tflite.h"
#include "kernels/reference/evaluate_testing.h"
#include "passes/pass.h"
#include "src/import/tflite/tflite_generated.h"

namespace mete {

struct Scale {
  std::vector<float> scale;
  std::vector<int64_t> zero;
  int axis = 0;
};

// Builds a model tensor by tensor and operator by operator. Methods return numbers of tensors.
class TfliteModel {
 public:
  using Code = tflite::BuiltinOperator;
  using Type = tflite::TensorType;
  using Kind = tflite::BuiltinOptions;

  TfliteModel() { AddBuffer({}); }

  flatbuffers::FlatBufferBuilder builder;
  std::vector<int> inputs, outputs;
  uint32_t version = 3;

  int Value(const std::vector<int>& shape, Type type = Type::FLOAT32, const Scale& scale = {},
            unsigned buffer = 0, flatbuffers::Offset<tflite::SparsityParameters> sparsity = {}) {
    const std::string name = "t" + std::to_string(tensors_.size());
    flatbuffers::Offset<tflite::QuantizationParameters> quantization;
    if (!scale.scale.empty())
      quantization =
          tflite::CreateQuantizationParametersDirect(builder, &scale.scale, &scale.zero, 0, scale.axis);
    tensors_.push_back(tflite::CreateTensorDirect(builder, &shape, type, buffer, name.c_str(), quantization,
                                                  false, sparsity));
    return int(tensors_.size()) - 1;
  }
  int Input(const std::vector<int>& shape, Type type = Type::FLOAT32, const Scale& scale = {}) {
    inputs.push_back(Value(shape, type, scale));
    return inputs.back();
  }
  template <class T>
  int Constant(const std::vector<int>& shape, const std::vector<T>& values, Type type,
               const Scale& scale = {}, flatbuffers::Offset<tflite::SparsityParameters> sparsity = {}) {
    std::vector<uint8_t> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return Value(shape, type, scale, AddBuffer(bytes), sparsity);
  }
  // `values`: the elements that are not left out by the layout.
  int Sparse(const std::vector<int>& shape, const std::vector<float>& values,
             flatbuffers::Offset<tflite::SparsityParameters> layout) {
    return Constant(shape, values, Type::FLOAT32, {}, layout);
  }
  int Floats(const std::vector<int>& shape, const std::vector<float>& values) {
    return Constant(shape, values, Type::FLOAT32);
  }
  int Ints(const std::vector<int32_t>& values) { return Constant({int(values.size())}, values, Type::INT32); }

  // Adds an operator whose options are made before; returns its first output.
  template <class Options = void>
  int Op(Code code, const std::vector<int>& in, Kind kind = Kind::NONE,
         flatbuffers::Offset<Options> options = {}, std::vector<int> out = {}) {
    if (out.empty()) out = {Value({})};
    const unsigned number = AddCode(code);
    operators_.push_back(tflite::CreateOperatorDirect(builder, number, &in, &out, kind, options.Union()));
    return out[0];
  }
  // Adds an operator that is known by a name.
  int Custom(const char* name, const std::vector<int>& in, const std::vector<uint8_t>& options) {
    const std::vector<int> out = {Value({})};
    operators_.push_back(tflite::CreateOperatorDirect(builder, AddCode(Code::CUSTOM, name), &in, &out,
                                                      Kind::NONE, 0, &options));
    return out[0];
  }
  int Conv(int x, int weights, int bias, tflite::Padding padding = tflite::Padding::SAME,
           std::vector<int> out = {}) {
    return Op(Code::CONV_2D, {x, weights, bias}, Kind::Conv2DOptions,
              tflite::CreateConv2DOptions(builder, padding, 1, 1), std::move(out));
  }

  // What was added since the last subgraph is one that operators may run, and not a part of the network.
  // Returns its number.
  int EndSubgraph() {
    graphs_.push_back(
        tflite::CreateSubGraphDirect(builder, &tensors_, &inputs, &outputs, &operators_, "body"));
    tensors_.clear();
    operators_.clear();
    inputs.clear();
    outputs.clear();
    return int(graphs_.size());
  }

  std::string Finish() {
    graphs_.insert(graphs_.begin(),
                   tflite::CreateSubGraphDirect(builder, &tensors_, &inputs, &outputs, &operators_, "net"));
    builder.Finish(
        tflite::CreateModelDirect(builder, version, &codes_, &graphs_, "a model of a test", &buffers_),
        tflite::ModelIdentifier());
    return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
  }

 private:
  unsigned AddBuffer(const std::vector<uint8_t>& bytes) {
    if (!bytes.empty()) builder.ForceVectorAlignment(bytes.size(), 1, 16);
    buffers_.push_back(tflite::CreateBufferDirect(builder, bytes.empty() ? nullptr : &bytes));
    return unsigned(buffers_.size()) - 1;
  }
  unsigned AddCode(Code code, const char* name = nullptr) {
    codes_.push_back(
        tflite::CreateOperatorCodeDirect(builder, int8_t(std::min(int(code), 127)), name, 1, code));
    return unsigned(codes_.size()) - 1;
  }

  std::vector<flatbuffers::Offset<tflite::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<tflite::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<tflite::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<tflite::Operator>> operators_;
  std::vector<flatbuffers::Offset<tflite::SubGraph>> graphs_;
};

inline Imported ImportBytes(const std::string& bytes, const ImportOptions& options = {}) {
  return ImportTflite(std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr, "net.tflite", options);
}

// Imports the model, which is given this output alone.
inline Imported ImportOutput(TfliteModel& m, int output) {
  m.outputs = {output};
  return ImportBytes(m.Finish());
}

// Returns values between -2 and 2 with few digits, of both signs.
inline std::vector<float> Made(size_t count, float scale = 1) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = scale * float(int(i * 37 % 101) - 50) / 32;
  return values;
}

template <class T>
std::vector<T> ElementsOf(const Tensor& t) {
  return {t.as<T>(), t.as<T>() + t.elements()};
}

// Imports the model and computes its outputs by the reference kernels.
inline std::vector<Tensor> RunBytes(const std::string& bytes, const std::vector<Tensor>& inputs) {
  const Graph graph = ImportBytes(bytes).graph;
  const std::vector<Tensor> values = EvaluateAll(graph, inputs);
  std::vector<Tensor> outputs;
  for (ValueId id : graph.outputs) outputs.push_back(values[size_t(id)]);
  return outputs;
}

}  // namespace mete
