// Small models in files, for tests of the engine.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "base/temp_path_testing.h"
#include "import/onnx/models_testing.h"
#include "mete/engine.h"

namespace mete {

// A model in a file, which is deleted with the object.
class ModelFile {
 public:
  explicit ModelFile(const ModelProto& model) {
    std::ofstream(path_.str(), std::ios::binary) << model.SerializeAsString();
  }
  const std::string& path() const { return path_.str(); }

 private:
  const TempPath path_{".onnx"};
};

// Weights that differ from each other and stay small.
inline std::string Weights(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = float(int(i * 37 % 101) - 50) * 0.01f;
  return {reinterpret_cast<const char*>(values.data()), count * sizeof(float)};
}

// data 1x3x16x16 -> Conv, Relu, Conv, Add with the first, GlobalAveragePool, Conv, Flatten, Softmax ->
// probabilities 1x5
inline ModelProto ConvNet() {
  ModelProto m = EmptyModel();
  AddInput(m, "data", {1, 3, 16, 16});
  AddRaw(m, "w1", TensorProto::FLOAT, {8, 3, 3, 3}, Weights(8 * 3 * 9));
  AddRaw(m, "w2", TensorProto::FLOAT, {8, 8, 1, 1}, Weights(64));
  AddRaw(m, "w3", TensorProto::FLOAT, {5, 8, 1, 1}, Weights(40));
  AddOp(m, "Conv", {"data", "w1"}, {"c1"}, "conv1");
  AddOp(m, "Relu", {"c1"}, {"r1"}, "relu1");
  AddOp(m, "Conv", {"r1", "w2"}, {"c2"}, "conv2");
  AddOp(m, "Add", {"c2", "r1"}, {"a1"}, "add1");
  AddOp(m, "GlobalAveragePool", {"a1"}, {"g1"}, "pool1");
  AddOp(m, "Conv", {"g1", "w3"}, {"c3"}, "conv3");
  AddOp(m, "Flatten", {"c3"}, {"e1"}, "flatten1");
  AddOp(m, "Softmax", {"e1"}, {"probabilities"}, "softmax1");
  AddOutput(m, "probabilities");
  return m;
}

// The same for any number of pictures of any size: data Nx3x?x? -> probabilities Nx5
inline ModelProto OpenConvNet() {
  ModelProto m = ConvNet();
  auto* shape = m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("N");
  for (const int axis : {2, 3}) shape->mutable_dim(axis)->clear_dim_value();
  return m;
}

// data 1x3x16x16 -> convolutions of 7, 9 and 16 channels (the last of 9 more behind a Relu), joined -> Conv
// -> y 1x5x16x16; the joined value is an output, too.
inline ModelProto ConcatNet() {
  ModelProto m = EmptyModel();
  AddInput(m, "data", {1, 3, 16, 16});
  AddRaw(m, "w7", TensorProto::FLOAT, {7, 3, 1, 1}, Weights(7 * 3));
  AddRaw(m, "w9", TensorProto::FLOAT, {9, 3, 1, 1}, Weights(9 * 3));
  AddRaw(m, "w16", TensorProto::FLOAT, {16, 9, 1, 1}, Weights(16 * 9));
  AddRaw(m, "w32", TensorProto::FLOAT, {5, 32, 1, 1}, Weights(5 * 32));
  AddOp(m, "Conv", {"data", "w9"}, {"c0"}, "conv0");
  AddOp(m, "Relu", {"c0"}, {"r0"}, "relu0");
  AddOp(m, "Conv", {"r0", "w16"}, {"c16"}, "conv16");
  AddOp(m, "Conv", {"data", "w7"}, {"c7"}, "conv7");
  AddOp(m, "Conv", {"data", "w9"}, {"c9"}, "conv9");
  AddInt(AddOp(m, "Concat", {"c7", "c9", "c16"}, {"joined"}, "concat1"), "axis", 1);
  AddOp(m, "Conv", {"joined", "w32"}, {"y"}, "conv32");
  AddOutput(m, "y");
  AddOutput(m, "joined");
  return m;
}

enum class WideOutput { kFloat, kQuantized };

// data 1x32x56x56 -> Conv 3x3 [-> QuantizeLinear, DequantizeLinear] -> y. A Winograd kernel computes this
// convolution faster.
inline Model WideNet(WideOutput output) {
  const bool quantized = output == WideOutput::kQuantized;
  ModelProto m = EmptyModel();
  AddInput(m, "data", {1, 32, 56, 56});
  AddRaw(m, "w", TensorProto::FLOAT, {32, 32, 3, 3}, Weights(32 * 32 * 9));
  AddRaw(m, "s", TensorProto::FLOAT, {}, RawOf<float>({0.5f}));
  AddRaw(m, "z", TensorProto::UINT8, {}, std::string(1, '\0'));
  AddOp(m, "Conv", {"data", "w"}, {quantized ? "c" : "y"}, "conv");
  if (quantized) {
    AddOp(m, "QuantizeLinear", {"c", "s", "z"}, {"q"});
    AddOp(m, "DequantizeLinear", {"q", "s", "z"}, {"y"});
  }
  AddOutput(m, "y");
  const ModelFile file(m);
  return Model::Load(file.path());
}

// data Nx32x?x? -> the same Conv -> y, loaded for 1x32x56x56
inline Model OpenWideNet() {
  ModelProto m = EmptyModel();
  AddInput(m, "data", {1, 32, 56, 56});
  auto* shape = m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const int axis : {0, 2, 3}) shape->mutable_dim(axis)->clear_dim_value();
  AddRaw(m, "w", TensorProto::FLOAT, {32, 32, 3, 3}, Weights(32 * 32 * 9));
  AddOp(m, "Conv", {"data", "w"}, {"y"}, "conv");
  AddOutput(m, "y");
  const ModelFile file(m);
  return Model::Load(file.path(), {.input_shapes = {{"data", {1, 32, 56, 56}}}});
}

// data 4 -> NonZero -> indices 1x?: a shape that only the data decides
inline ModelProto NonZeroNet() {
  ModelProto m = EmptyModel();
  AddInput(m, "data", {4});
  AddOp(m, "NonZero", {"data"}, {"indices"}, "nonzero1");
  AddOutput(m, "indices");
  return m;
}

inline Tensor Ramp(const Shape& shape, float step) {
  std::vector<float> values(size_t(shape.Elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(int(i % 97) - 48) * step;
  return Tensor::Floats(shape, values);
}

inline std::vector<float> Values(const Tensor& t) { return {t.as<float>(), t.as<float>() + t.elements()}; }

// Returns the message of the Error that `f` throws; empty if it throws none.
template <class F>
std::string MessageOf(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace mete
