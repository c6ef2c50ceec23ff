#include "zoo/zoo.h"

#include <gtest/gtest.h>

#define ONNX_ML 1  // the variant of the schema that onnx_pb.h includes
#include <onnx/onnx_pb.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "mete/error.h"

namespace mete {
namespace {

std::string TemporaryPath(const std::string& name) {
  return testing::TempDir() + "/mete_zoo_" + name + ".onnx";
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string Make(const std::string& name, uint64_t seed) {
  const std::string path = TemporaryPath(name);
  ZooMake(name, path, seed);
  const std::string bytes = ReadFile(path);
  std::filesystem::remove(path);
  return bytes;
}

// Millions of parameters, from the papers, or from torchvision's and timm's documentation and the public
// repositories of the networks if the paper rounds. Those of Conformer and of Llama are sums over their
// layers, because here they have another number of layers or heads than in the literature.
const std::map<std::string, double> kMillions = {
    {"alexnet", 60.97},
    {"nin", 7.6},
    {"squeezenet1.0", 1.248},
    {"squeezenet1.1", 1.235},
    {"vgg16", 138.36},
    {"vgg19", 143.67},
    {"googlenet", 6.998},
    {"resnet18", 11.69},
    {"resnet50", 25.56},
    {"mobilenet_v1", 4.23},
    {"mobilenet_v2", 3.505},
    {"mobilenet_v3_large", 5.483},
    {"shufflenet_v2", 2.279},
    {"efficientnet_b0", 5.289},
    {"inception_v3", 23.83},
    {"yolov2", 50.98},
    {"tiny_yolov2", 15.87},  // a sum over the layers of Darknet's yolov2-tiny-voc.cfg
    {"posenet_mobilenet", 3.3},
    {"vit_ti16", 5.717},
    {"bert6", 22.7},
    {"char_rnn", 3.49},
    {"resnet56", 0.856},
    {"densenet121", 7.979},
    {"mobilenet_v4_small", 3.774},
    {"shufflenet_v1", 1.866},
    {"inception_v2", 11.295},
    {"mobilenet_ssd", 5.78},
    {"yolov5n", 1.872},
    {"yolox_nano", 0.913},
    {"nanodet", 1.198},  // the repository says 1.17, which is the number without batch normalisation
    {"deeplab_v3", 5.11},
    {"unet", 7.763},
    {"convnext_tiny", 28.59},
    {"mobilevit_s", 5.579},
    {"conformer4", 2.564},
    {"llama8", 55.9},
};

TEST(Zoo, ParameterCountsAreThoseOfTheLiterature) {
  ASSERT_EQ(ZooList().size(), kMillions.size());
  for (const ZooEntry& entry : ZooList()) {
    const double expected = kMillions.at(entry.name) * 1e6;
    EXPECT_NEAR(double(ZooParameters(entry.name)), expected, 0.02 * expected) << entry.name;
  }
}

TEST(Zoo, EqualSeedsGiveEqualFilesAndOthersDoNot) {
  const std::string first = Make("squeezenet1.1", 1);
  EXPECT_EQ(first, Make("squeezenet1.1", 1));
  EXPECT_NE(first, Make("squeezenet1.1", 2));
}

// Every value is computed once and before it is read, and every name is used. Resize leaves inputs out.
TEST(Zoo, FilesAreWellFormed) {
  for (const char* name : {"squeezenet1.0", "shufflenet_v2", "mobilenet_v3_large", "vit_ti16", "char_rnn",
                           "yolox_nano", "nanodet", "unet", "conformer4", "mobilevit_s"}) {
    onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(Make(name, 3))) << name;
    std::set<std::string> known, node_names;
    for (const auto& input : model.graph().input()) known.insert(input.name());
    for (const auto& weight : model.graph().initializer())
      EXPECT_TRUE(known.insert(weight.name()).second) << name << " " << weight.name();
    for (const auto& node : model.graph().node()) {
      EXPECT_TRUE(node_names.insert(node.name()).second) << name << " " << node.name();
      for (const auto& input : node.input())
        EXPECT_TRUE(input.empty() || known.count(input)) << name << " " << node.name() << " " << input;
      for (const auto& output : node.output())
        EXPECT_TRUE(known.insert(output).second) << name << " " << output;
    }
    for (const auto& output : model.graph().output())
      EXPECT_TRUE(known.count(output.name())) << name << " " << output.name();
  }
}

TEST(Zoo, WeightsFollowHesRule) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(Make("squeezenet1.1", 5)));
  // the squeeze of fire 2: 16 x 64 x 1 x 1, after Relu and MaxPool
  const onnx::TensorProto& weight = model.graph().initializer(2);
  const std::string& raw = weight.raw_data();
  std::vector<float> values(raw.size() / sizeof(float));
  std::memcpy(values.data(), raw.data(), raw.size());
  double sum = 0, squares = 0;
  for (const float v : values) {
    sum += v;
    squares += double(v) * v;
  }
  const double n = double(values.size());
  EXPECT_NEAR(sum / n, 0, 0.02);
  EXPECT_NEAR(squares / n, 1.0 / 64, 0.2 / 64);
}

TEST(Zoo, UnknownNameListsTheKnownOnes) {
  try {
    ZooMake("resnet51", TemporaryPath("bad"), 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotFound);
    EXPECT_NE(std::string(error.what()).find("resnet50"), std::string::npos) << error.what();
  }
}

TEST(Zoo, UnwritablePathIsAnErrorAndLeavesNothing) {
  try {
    ZooMake("squeezenet1.1", "/no-such-folder/net.onnx", 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kUnavailable);
    EXPECT_NE(std::string(error.what()).find("/no-such-folder/net.onnx"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos) << error.what();
  }
  const std::string folder = testing::TempDir() + "/mete_zoo_folder.onnx";
  std::filesystem::create_directory(folder);
  EXPECT_THROW(ZooMake("squeezenet1.1", folder, 1), Error);
  for (const auto& entry : std::filesystem::directory_iterator(testing::TempDir())) {
    EXPECT_EQ(entry.path().string().find("mete_zoo_folder.onnx.tmp"), std::string::npos) << entry.path();
  }
  std::filesystem::remove(folder);
}

}  // namespace
}  // namespace mete
