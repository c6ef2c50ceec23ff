// Files for Model::Load() that are damaged, missing, or of another format than their name says.
#include <random>

#include "bad_input.h"

namespace mete {
namespace {

// Because of Reshape and ConstantOfShape, damage reaches the constant folding.
std::string SoundModel() {
  ModelProto m = EmptyModel();
  AddInput(m, "x", {1, 2, 4, 4});
  AddRaw(m, "w", TensorProto::FLOAT, {2, 2, 3, 3}, RawOf(std::vector<float>(36, 0.5f)));
  AddRaw(m, "dims", TensorProto::INT64, {2}, RawOf<int64_t>({1, 8}));
  AddInts(AddOp(m, "Conv", {"x", "w"}, {"c"}, "conv"), "pads", {0, 0, 0, 0});
  AddOp(m, "ConstantOfShape", {"dims"}, {"zeros"}, "zeros");
  AddOp(m, "Reshape", {"c", "dims"}, {"r"}, "reshape");
  AddOp(m, "Add", {"r", "zeros"}, {"y"}, "add");
  AddOutput(m, "y");
  return m.SerializeAsString();
}

constexpr char kNet[] =
    "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 1 dim: 2 dim: 4 dim: 4 } } } "
    "layer { name: 'fc' type: 'InnerProduct' bottom: 'x' top: 'y' inner_product_param { num_output: 1 "
    "bias_term: false } }";

// Returns a .caffemodel with one layer that has one blob of 1 x `columns`.
std::string Weights(const std::string& layer, uint8_t columns) {
  auto field = [](std::string key, const std::string& content) {
    const unsigned n = unsigned(content.size());
    return key + char(n % 128 | 128) + char(n / 128) + content;
  };
  const std::string blob = field("\x3a", field("\x0a", {1, char(columns)})) +
                           field("\x2a", RawOf(std::vector<float>(columns, 1.0f)));
  return field("\xa2\x06", field("\x0a", layer) + field("\x3a", blob));
}

TEST_F(BadInput, TheSoundFilesLoad) {
  EXPECT_EQ(LoadError(Write("m.onnx", SoundModel())), "");
  Write("net.caffemodel", Weights("fc", 32));
  EXPECT_EQ(LoadError(Write("net.prototxt", kNet)), "");
}

TEST_F(BadInput, AMissingFileIsNotFound) {
  EXPECT_TRUE(StartsWith(LoadError((folder_ / "none.onnx").string()),
                         "NOT_FOUND: [" + (folder_ / "none.onnx").string() + "]"));
  EXPECT_TRUE(StartsWith(LoadError((folder_ / "none.prototxt").string()),
                         "NOT_FOUND: [" + (folder_ / "none.prototxt").string() + "]"));
  EXPECT_NE(LoadError(folder_.string()), "");  // a folder
}

TEST_F(BadInput, AnEmptyFileSaysSo) {
  EXPECT_TRUE(Contains(LoadError(Write("m.onnx", "")), "DATA_LOSS: [m.onnx] the file is empty"));
  Write("net.caffemodel", "");
  EXPECT_TRUE(StartsWith(LoadError(Write("net.prototxt", "")), "DATA_LOSS: "));
  EXPECT_NE(LoadError(Write("net.prototxt", kNet)), "");
}

TEST_F(BadInput, EveryTruncationIsAnError) {
  const std::string model = SoundModel(), weights = Weights("fc", 32);
  for (size_t n = 0; n < model.size(); n += 3)
    EXPECT_NE(LoadError(Write("m.onnx", model.substr(0, n))), "") << n;
  const std::string net = Write("net.prototxt", kNet);
  for (size_t n = 0; n < weights.size(); n += 3) {
    Write("net.caffemodel", weights.substr(0, n));
    EXPECT_NE(LoadError(net), "") << n;
  }
  Write("net.caffemodel", weights);
  const std::string text = kNet;
  for (size_t n = text.size() / 2; n + 1 < text.size(); n += 3)
    EXPECT_NE(LoadError(Write("net.prototxt", text.substr(0, n))), "") << n;
}

TEST_F(BadInput, RandomBytesAreErrors) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 100; ++i) {
    std::string bytes(16 + random() % 200, 0);
    for (char& c : bytes) c = char(random());
    EXPECT_NE(LoadError(Write("m.onnx", bytes)), "");
    EXPECT_NE(LoadError(Write("net.prototxt", bytes)), "");
    Write("other.caffemodel", bytes);
    EXPECT_NE(LoadError(Write("other.prototxt", kNet)), "");
  }
}

// A file with a flipped bit must give an Error, or, if it is still valid (another weight), load.
TEST_F(BadInput, FlippedBitsGiveAnErrorOrAModel) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  check_form_ = false;  // a line break in a value's name breaks the form
  const std::string sound[] = {SoundModel(), kNet, Weights("fc", 32)};
  for (int i = 0; i < 400; ++i) {
    std::string files[] = {sound[0], sound[1], sound[2]};
    for (std::string& f : files) f[random() % f.size()] ^= char(1 << random() % 8);
    LoadError(Write("m.onnx", files[0]));
    Write("net.caffemodel", files[2]);
    LoadError(Write("net.prototxt", i % 2 ? files[1] : sound[1]));
  }
}

TEST_F(BadInput, AWebPageIsNamedForWhatItIs) {
  const std::string page = "<!DOCTYPE html>\n<html><body>404</body></html>\n";
  EXPECT_TRUE(Contains(LoadError(Write("net.prototxt", page)),
                       "net.prototxt] this is a web page; got '<!DOCTYPE html>', expected a Caffe net"));
  EXPECT_TRUE(StartsWith(LoadError(Write("m.onnx", page)), "DATA_LOSS: "));
  Write("net.caffemodel", page);
  EXPECT_TRUE(Contains(LoadError(Write("net.prototxt", kNet)), "web page"));
}

TEST_F(BadInput, ACaffeNetAndWeightsThatDisagree) {
  const std::string net = Write("net.prototxt", kNet);
  Write("net.caffemodel", Weights("fc", 31));
  EXPECT_TRUE(
      Contains(LoadError(net), "[fc] the .caffemodel's weight does not fit; got 1x31, expected 1x32"));
  Write("net.caffemodel", Weights("other", 32));
  EXPECT_TRUE(Contains(LoadError(net), "[fc] the .caffemodel has no layer of this name"));
  LoadOptions options;
  options.weights = (folder_ / "none.caffemodel").string();
  EXPECT_TRUE(StartsWith(LoadError(net, options), "NOT_FOUND: "));
}

}  // namespace
}  // namespace mete
