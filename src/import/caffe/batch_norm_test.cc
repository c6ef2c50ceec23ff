// BatchNorm of Caffe and of NVIDIA's fork, and the two layers that are named BN.
#include <gtest/gtest.h>

#include <array>

#include "import/caffe/caffe_testing.h"

namespace mete {
namespace {

using Blobs = std::vector<std::vector<int64_t>>;

// The constant's values that a node of the graph reads.
std::vector<float> ValuesOf(const Graph& g, const Node& n, size_t input) {
  const Tensor& t = g.value(n.inputs.at(input)).constant;
  return {t.as<float>(), t.as<float>() + t.elements()};
}

// The blobs of a file have the values 0.5, 1.5, ...; each in turn is multiplied by its number from 1 on, so
// that they differ.
std::string DifferentBlobs(const Blobs& blobs) {
  caffe::Weights w;
  w.ParseFromString(Model("l", blobs));
  auto& made = *w.mutable_layer(0)->mutable_blobs();
  for (int b = 0; b < made.size(); ++b)
    for (float& v : *made.Mutable(b)->mutable_data()) v *= float(b + 1);
  return w.SerializeAsString();
}

TEST(CaffeBatchNorm, OfNvidiasForkHasAFactorAndASummandBehindItsAverages) {
  const std::string weights = DifferentBlobs({{4}, {4}, {1}, {4}, {4}});
  for (const char* parameters : {"scale_bias: true", "scale_filler { value: 1 }",
                                 "bias_filler { value: 0 } engine: CUDNN moving_average_fraction: 0.9"}) {
    SCOPED_TRACE(parameters);
    const Graph g =
        Import(Single("BatchNorm", std::string("batch_norm_param { ") + parameters + " }"), weights).graph;
    EXPECT_EQ(Summary(g), "BatchNormalization -> y 2x4x6x5");
    const Node& n = g.nodes.at(0);
    EXPECT_EQ(ValuesOf(g, n, 1), (std::vector<float>{2, 6, 10, 14}));              // blob 3 times 4
    EXPECT_EQ(ValuesOf(g, n, 2), (std::vector<float>{2.5f, 7.5f, 12.5f, 17.5f}));  // blob 4 times 5
    // The count of steps is 3 * 0.5.
    EXPECT_FLOAT_EQ(ValuesOf(g, n, 3)[0], 0.5f / 1.5f);
    EXPECT_FLOAT_EQ(ValuesOf(g, n, 4)[3], 2 * 3.5f / 1.5f);
  }
}

// NVIDIA's layer raises an eps below 1e-5, and Caffe's takes it as it is.
TEST(CaffeBatchNorm, EpsHasALeastValueInNvidiasFork) {
  const auto eps = [](const std::string& parameters, const Blobs& blobs) {
    const Graph g =
        Import(Single("BatchNorm", "batch_norm_param { " + parameters + " }"), Model("l", blobs)).graph;
    return g.nodes.at(0).attributes.Float("epsilon", 0);
  };
  const Blobs three{{4}, {4}, {1}}, five{{4}, {4}, {1}, {4}, {4}};
  EXPECT_EQ(eps("eps: 1e-8", three), 1e-8f);
  EXPECT_EQ(eps("eps: 1e-8 scale_bias: true", five), 1e-5f);
  EXPECT_EQ(eps("eps: 1e-3 scale_bias: true", five), 1e-3f);
}

TEST(CaffeBatchNorm, BlobsThatTheNetDoesNotSpeakOfAreNotIgnored) {
  ExpectHas(
      MessageOf(Single("BatchNorm", ""), Model("l", {{4}, {4}, {1}, {4}, {4}}), Code::kInvalidArgument),
      "[l] the .caffemodel has more blobs for it than it reads; got 5, expected 3; try scale_bias: true");
  ExpectHas(MessageOf(Single("BatchNorm", "batch_norm_param { scale_bias: true }"),
                      Model("l", {{4}, {4}, {1}}), Code::kInvalidArgument),
            "[l] the .caffemodel has no scale for it; got 3 blobs, expected at least 4");
}

// As in segnet_inference.prototxt.
TEST(CaffeBn, OfSegNetIsAFactorAndASummand) {
  const std::string parameters =
      "bn_param { bn_mode: INFERENCE scale_filler { type: 'constant' value: 1 } shift_filler { type: "
      "'constant' value: 0.001 } }";
  for (const Blobs& blobs : {Blobs{{1, 4, 1, 1}, {1, 4, 1, 1}}, Blobs{{4}, {4}}, Blobs{{1, 1, 1, 4}, {4}}}) {
    const Graph g = Import(Single("BN", parameters), DifferentBlobs(blobs)).graph;
    EXPECT_EQ(Summary(g), "Mul Add -> y 2x4x6x5");
    EXPECT_EQ(ValuesOf(g, g.nodes[0], 1), (std::vector<float>{0.5f, 1.5f, 2.5f, 3.5f}));
    EXPECT_EQ(ValuesOf(g, g.nodes[1], 1), (std::vector<float>{1, 3, 5, 7}));
  }
}

// As in pspnet50_ADE20K_473.prototxt.
TEST(CaffeBn, OfPspNetHasItsAveragesInBlobs) {
  const std::string weights = DifferentBlobs(Blobs(4, {1, 4, 1, 1}));
  for (const auto& [parameters, eps] : std::vector<std::pair<const char*, float>>{
           {"bn_param { slope_filler { type: 'constant' value: 1 } bias_filler { type: 'constant' value: 0 } "
            "frozen: true momentum: 0.95 }",
            1e-5f},
           {"bn_param { eps: 0.25 engine: CUDNN }", 0.25f},
           {"", 1e-5f}}) {
    const Graph g = Import(Single("BN", parameters), weights).graph;
    EXPECT_EQ(Summary(g), "BatchNormalization -> y 2x4x6x5");
    const Node& n = g.nodes.at(0);
    EXPECT_EQ(n.attributes.Float("epsilon", 0), eps);
    for (size_t blob = 0; blob < 4; ++blob)  // slope, bias, mean, variance
      EXPECT_EQ(ValuesOf(g, n, blob + 1)[1], 1.5f * float(blob + 1));
  }
}

TEST(CaffeBn, AsInTrainingIsNotSupported) {
  const std::string weights = Model("l", {{4}, {4}});
  for (const char* parameters : {"", "bn_param { bn_mode: LEARN }",
                                 "bn_param { scale_filler { value: 1 } shift_filler { value: 0 } }"})
    ExpectHas(MessageOf(Single("BN", parameters), weights, Code::kUnimplemented),
              "[l] BN over the batch itself is not supported; got bn_mode: LEARN, expected INFERENCE");
}

TEST(CaffeBn, OtherWeightsAreRefused) {
  for (const auto& [parameters, blobs, problem] : std::vector<std::tuple<const char*, Blobs, const char*>>{
           {"bn_mode: INFERENCE", Blobs(4, {4}),
            "[l] the .caffemodel has more blobs for it than it reads; got 4, expected 2"},
           {"frozen: true", Blobs(5, {4}), "got 5, expected 4"},
           {"frozen: true", Blobs(3, {4}), "[l] the .caffemodel has no variance for it; got 3 blobs"},
           {"frozen: true", Blobs(4, {5}), "the .caffemodel's slope does not fit; got 5, expected 4"},
           {"frozen: true", Blobs(4, {2, 2}), "the .caffemodel's slope does not fit; got 2x2, expected 4"}})
    ExpectHas(MessageOf(Single("BN", std::string("bn_param { ") + parameters + " }"), Model("l", blobs),
                        Code::kInvalidArgument),
              problem);
  ExpectHas(MessageOf(Single("BN", ""), "", Code::kInvalidArgument), "but there is no .caffemodel");
  ExpectHas(MessageOf(InputLayer("x", {4}) + "layer { name: 'l' type: 'BN' bottom: 'x' top: 'y' }", "",
                      Code::kInvalidArgument),
            "[l] BN needs 2 dimensions or more; got 4");
}

}  // namespace
}  // namespace mete
