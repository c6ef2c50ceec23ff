// Models that are loaded from memory.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/engine_testing.h"
#include "src/import/caffe/caffe.pb.h"

namespace mete {
namespace {

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::vector<float> RunOnce(const Model& model) {
  Session session(model, SessionOptions::Estimated());
  return Values(session.Run({Ramp(model.inputs()[0].shape, 0.02f)}).at(0));
}

TEST(MemoryModels, AnOnnxModelIsCopied) {
  const ModelProto net = ConvNet();
  const ModelFile file(net);
  std::string bytes = net.SerializeAsString();
  const Model model = Model::LoadMemory({.bytes = BytesOf(bytes), .name = "net"});
  bytes.assign(bytes.size(), '\xff');
  EXPECT_EQ(RunOnce(model), RunOnce(Model::Load(file.path())));
}

TEST(MemoryModels, BytesWithAnOwnerAreUsedWhereTheyLie) {
  ModelProto net = ConvNet();
  AddInput(net, "many", {1 << 16});
  // Small weights are copied where they are not aligned.
  AddRaw(net, "large", TensorProto::FLOAT, {1 << 16}, Weights(1 << 16));
  AddOp(net, "Add", {"many", "large"}, {"sum"});
  AddOutput(net, "sum");
  auto bytes = std::make_shared<std::string>(net.SerializeAsString());
  const std::weak_ptr<std::string> alive = bytes;
  {
    const Model model = Model::LoadMemory({.bytes = BytesOf(*bytes), .owner = bytes}, {.optimize = false});
    bytes.reset();
    EXPECT_FALSE(alive.expired());
    Session session(model, SessionOptions::Estimated());
    const std::vector<Tensor> inputs{Ramp({1, 3, 16, 16}, 0.02f), Tensor(DType::kF32, {1 << 16})};
    EXPECT_EQ(Values(session.Run(inputs).at(1)).at(1), float(37 - 50) * 0.01f);  // as Weights() has it
  }
  EXPECT_TRUE(alive.expired());
}

constexpr const char* kCaffeNet = R"(
  name: "small"
  layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 2 dim: 3 dim: 3 } } }
  layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
          convolution_param { num_output: 1 kernel_size: 1 bias_term: false } }
)";

// The weights 1 and 2 of the layer "conv".
std::string CaffeWeights() {
  caffe::Weights weights;
  caffe::LayerWeights& layer = *weights.add_layer();
  layer.set_name("conv");
  caffe::BlobProto& blob = *layer.add_blobs();
  for (const int64_t dim : {1, 2, 1, 1}) blob.mutable_shape()->add_dim(dim);
  for (const float value : {1.0f, 2.0f}) blob.add_data(value);
  return weights.SerializeAsString();
}

TEST(MemoryModels, ACaffeNetHasItsWeightsBeside) {
  const std::string weights = CaffeWeights();
  const Model model =
      Model::LoadMemory({.bytes = BytesOf(kCaffeNet), .name = "net", .weights = BytesOf(weights)});
  EXPECT_EQ(model.file().format, "Caffe");
  EXPECT_EQ(RunOnce(model).size(), 9u);
  EXPECT_NE(MessageOf([] { Model::LoadMemory({.bytes = BytesOf(kCaffeNet), .name = "net"}); }).find("conv"),
            std::string::npos);
}

TEST(MemoryModels, WhatIsNoModelIsToldByItsName) {
  EXPECT_TRUE(MessageOf([] {
                Model::LoadMemory({.bytes = {}, .name = "nothing"});
              }).starts_with("[nothing] the model has no bytes"));
  const std::string page = "<!DOCTYPE html><html></html>", half = ConvNet().SerializeAsString().substr(0, 99);
  const std::string told = MessageOf([&] { Model::LoadMemory({.bytes = BytesOf(page), .name = "page"}); });
  EXPECT_TRUE(told.starts_with("[page] ")) << told;
  EXPECT_NE(told.find("HTML"), std::string::npos) << told;
  EXPECT_TRUE(
      MessageOf([&] { Model::LoadMemory({.bytes = BytesOf(half), .name = "half"}); }).starts_with("[half] "));
  EXPECT_NE(MessageOf([&] {
              Model::LoadMemory({.bytes = BytesOf(half), .name = "half"}, {.weights = "a.caffemodel"});
            }).find("try MemoryModel::weights"),
            std::string::npos);
}

// y = x + w, where w lies in the file w.bin
ModelProto ExternalNet(const std::string& location) {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {2});
  TensorProto& w = *m.mutable_graph()->add_initializer();
  w.set_name("w");
  w.set_data_type(TensorProto::FLOAT);
  w.add_dims(2);
  w.set_data_location(TensorProto::EXTERNAL);
  auto& entry = *w.add_external_data();
  entry.set_key("location");
  entry.set_value(location);
  AddOp(m, "Add", {"x", "w"}, {"y"});
  AddOutput(m, "y");
  return m;
}

TEST(MemoryModels, ExternalDataNeedsAFolder) {
  const TempPath data(".bin");
  std::ofstream(data.str(), std::ios::binary) << RawOf<float>({1, 2});
  const std::filesystem::path path(data.str());
  const std::string bytes = ExternalNet(path.filename().string()).SerializeAsString();
  const std::string told = MessageOf([&] { Model::LoadMemory({.bytes = BytesOf(bytes), .name = "net"}); });
  EXPECT_NE(told.find("net: initializer 'w'"), std::string::npos) << told;
  EXPECT_NE(told.find("try its folder as MemoryModel::folder"), std::string::npos) << told;
  const Model model = Model::LoadMemory({.bytes = BytesOf(bytes), .folder = path.parent_path().string()});
  EXPECT_EQ(RunOnce(model).size(), 2u);
}

}  // namespace
}  // namespace mete
