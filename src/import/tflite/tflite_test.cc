// What the front end reads of a file: names, shapes, scales, orders of dimensions; and what it refuses.
#include "import/tflite/tflite.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"
#include "import/tflite/models_testing.h"

namespace mete {
namespace {

using Model = TfliteModel;
using Code = Model::Code;
using Type = Model::Type;
using Kind = Model::Kind;

std::vector<std::string> OperatorsOf(const Graph& graph) {
  std::vector<std::string> operators;
  for (const Node& node : graph.nodes) operators.push_back(node.op);
  return operators;
}

int CountOf(const Graph& graph, const std::string& op) {
  const auto all = OperatorsOf(graph);
  return int(std::count(all.begin(), all.end(), op));
}

// Two convolutions with a Relu6, a sum of both, and the mean.
std::string ResidualNet() {
  Model m;
  const int x = m.Input({1, 6, 5, 4});
  const int a = m.Conv(x, m.Floats({4, 3, 3, 4}, Made(144)), m.Floats({4}, Made(4)));
  const int b = m.Conv(m.Op(Code::RELU6, {a}), m.Floats({4, 1, 1, 4}, Made(16)), m.Floats({4}, Made(4)));
  const int sum = m.Op(Code::ADD, {a, b}, Kind::AddOptions, tflite::CreateAddOptions(m.builder));
  m.outputs = {m.Op(Code::MEAN, {sum, m.Ints({1, 2})})};
  return m.Finish();
}

TEST(Tflite, KeepsNamesTypesAndShapesOfTheFile) {
  const Imported net = ImportBytes(ResidualNet());
  const Graph& g = net.graph;
  EXPECT_EQ(g.name, "net");
  EXPECT_EQ(net.metadata.at("description"), "a model of a test");
  EXPECT_EQ(net.file.format, "TensorFlow Lite");
  EXPECT_EQ(net.file.description, "a model of a test");
  ASSERT_EQ(g.inputs.size(), 1u);
  EXPECT_EQ(Describe(g.value(g.inputs[0])), "f32 1x6x5x4");
  EXPECT_EQ(g.value(g.inputs[0]).name, "t0");
  EXPECT_EQ(Describe(g.value(g.outputs[0])), "f32 1x4");
}

TEST(Tflite, TransposesOnlyAtTheEndsOfImages) {
  const Graph g = ImportBytes(ResidualNet()).graph;
  // one for the input, and one for the weights of each convolution, which are constant
  EXPECT_EQ(CountOf(g, "Transpose"), 3);
  Graph optimized = g;
  RunPasses(optimized, {});
  EXPECT_EQ(CountOf(optimized, "Transpose"), 0) << ToText(optimized);
}

TEST(Tflite, GivesAnImageInTheOrderOfTheFile) {
  Model m;
  const int x = m.Input({1, 2, 3, 2});
  m.outputs = {m.Conv(x, m.Floats({2, 1, 1, 2}, {0, 1, 2, 0}), m.Floats({2}, {10, 20}))};
  const std::vector<float> pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const Tensor y = RunBytes(m.Finish(), {Tensor::Floats({1, 2, 3, 2}, pixels)})[0];
  EXPECT_EQ(y.shape(), (Shape{1, 2, 3, 2}));
  EXPECT_EQ(ElementsOf<float>(y), (std::vector<float>{12, 22, 14, 26, 16, 30, 18, 34, 20, 38, 22, 42}));
}

TEST(Tflite, BatchAndShapesAreTheCallers) {
  Model m;
  const int x = m.Input({1, 4, 3});
  m.outputs = {m.Op(Code::RESHAPE, {x, m.Ints({1, 12})})};
  const std::string bytes = m.Finish();
  ImportOptions options;
  options.batch = 3;
  const Graph batch = ImportBytes(bytes, options).graph;
  EXPECT_EQ(Describe(batch.value(batch.outputs[0])), "f32 3x12");
  options = {};
  options.input_shapes["t0"] = Shape{1, 2, 6};
  const Graph shaped = ImportBytes(bytes, options).graph;
  EXPECT_EQ(Describe(shaped.value(shaped.inputs[0])), "f32 1x2x6");
  options.input_shapes = {{"t1", Shape{1, 4, 3}}};
  EXPECT_TELLS(ImportBytes(bytes, options),
               "a shape is given for 't1', which is no input; expected one of 't0'");
}

// x and y have a scale of 0.5, the weights 0.25, so that a bias has 0.125.
std::string BytesNet(Type type, int64_t zero, const std::vector<int64_t>& weight_zero) {
  Model m;
  const Scale scale{{0.5f}, {zero}};
  const int x = m.Input({1, 2, 2, 1}, type, scale);
  const int padded = m.Op(Code::PAD, {x, m.Constant<int32_t>({4, 2}, {0, 0, 0, 1, 1, 0, 0, 0}, Type::INT32)},
                          Kind::NONE, flatbuffers::Offset<void>(), {m.Value({}, type, scale)});
  const int w = m.Constant<int8_t>({2, 1, 1, 1}, {2, -4}, type, {{0.25f}, weight_zero});
  m.outputs = {m.Conv(padded, w, m.Constant<int32_t>({2}, {8, -8}, Type::INT32), tflite::Padding::VALID,
                      {m.Value({}, type, scale)})};
  return m.Finish();
}

TEST(Tflite, BytesStandForNumbersBetweenOperators) {
  const std::string bytes = BytesNet(Type::INT8, -3, {0});
  const Tensor y =
      RunBytes(bytes, {Tensor::Of<int8_t>(DType::kI8, {1, 2, 2, 1}, std::vector<int8_t>{-3, -1, 1, 5})})[0];
  // Numbers 0 1 2 4 with a border of 0, times 0.5 plus 1 and times -1 minus 1, in steps of 0.5 from -3.
  EXPECT_EQ(ElementsOf<int8_t>(y),
            (std::vector<int8_t>{-1, -5, -1, -5, 0, -7, -1, -5, 1, -9, 3, -13, -1, -5, -1, -5, -1, -5}));
}

TEST(Tflite, PortsSayWhatTheirIntegersStandFor) {
  const Imported net = ImportBytes(BytesNet(Type::INT8, -3, {0}));
  ASSERT_EQ(net.scales.size(), 2u);
  for (const ValueId id : {net.graph.inputs[0], net.graph.outputs[0]}) {
    const PortScale& scale = net.scales.at(net.graph.value(id).name);
    EXPECT_EQ(scale.scale, 0.5f);
    EXPECT_EQ(scale.zero_point, -3);
  }
  EXPECT_TRUE(ImportBytes(ResidualNet()).scales.empty());
}

// Known integers are computed while the model is read, with what the operator does behind them.
TEST(Tflite, KnownIntegersKeepTheirActivation) {
  Model m;
  const int x = m.Input({1, 2});
  const int sum =
      m.Op(Code::ADD, {m.Ints({-3, 4}), m.Ints({1, 1})}, Kind::AddOptions,
           tflite::CreateAddOptions(m.builder, tflite::Activation::RELU), {m.Value({2}, Type::INT32)});
  m.outputs = {sum, m.Op(Code::RELU, {x})};
  const auto outputs = RunBytes(m.Finish(), {Tensor::Floats({1, 2}, std::vector<float>{1, -1})});
  EXPECT_EQ(ElementsOf<int32_t>(outputs[0]), (std::vector<int32_t>{0, 5}));
}

TEST(Tflite, BytesStayBytesInThePasses) {
  Graph g = ImportBytes(BytesNet(Type::INT8, -3, {0})).graph;
  RunPasses(g, {});
  EXPECT_EQ(CountOf(g, "QLinearConv"), 1);
  EXPECT_EQ(CountOf(g, "DequantizeLinear"), 0) << ToText(g);
  EXPECT_EQ(CountOf(g, "Pad"), 0) << "the convolution pads by itself";
}

// A dilated convolution as older converters write it: padding that makes whole blocks, blocks that go into
// the batch and back, and crops.
std::string DilatedNet(Type type, const Scale& scale) {
  Model m;
  const auto value = [&] { return std::vector<int>{m.Value({}, type, scale)}; };
  const auto pairs = [&](const std::vector<int32_t>& values) {
    return m.Constant<int32_t>({2, 2}, values, Type::INT32);
  };
  const int x = m.Input({1, 9, 8, 4}, type, scale);
  const int blocks = m.Op(Code::SPACE_TO_BATCH_ND, {x, m.Ints({2, 3}), pairs({2, 3, 3, 4})}, Kind::NONE,
                          flatbuffers::Offset<void>(), value());
  const std::vector<int8_t> bytes(36, 3);
  const int w = type == Type::FLOAT32 ? m.Floats({1, 3, 3, 4}, Made(36))
                                      : m.Constant({1, 3, 3, 4}, bytes, type, {{0.25f}, {0}});
  const int bias = type == Type::FLOAT32 ? m.Floats({4}, Made(4)) : m.Ints({8, -8, 0, 100});
  const int y = m.Op(Code::DEPTHWISE_CONV_2D, {blocks, w, bias}, Kind::DepthwiseConv2DOptions,
                     tflite::CreateDepthwiseConv2DOptions(m.builder, tflite::Padding::VALID, 1, 1), value());
  m.outputs = {m.Op(Code::BATCH_TO_SPACE_ND, {y, m.Ints({2, 3}), pairs({0, 1, 0, 1})}, Kind::NONE,
                    flatbuffers::Offset<void>(), value())};
  return m.Finish();
}

TEST(Tflite, BlocksInTheBatchBecomeADilation) {
  for (const auto& [type, scale] : {std::pair{Type::FLOAT32, Scale{}}, {Type::INT8, Scale{{0.5f}, {-3}}}}) {
    Graph g = ImportBytes(DilatedNet(type, scale)).graph;
    EXPECT_EQ(Describe(g.value(g.outputs[0])), type == Type::FLOAT32 ? "f32 1x9x8x4" : "i8 1x9x8x4");
    RunPasses(g, {});
    EXPECT_EQ(OperatorsOf(g), (std::vector<std::string>{type == Type::FLOAT32 ? "Conv" : "QLinearConv"}))
        << ToText(g);
    EXPECT_EQ(g.nodes[0].attributes.IntList("dilations"), (Ints{2, 3}));
    EXPECT_EQ(g.nodes[0].attributes.IntList("pads"), (Ints{2, 3, 2, 3}));
  }
}

TEST(Tflite, BlocksMustFitTheImage) {
  const auto net = [](Code code, const std::vector<int>& shape, const std::vector<int32_t>& blocks,
                      const std::vector<int32_t>& borders) {
    Model m;
    const int x = m.Input(shape);
    m.outputs = {m.Op(
        code, {x, m.Ints(blocks), m.Constant<int32_t>({int(borders.size()) / 2, 2}, borders, Type::INT32)})};
    return m.Finish();
  };
  EXPECT_TELLS(ImportBytes(net(Code::SPACE_TO_BATCH_ND, {1, 5, 4, 1}, {2, 2}, {0, 0, 0, 0})),
               "blocks do not divide the image; got 5 pixels for blocks of 2");
  EXPECT_TELLS(ImportBytes(net(Code::SPACE_TO_BATCH_ND, {1, 4, 4, 1}, {2, 0}, {0, 0, 0, 0})),
               "a block is out of range; got 0, expected 1 to 32768");
  EXPECT_TELLS(ImportBytes(net(Code::SPACE_TO_BATCH_ND, {1, 4, 4, 1}, {2, 2}, {0, 0})),
               "SPACE_TO_BATCH_ND needs 1 to 3 sizes of blocks, and two numbers of paddings for each");
  EXPECT_TELLS(ImportBytes(net(Code::BATCH_TO_SPACE_ND, {3, 4, 4, 1}, {2, 2}, {0, 0, 0, 0})),
               "blocks do not divide the batch; got 3 images for 4");
  EXPECT_TELLS(ImportBytes(net(Code::BATCH_TO_SPACE_ND, {4, 2, 2, 1}, {2, 2}, {3, 2, 0, 0})),
               "the crops are larger than the image; got 3 and 2 of 4");
}

TEST(Tflite, WeightsMayHaveFourBits) {
  Model m;
  const int x = m.Input({1, 3});
  // -8, 7, 1 and 3, -1, 0: the first of two is in the lower half of a byte.
  const int w = m.Constant<uint8_t>({2, 3}, {0x78, 0x31, 0x0f}, Type::INT4, {{0.5f, 0.25f}, {0, 0}, 0});
  m.outputs = {m.Op(Code::FULLY_CONNECTED, {x, w}, Kind::FullyConnectedOptions,
                    tflite::CreateFullyConnectedOptions(m.builder))};
  const Tensor y = RunBytes(m.Finish(), {Tensor::Floats({1, 3}, std::vector<float>{1, 2, 4})})[0];
  EXPECT_EQ(ElementsOf<float>(y), (std::vector<float>{0.5f * (-8 + 14 + 4), 0.25f * (3 - 2)}));
  Model short_of_bytes;
  const int other = short_of_bytes.Constant<uint8_t>({2, 3}, {0x78, 0x31}, Type::INT4);
  short_of_bytes.outputs = {short_of_bytes.Op(Code::RELU, {other})};
  EXPECT_TELLS(ImportBytes(short_of_bytes.Finish()),
               "the tensor's data does not fit its shape; got 2 bytes, expected 3");
}

TEST(Tflite, TellsAllUnsupportedOperatorsWithCounts) {
  Model m;
  const int x = m.Input({2, 3});
  const int a = m.Op(Code::SVDF, {m.Op(Code::SVDF, {x})});
  const int b = m.Op(Code::CALL_ONCE, {x});
  m.outputs = {m.Op(Code::ADD, {a, b}, Kind::AddOptions, tflite::CreateAddOptions(m.builder))};
  const std::string bytes = m.Finish();
  EXPECT_TELLS(ImportBytes(bytes),
               "unsupported operator SVDF: Mete does not have it (2 times, first at 't1')");
  EXPECT_TELLS(ImportBytes(bytes),
               "unsupported operator CALL_ONCE: Mete does not have it (1 time, first at 't3')");
}

TEST(Tflite, RefusesOtherFiles) {
  EXPECT_TELLS(ImportBytes(""), "the file is empty");
  EXPECT_TELLS(ImportBytes("\x89PNG and some more bytes"), "got PNG, expected a .tflite");
  Model m;
  m.version = 2;
  m.outputs = {m.Input({1})};
  EXPECT_TELLS(ImportBytes(m.Finish()), "the format's version is 2; expected 3");
}

TEST(Tflite, EveryTruncationIsAnError) {
  const std::string bytes = ResidualNet();
  for (size_t n = 0; n < bytes.size(); n += 3) {
    const std::string part = bytes.substr(0, n);
    EXPECT_THROW(ImportBytes(part), Error) << n;
  }
}

TEST(Tflite, ChecksReferencesAndData) {
  const auto with = [](auto change) {
    Model m;
    const int x = m.Input({1, 2, 2, 1});
    change(m, x);
    return m.Finish();
  };
  const auto tells = [&](auto change, const char* text) { EXPECT_TELLS(ImportBytes(with(change)), text); };
  tells([](Model& m, int x) { m.outputs = {m.Op(Code::RELU, {x + 70})}; },
        "there is no tensor 70; expected -1 to 1");
  tells([](Model& m, int) { m.outputs = {-1}; }, "there is no tensor -1; expected 0 to 0");
  tells([](Model& m, int) { m.outputs = {m.Value({2})}; }, "no data, and no earlier operator makes it");
  tells([](Model& m, int x) { m.outputs = {x, x}; }, "two outputs are this tensor");
  tells([](Model& m, int) { m.outputs = {m.Value({1}, Type::FLOAT32, {}, 9)}; }, "there is no buffer 9");
  tells([](Model& m, int) { m.outputs = {m.Floats({3}, {1, 2})}; }, "got 8 bytes, expected 12 (f32 3)");
  tells([](Model& m, int) { m.outputs = {m.Value({1, -2})}; }, "impossible dimensions; got 1x-2");
  tells([](Model& m, int) { m.outputs = {m.Value({1 << 30, 1 << 30})}; }, "impossible dimensions");
  tells(
      [](Model& m, int) {
        m.outputs = {m.Value({1}, Type::INT8, {{0}, {0}})};
      },
      "a scale must be a positive number");
  tells([](Model& m, int) { m.outputs = {m.Value({1}, Type::INT8, {{1}, {128}})}; }, "expected -128 to 127");
  tells(
      [](Model& m, int) {
        m.outputs = {m.Value({3}, Type::INT8, {{1, 1}, {0, 0}})};
      },
      "scales do not fit its shape");
  tells([](Model& m, int) { m.outputs = {m.Op(Code::RELU, {m.Input({1}, Type::STRING)})}; },
        "its type is STRING");
  tells(
      [](Model& m, int x) {
        m.outputs = {m.Op(Code::CONV_2D, {x, x, x})};
      },
      "CONV_2D has no options of its kind");
  tells([](Model& m, int x) { m.outputs = {m.Op(Code::ADD, {x})}; },
        "wrong number of inputs; got 1, expected 2 to 2");
  tells(
      [](Model& m, int x) {
        m.outputs = {
            m.Op(Code::RELU, {x}, Kind::NONE, flatbuffers::Offset<void>(), {m.Value({}, Type::INT32)})};
      },
      "makes another type than the file says; got f32, expected i32");
}

TEST(Tflite, ListsOfSizesMayBeEmpty) {
  Model m;
  const int sum = m.Value({}, Type::INT32);
  m.Op(Code::ADD, {m.Ints({}), m.Ints({1})}, Kind::AddOptions, tflite::CreateAddOptions(m.builder), {sum});
  m.outputs = {sum};
  const Graph g = ImportBytes(m.Finish()).graph;
  EXPECT_EQ(Describe(g.value(g.outputs[0])), "i32 0");
}

TEST(Tflite, PartsThatLieOnEachOtherAreRefused) {
  // 4000 tensors are one table with a long name.
  flatbuffers::FlatBufferBuilder b;
  const std::string name(2000, 'n');
  const std::vector<int> shape = {1}, none;
  const auto tensor = tflite::CreateTensorDirect(b, &shape, Type::FLOAT32, 0, name.c_str());
  const std::vector<flatbuffers::Offset<tflite::Tensor>> tensors(4000, tensor);
  const std::vector<flatbuffers::Offset<tflite::SubGraph>> graphs = {
      tflite::CreateSubGraphDirect(b, &tensors, &none, &none)};
  b.Finish(tflite::CreateModelDirect(b, 3, nullptr, &graphs), tflite::ModelIdentifier());
  const std::string bytes(reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize());
  EXPECT_TELLS(ImportBytes(bytes), "parts of the file lie on top of each other");
}

}  // namespace
}  // namespace mete
