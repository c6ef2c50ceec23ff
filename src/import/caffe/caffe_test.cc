#include "import/caffe/caffe.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "import/caffe/caffe_testing.h"

namespace mete {
namespace {

struct LayerCase {
  const char* type;
  const char* rest;
  std::vector<std::vector<int64_t>> blobs;
  const char* expected;
};

class CaffeLayer : public testing::TestWithParam<LayerCase> {};

TEST_P(CaffeLayer, BecomesTheseOperators) {
  const LayerCase& c = GetParam();
  SCOPED_TRACE(testing::Message() << c.type << " " << c.rest);
  EXPECT_EQ(Summary(Import(Single(c.type, c.rest), c.blobs.empty() ? "" : Model("l", c.blobs)).graph),
            c.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Linear, CaffeLayer,
    testing::Values(
        LayerCase{"Convolution",
                  "convolution_param { num_output: 6 kernel_size: 3 pad: 1 stride: 2 group: 2 }",
                  {{6, 2, 3, 3}, {6}},
                  "Conv -> y 2x6x3x3"},
        LayerCase{"Convolution",
                  "convolution_param { num_output: 3 kernel_h: 1 kernel_w: 3 pad_w: 1 stride_h: 2 stride_w: "
                  "1 bias_term: false }",
                  {{3, 4, 1, 3}},
                  "Conv -> y 2x3x3x5"},
        LayerCase{"Convolution",
                  "convolution_param { num_output: 3 kernel_size: 3 dilation: 2 }",
                  {{3, 4, 3, 3}, {1, 1, 1, 3}},
                  "Conv -> y 2x3x2x1"},
        LayerCase{
            "Deconvolution",
            "convolution_param { num_output: 4 kernel_size: 4 stride: 2 pad: 1 group: 4 bias_term: false }",
            {{4, 1, 4, 4}},
            "ConvTranspose -> y 2x4x12x10"},
        LayerCase{"InnerProduct",
                  "inner_product_param { num_output: 7 }",
                  {{7, 120}, {7}},
                  "Flatten Gemm -> y 2x7"},
        LayerCase{"InnerProduct",
                  "inner_product_param { num_output: 7 axis: -1 transpose: true bias_term: false }",
                  {{5, 7}},
                  "Reshape Gemm Reshape -> y 2x4x6x7"},
        LayerCase{
            "Pooling", "pooling_param { pool: MAX kernel_size: 3 stride: 2 }", {}, "MaxPool -> y 2x4x3x2"},
        LayerCase{"Pooling",
                  "pooling_param { pool: MAX kernel_size: 2 stride: 4 round_mode: FLOOR }",
                  {},
                  "MaxPool -> y 2x4x2x1"},
        LayerCase{"Pooling",
                  "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }",
                  {},
                  "AveragePool -> y 2x4x4x3"},
        LayerCase{"Pooling",
                  "pooling_param { pool: AVE global_pooling: true }",
                  {},
                  "GlobalAveragePool -> y 2x4x1x1"},
        LayerCase{"SPP", "spp_param { pyramid_height: 1 pool: AVE }", {}, "AveragePool -> y 2x4x1x1"},
        LayerCase{"SPP",
                  "spp_param { pyramid_height: 2 }",
                  {},
                  "MaxPool MaxPool Flatten Flatten Concat -> y 2x20"}));

INSTANTIATE_TEST_SUITE_P(
    Elementwise, CaffeLayer,
    testing::Values(
        LayerCase{"ReLU", "", {}, "Relu -> y 2x4x6x5"},
        LayerCase{"ReLU", "relu_param { negative_slope: 0.1 }", {}, "LeakyRelu -> y 2x4x6x5"},
        LayerCase{"PReLU", "", {{4}}, "PRelu -> y 2x4x6x5"},
        LayerCase{"PReLU", "prelu_param { channel_shared: true }", {{1}}, "PRelu -> y 2x4x6x5"},
        LayerCase{"ELU", "", {}, "Elu -> y 2x4x6x5"}, LayerCase{"Sigmoid", "", {}, "Sigmoid -> y 2x4x6x5"},
        LayerCase{"TanH", "", {}, "Tanh -> y 2x4x6x5"}, LayerCase{"AbsVal", "", {}, "Abs -> y 2x4x6x5"},
        LayerCase{"Power", "power_param { power: 2 scale: 3 shift: 1 }", {}, "mete.Power -> y 2x4x6x5"},
        LayerCase{"Exp", "exp_param { base: 2 }", {}, "mete.Power Exp -> y 2x4x6x5"},
        LayerCase{"Log", "log_param { base: 10 }", {}, "mete.Power Log Mul -> y 2x4x6x5"},
        LayerCase{"Threshold", "", {}, "Greater Cast -> y 2x4x6x5"},
        LayerCase{"Dropout", "", {}, "Identity -> y 2x4x6x5"},
        LayerCase{"Clip", "clip_param { min: -1 max: 2 }", {}, "Clip -> y 2x4x6x5"},
        LayerCase{"Swish", "swish_param { beta: 2 }", {}, "Swish -> y 2x4x6x5"},
        LayerCase{"Mish", "", {}, "Mish -> y 2x4x6x5"}, LayerCase{"Softmax", "", {}, "Softmax -> y 2x4x6x5"},
        LayerCase{"Scale", "scale_param { bias_term: true }", {{4}, {4}}, "Mul Add -> y 2x4x6x5"},
        LayerCase{"Scale", "scale_param { axis: 2 num_axes: -1 }", {{6, 5}}, "Mul -> y 2x4x6x5"},
        LayerCase{"Bias", "bias_param { axis: 0 num_axes: 2 }", {{2, 4}}, "Add -> y 2x4x6x5"},
        LayerCase{"Eltwise", "bottom: 'data' eltwise_param { operation: PROD }", {}, "Mul -> y 2x4x6x5"},
        LayerCase{"Eltwise",
                  "bottom: 'data' bottom: 'data' eltwise_param { coeff: 1 coeff: -1 coeff: 0.5 }",
                  {},
                  "Mul Add Mul Add -> y 2x4x6x5"},
        LayerCase{"Eltwise", "bottom: 'data' eltwise_param { operation: MAX }", {}, "Max -> y 2x4x6x5"}));

INSTANTIATE_TEST_SUITE_P(
    Normalize, CaffeLayer,
    testing::Values(LayerCase{"BatchNorm", "", {{4}, {4}, {1}}, "BatchNormalization -> y 2x4x6x5"},
                    LayerCase{"LRN", "", {}, "LRN -> y 2x4x6x5"},
                    LayerCase{"LRN",
                              "lrn_param { norm_region: WITHIN_CHANNEL local_size: 3 }",
                              {},
                              "mete.LRNWithin -> y 2x4x6x5"},
                    LayerCase{"Normalize", "", {{1}}, "mete.Normalize -> y 2x4x6x5"},
                    LayerCase{"Normalize",
                              "norm_param { across_spatial: false channel_shared: false }",
                              {{4}},
                              "mete.Normalize -> y 2x4x6x5"},
                    LayerCase{"MVN", "", {}, "ReduceMean Sub Mul ReduceMean Sqrt Add Div -> y 2x4x6x5"},
                    LayerCase{"MVN",
                              "mvn_param { normalize_variance: false across_channels: true }",
                              {},
                              "ReduceMean Sub -> y 2x4x6x5"}));

INSTANTIATE_TEST_SUITE_P(
    Resize, CaffeLayer,
    testing::Values(LayerCase{"Interp", "interp_param { zoom_factor: 2 }", {}, "Resize -> y 2x4x11x9"},
                    LayerCase{"Interp",
                              "interp_param { height: 7 width: 8 pad_beg: -1 pad_end: -1 }",
                              {},
                              "Slice Resize -> y 2x4x7x8"},
                    LayerCase{"Interp", "interp_param { shrink_factor: 2 }", {}, "Resize -> y 2x4x3x3"},
                    LayerCase{"Upsample", "upsample_param { scale: 3 }", {}, "Resize -> y 2x4x18x15"}));

INSTANTIATE_TEST_SUITE_P(
    Shapes, CaffeLayer,
    testing::Values(
        LayerCase{"Concat", "bottom: 'data'", {}, "Concat -> y 2x8x6x5"},
        LayerCase{"Concat", "bottom: 'data' concat_param { concat_dim: 0 }", {}, "Concat -> y 4x4x6x5"},
        LayerCase{"Slice", "top: 'z'", {}, "Split -> y 2x2x6x5 z 2x2x6x5"},
        LayerCase{"Slice",
                  "top: 'z' top: 'w' slice_param { axis: 2 slice_point: 1 slice_point: 4 }",
                  {},
                  "Split -> y 2x4x1x5 z 2x4x3x5 w 2x4x2x5"},
        LayerCase{"Split", "top: 'z'", {}, "Identity Identity -> y 2x4x6x5 z 2x4x6x5"},
        LayerCase{"Flatten", "", {}, "Flatten -> y 2x120"},
        LayerCase{"Flatten", "flatten_param { axis: 2 }", {}, "Reshape -> y 2x4x30"},
        LayerCase{"Flatten", "flatten_param { axis: 1 end_axis: 2 }", {}, "Reshape -> y 2x24x5"},
        LayerCase{"Reshape", "reshape_param { shape { dim: 0 dim: -1 dim: 3 } }", {}, "Reshape -> y 2x40x3"},
        LayerCase{"Reshape",
                  "reshape_param { shape { dim: 2 dim: 2 } axis: 1 num_axes: 1 }",
                  {},
                  "Reshape -> y 2x2x2x6x5"},
        LayerCase{"ShuffleChannel",
                  "shuffle_channel_param { group: 2 }",
                  {},
                  "Reshape Transpose Reshape -> y 2x4x6x5"},
        LayerCase{"Reorg", "reorg_param { stride: 1 }", {}, "Reshape SpaceToDepth Reshape -> y 2x4x6x5"},
        LayerCase{"Reorg", "reorg_param { stride: 2 reverse: true }", {}, "DepthToSpace -> y 2x1x12x10"},
        LayerCase{"Tile", "tile_param { axis: -1 tiles: 3 }", {}, "Tile -> y 2x4x6x15"},
        LayerCase{"Permute", "permute_param { order: 0 order: 2 order: 3 }", {}, "Transpose -> y 2x6x5x4"},
        LayerCase{"Reduction",
                  "reduction_param { operation: MEAN axis: 2 coeff: 2 }",
                  {},
                  "ReduceMean Mul -> y 2x4"},
        LayerCase{"Reduction", "reduction_param { operation: SUMSQ }", {}, "ReduceSumSquare -> y scalar"},
        LayerCase{"ArgMax", "argmax_param { axis: 1 }", {}, "TopK Cast -> y 2x1x6x5"},
        LayerCase{"ArgMax",
                  "argmax_param { top_k: 3 out_max_val: true }",
                  {},
                  "Reshape TopK Cast Reshape Reshape Concat -> y 2x2x3"}));

TEST(CaffeImport, InPlaceLayersMakeFreshValues) {
  const Imported i = Import(std::string(kInput) +
                            "layer { name: 'a' type: 'AbsVal' bottom: 'data' top: 'y' } layer { name: 'r' "
                            "type: 'ReLU' bottom: 'y' top: 'y' } "
                            "layer { name: 't' type: 'TanH' bottom: 'y' top: 'y' }");
  EXPECT_EQ(Summary(i.graph), "Abs Relu Tanh -> y 2x4x6x5");
}

TEST(CaffeImport, WeightsOutliveTheFile) {
  const Imported i =
      Import(Single("Convolution", "convolution_param { num_output: 2 kernel_size: 1 bias_term: false }"),
             Model("l", {{2, 4, 1, 1}}));
  const Value& w = i.graph.value(i.graph.nodes.back().inputs[1]);
  EXPECT_EQ(w.constant.as<float>()[7], 7.5f);
}

TEST(CaffeImport, BatchNormDividesItsSumsByTheirCount) {
  caffe::Weights w;
  w.add_layer()->set_name("l");
  for (const std::vector<double>& values : {std::vector<double>{2, 4, 6, 8}, {1, 1, 1, 1}, {4}}) {
    caffe::BlobProto& b = *w.mutable_layer(0)->add_blobs();
    for (double v : values) b.add_double_data(v);
  }
  const Imported i = Import(Single("BatchNorm", "batch_norm_param { eps: 0.25 }"), w.SerializeAsString());
  const Node& n = i.graph.nodes.back();
  EXPECT_EQ(i.graph.value(n.inputs[3]).constant.as<float>()[3], 2);
  EXPECT_EQ(i.graph.value(n.inputs[4]).constant.as<float>()[0], 0.25f);
  EXPECT_EQ(n.attributes.Float("epsilon", 0), 0.25f);
}

TEST(CaffeImport, PoolingFollowsCaffesRule) {
  const Imported i = Import(Single("Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }"));
  const Attributes& a = i.graph.nodes[0].attributes;
  EXPECT_EQ(a.Int("mete_caffe", 0), 1);
  EXPECT_EQ(a.Int("ceil_mode", 0), 1);
  EXPECT_EQ(a.IntList("pads"), (Ints{1, 1, 1, 1}));
}

TEST(CaffeImport, AParameterIsItsBlob) {
  const auto net = [](const std::string& shape) {
    return InputLayer("data", {1, 2}) +
           "layer { name: 'l' type: 'Parameter' top: 'p' parameter_param { shape { " + shape +
           " } } } layer { name: 's' type: 'Eltwise' bottom: 'data' bottom: 'p' top: 'y' }";
  };
  const Graph g = Import(net("dim: 1 dim: 2"), Model("l", {{1, 2}})).graph;
  EXPECT_EQ(Summary(g), "Add -> y 1x2");
  EXPECT_EQ(g.value(g.nodes[0].inputs[1]).constant.as<float>()[1], 1.5f);
  ExpectHas(MessageOf(net("dim: 1 dim: 2"), Model("l", {{3, 2}}), Code::kInvalidArgument),
            "[l] the .caffemodel's values does not fit; got 3x2, expected 1x2");
  ExpectHas(MessageOf(net("dim: -1"), "", Code::kInvalidArgument),
            "its values has impossible dimensions; got -1");
}

TEST(CaffeImport, CropTakesItsSizeFromTheSecondBottom) {
  const std::string net =
      std::string(kInput) +
      "layer { name: 'p' type: 'Pooling' bottom: 'data' top: 'p' pooling_param { kernel_size: 2 stride: 2 } }"
      "layer { name: 'c' type: 'Crop' bottom: 'data' bottom: 'p' top: 'c' crop_param { offset: 1 offset: 2 } "
      "}";
  EXPECT_EQ(Summary(Import(net).graph), "MaxPool Slice -> c 2x4x3x3");
}

TEST(CaffeImport, AxpyHasAFactorForEachChannel) {
  const std::string net = std::string(kInput) +
                          "layer { name: 'g' type: 'Pooling' bottom: 'data' top: 'g' pooling_param { pool: "
                          "AVE global_pooling: true "
                          "} } layer { name: 'f' type: 'Flatten' bottom: 'g' top: 'f' } ";
  for (const auto& [factor, expected] :
       {std::pair("g", "GlobalAveragePool Flatten Mul Add -> f 2x4 y 2x4x6x5"),
        std::pair("f", "GlobalAveragePool Flatten Reshape Mul Add -> y 2x4x6x5")})
    EXPECT_EQ(Summary(Import(net + "layer { name: 'a' type: 'Axpy' bottom: '" + factor +
                             "' bottom: 'data' bottom: 'data' top: 'y' }")
                          .graph),
              expected);
}

TEST(CaffeImport, UpsampleWithAMaskUnpools) {
  const std::string net = std::string(kInput) +
                          "layer { name: 'p' type: 'Pooling' bottom: 'data' top: 'p' top: 'm' pooling_param "
                          "{ kernel_size: 2 stride: 2 } }"
                          "layer { name: 'u' type: 'Upsample' bottom: 'p' bottom: 'm' top: 'u' "
                          "upsample_param { scale: 2 pad_out_w: true } }";
  EXPECT_EQ(Summary(Import(net).graph), "MaxPool MaxUnpool -> u 2x4x6x5");
}

TEST(CaffeImport, ReadsTheSharedModels) {
  const char* shared = std::getenv("METE_SHARED");
  const std::filesystem::path folder = std::filesystem::path(shared ? shared : "../shared") / "models";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << folder << " is missing: the trained models are not in the repository";
  auto outputs = [&](const std::string& name) {
    const Imported i = ImportCaffe(folder / (name + ".prototxt"), folder / (name + ".caffemodel"), {});
    const std::string s = Summary(i.graph);
    return s.substr(s.find("->"));
  };
  EXPECT_EQ(outputs("squeezenet_v1.1"), "-> prob 10x1000x1x1");
  EXPECT_EQ(outputs("mtcnn_det1"), "-> conv4-2 1x4x1x1 prob1 1x2x1x1");
  EXPECT_EQ(outputs("mtcnn_det2"), "-> conv5-2 1x4 prob1 1x2");
  EXPECT_EQ(outputs("mtcnn_det3"), "-> conv6-2 1x4 conv6-3 1x10 prob1 1x2");
  EXPECT_EQ(outputs("ultraface_rfb320"), "-> boxes 1x4420x4 scores 1x4420x2");
}

TEST(CaffeImport, ReadsV1Layers) {
  caffe::Weights w;
  w.add_layers()->set_name("c");
  AddBlob(w.mutable_layers(0)->mutable_blobs(), {3, 4, 1, 1});
  AddBlob(w.mutable_layers(0)->mutable_blobs(), {1, 1, 1, 3});
  const Imported i = Import(
      "input: 'data' input_dim: 2 input_dim: 4 input_dim: 6 input_dim: 5 "
      "layers { name: 'c' type: CONVOLUTION bottom: 'data' top: 'c' blobs_lr: 1 convolution_param { "
      "num_output: 3 kernel_size: 1 } } "
      "layers { name: 'r' type: RELU bottom: 'c' top: 'c' } "
      "layers { name: 'acc' type: ACCURACY bottom: 'c' bottom: 'label' top: 'acc' include { phase: TEST } } "
      "layers { name: 'p' type: SOFTMAX bottom: 'c' top: 'p' include { phase: TEST } }"
      "layers { name: 'train' type: SOFTMAX_LOSS bottom: 'c' bottom: 'label' include { phase: TRAIN } }",
      w.SerializeAsString());
  EXPECT_EQ(Summary(i.graph), "Conv Relu Softmax -> p 2x3x6x5");
  ASSERT_EQ(i.notes.size(), 1u);
  EXPECT_EQ(i.notes[0], "layer 'acc' of type Accuracy is left out");
}

TEST(CaffeImport, ReadsV0Layers) {
  caffe::Weights w;
  w.add_layers()->mutable_layer()->set_name("c");
  caffe::BlobProto& b = *w.mutable_layers(0)->mutable_layer()->add_blobs();
  b.set_num(4);
  b.set_channels(2);
  b.set_height(3);
  b.set_width(3);
  for (int n = 0; n < 72; ++n) b.add_data(1);
  const Imported i = Import(
      "input: 'data' input_dim: 2 input_dim: 4 input_dim: 6 input_dim: 5 "
      "layers { layer { name: 'pad' type: 'padding' pad: 1 } bottom: 'data' top: 'pad' } "
      "layers { layer { name: 'c' type: 'conv' num_output: 4 kernelsize: 3 stride: 2 group: 2 biasterm: "
      "false } bottom: 'pad' top: 'c' } "
      "layers { layer { name: 'r' type: 'relu' } bottom: 'c' top: 'c' } "
      "layers { layer { name: 'p' type: 'pool' pool: AVE kernelsize: 2 stride: 2 } bottom: 'c' top: 'p' } ",
      w.SerializeAsString());
  EXPECT_EQ(Summary(i.graph), "Pad Conv Relu AveragePool -> p 2x4x2x2");
}

TEST(BadCaffe, AWebPageSavedAsPrototxt) {
  ExpectHas(MessageOf("\n<!DOCTYPE html>\n<html></html>", "", Code::kDataLoss),
            "[net] this is a web page; got '<!DOCTYPE html>', expected a Caffe net");
  ExpectHas(MessageOf(kInput, "<html>", Code::kDataLoss), "web page");
}

TEST(BadCaffe, SyntaxErrorsHaveLineAndColumn) {
  ExpectHas(MessageOf("name: 'x'\nlayer { name: }", "", Code::kDataLoss), "[net:2:15]");
  ExpectHas(MessageOf("  \n", "", Code::kDataLoss), "empty");
  ExpectHas(MessageOf(std::string("\0\1\2", 3), "", Code::kDataLoss), "no text");
  MessageOf(std::string(100000, '{'), "", Code::kDataLoss);
  std::string deep = "layer ";
  for (int i = 0; i < 10000; ++i) deep += "{ a ";
  MessageOf(deep, "", Code::kDataLoss);
}

TEST(BadCaffe, FilesThatDisagreeAreToldInOneError) {
  const std::string net = std::string(kInput) +
                          "layer { name: 'a' type: 'Convolution' bottom: 'data' top: 'a' convolution_param { "
                          "num_output: 3 kernel_size: 1 } }"
                          "layer { name: 'b' type: 'Convolution' bottom: 'a' top: 'b' convolution_param { "
                          "num_output: 2 kernel_size: 1 } }"
                          "layer { name: 'c' type: 'NoSuch' bottom: 'b' top: 'c' }"
                          "layer { name: 'd' type: 'PReLU' bottom: 'c' top: 'd' }"
                          "layer { name: 'e' type: 'ReLU' bottom: 'nothing' top: 'e' }";
  const std::string m = MessageOf(net, Model("a", {{3, 3, 1, 1}}), Code::kInvalidArgument);
  ExpectHas(m, "[a] the .caffemodel's weight does not fit; got 3x3x1x1, expected 3x4x1x1");
  ExpectHas(m, "[a] the .caffemodel has no bias for it; got 1 blobs, expected at least 2");
  ExpectHas(m, "[b] the .caffemodel has no layer of this name; expected one with a weight of 2x3x1x1");
  ExpectHas(m, "[net] unsupported layer type 'NoSuch' (1 time, first at 'c')");
  ExpectHas(m, "[e] bottom 'nothing' is made by no earlier layer");
  ExpectHas(MessageOf(net, "", Code::kInvalidArgument), "there is no .caffemodel");
}

TEST(BadCaffe, OnlyUnsupportedLayersAreUnimplemented) {
  const std::string m = MessageOf(Single("RNN", "recurrent_param { num_output: 3 }") +
                                      "layer { name: 'm' type: 'Embed' bottom: 'data' top: 'm' }",
                                  "", Code::kUnimplemented);
  ExpectHas(m, "'RNN'");
  ExpectHas(m, "'Embed'");
}

TEST(BadCaffe, ImpossibleParametersOfLayersThatRearrange) {
  for (const auto& [type, rest, problem] : std::vector<std::array<const char*, 3>>{
           {"ShuffleChannel", "shuffle_channel_param { group: 3 }",
            "group must divide the channels; got 3 for 4"},
           {"ShuffleChannel", "shuffle_channel_param { group: 0 }", "group must divide the channels; got 0"},
           {"Reorg", "", "stride must be from 1 on and divide"},
           {"Reorg", "reorg_param { stride: 4294967295 }", "stride must be from 1 on and divide"},
           {"Reorg", "reorg_param { stride: 2 }", "height, width, and the channels twice; got 2 for 2x4x6x5"},
           {"Tile", "", "tiles must be from 1 on; got 0"},
           {"Tile", "tile_param { tiles: 2147483647 }", "impossible dimensions"},
           {"Tile", "tile_param { tiles: 2 axis: 4 }", "axis is out of range"},
           {"SPP", "", "pyramid_height is out of range; got 0, expected 1 to 16"},
           {"SPP", "spp_param { pyramid_height: 17 }", "got 17, expected 1 to 16"},
           {"SPP", "spp_param { pyramid_height: 3 }", "pad must be smaller than the kernel; got 1x2 and 2x2"},
           {"Clip", "", "min and max must both be given; got neither"},
           {"Clip", "clip_param { min: 1 }", "min and max must both be given; got min alone"},
           {"Clip", "clip_param { max: 1 }", "min and max must both be given; got max alone"},
           {"Clip", "clip_param { min: 2 max: 1 }", "min must not be above max; got 2 and 1"},
           {"Axpy", "bottom: 'data' bottom: 'data'",
            "the bottoms do not fit; got 2x4x6x5, 2x4x6x5 and 2x4x6x5"}})
    ExpectHas(MessageOf(Single(type, rest), "", Code::kInvalidArgument), problem);
  ExpectHas(MessageOf("layer { name: 'd' type: 'Input' top: 'd' input_param { shape { dim: 2 dim: 3 } } }"
                      "layer { name: 'l' type: 'MVN' bottom: 'd' top: 'y' }",
                      "", Code::kInvalidArgument),
            "[l] MVN needs 3 dimensions or more; got 2x3");
}

TEST(BadCaffe, ImpossibleNumbers) {
  auto input = [](const std::string& dims) {
    return "layer { name: 'd' type: 'Input' top: 'd' input_param { shape { " + dims + " } } }";
  };
  for (const char* dims : {"dim: 0", "dim: -3", "dim: 4000000000 dim: 4000000000 dim: 4000000000",
                           "dim:1 dim:1 dim:1 dim:1 dim:1 dim:1 dim:1 dim:1 dim:1"})
    MessageOf(input(dims), "", Code::kInvalidArgument);
  for (const char* conv :
       {"num_output: 3", "kernel_size: 1", "num_output: 3 kernel_size: 1 group: 0",
        "num_output: 3 kernel_size: 1 group: 3", "num_output: 4294967295 kernel_size: 4294967295",
        "num_output: 1 kernel_size: 1 stride: 0", "num_output: 1 kernel_size: 9",
        "num_output: 1 kernel_size: 1 pad: 4294967295", "num_output: 1 kernel_size: 1 axis: 7"})
    MessageOf(Single("Convolution", std::string("convolution_param { ") + conv + " }"), "",
              Code::kInvalidArgument);
  for (const char* pool : {"", "kernel_size: 2 pad: 2", "kernel_size: 2 stride: 0"})
    MessageOf(Single("Pooling", std::string("pooling_param { ") + pool + " }"), "", Code::kInvalidArgument);
  MessageOf(Single("ReLU", "top: 'z'"), "", Code::kInvalidArgument);
  MessageOf(Single("Reshape", "reshape_param { shape { dim: 7 dim: -1 } }"), "", Code::kInvalidArgument);
}

// libprotobuf itself writes warnings about such names to stderr if asserts are enabled.
TEST(BadCaffe, NamesOfAnyBytesAreTakenInSilence) {
  const std::string name = "l\xff\x1b[1m";
  const std::string net =
      std::string(kInput) + "layer { name: 'l\xff\\033[1m' type: 'ReLU' bottom: 'data' top: 'y' }";
  const std::string weights = Model(name, {});  // serializing writes warnings too
  testing::internal::CaptureStderr();
  EXPECT_EQ(Import(net, weights).graph.nodes.at(0).name, name);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  const std::string bad =
      std::string(kInput) + "layer { name: 'l\xff' type: 'Frob\\033[1m' bottom: 'data' top: 'y' }";
  ExpectHas(MessageOf(bad, "", Code::kUnimplemented),
            "unsupported layer type 'Frob?[1m' (1 time, first at 'l\xff')");
}

TEST(BadCaffe, DataLayersNeedAShape) {
  const std::string net =
      "layer { name: 'd' type: 'Data' top: 'x' top: 'label' } layer { name: 'r' type: 'ReLU' bottom: 'x' "
      "top: 'r' }";
  ExpectHas(MessageOf(net, "", Code::kUnimplemented), "reads a data set; try the deploy.prototxt");
  ImportOptions options;
  options.input_shapes["x"] = Shape{1, 3};
  EXPECT_EQ(Summary(Import(net, "", options).graph), "Relu -> r 1x3");
  options.input_shapes["y"] = Shape{1};
  ExpectHas(MessageOf(net, "", Code::kFailedPrecondition, options), "'y', which is no input");
  ExpectHas(MessageOf("input: 'x' layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'r' }", "",
                      Code::kFailedPrecondition),
            "[x] the net does not say this input's shape; try --shape x=...");
}

TEST(BadCaffe, DamagedFilesNeverCrash) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const std::string net = Single("Convolution", "convolution_param { num_output: 3 kernel_size: 1 }"),
                    weights = Model("l", {{3, 4, 1, 1}, {3}});
  EXPECT_EQ(Summary(Import(net, weights).graph), "Conv -> y 2x3x6x5");
  auto attempt = [](const std::string& n, const std::string& w) {
    try {
      Verify(Import(n, w).graph);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  for (size_t n = 0; n < weights.size(); ++n) EXPECT_FALSE(attempt(net, weights.substr(0, n))) << n;
  for (size_t n = 0; n < net.size(); ++n) attempt(net.substr(0, n), weights);
  for (int i = 0; i < 1000; ++i) {
    std::string n = net, w = weights;
    (i % 2 ? n[random() % n.size()] : w[random() % w.size()]) ^= char(1 << (random() % 8));
    attempt(n, w);
  }
}

}  // namespace
}  // namespace mete
