// What the face detector of OpenCV's samples (face_detector/deploy.prototxt, res10_300x300) has beside other
// networks of SSD, with fewer channels and one of its six maps.
#include <gtest/gtest.h>

#include "import/caffe/caffe_testing.h"

namespace mete {
namespace {

std::string Net(const std::string& more) {
  return R"(
input: "data"
input_shape { dim: 1 dim: 3 dim: 300 dim: 300 }
layer {
  name: "data_bn"
  type: "BatchNorm"
  bottom: "data"
  top: "data_bn"
  param { lr_mult: 0.0 }
  param { lr_mult: 0.0 }
  param { lr_mult: 0.0 }
}
layer {
  name: "data_scale"
  type: "Scale"
  bottom: "data_bn"
  top: "data_bn"
  param { lr_mult: 1.0 decay_mult: 1.0 }
  param { lr_mult: 2.0 decay_mult: 1.0 }
  scale_param { bias_term: true }
}
layer {
  name: "layer_512_1_conv2_h"
  type: "Convolution"
  bottom: "data_bn"
  top: "layer_512_1_conv2_h"
  param { lr_mult: 1.0 decay_mult: 1.0 }
  convolution_param {
    num_output: 4
    bias_term: false
    pad: 2 # 1
    kernel_size: 3
    stride: 8
    dilation: 2
    weight_filler { type: "msra" variance_norm: FAN_OUT }
    bias_filler { type: "constant" value: 0.0 }
  }
}
layer { name: "last_relu" type: "ReLU" bottom: "layer_512_1_conv2_h" top: "fc7" }
layer {
  name: "conv4_3_norm"
  type: "Normalize"
  bottom: "layer_512_1_conv2_h"
  top: "conv4_3_norm"
  norm_param {
    across_spatial: false
    scale_filler { type: "constant" value: 20 }
    channel_shared: false
  }
}
layer { name: "loc" type: "Convolution" bottom: "conv4_3_norm" top: "loc" convolution_param { num_output: 16 pad: 1 kernel_size: 3 } }
layer { name: "loc_perm" type: "Permute" bottom: "loc" top: "loc_perm" permute_param { order: 0 order: 2 order: 3 order: 1 } }
layer { name: "mbox_loc" type: "Flatten" bottom: "loc_perm" top: "mbox_loc" flatten_param { axis: 1 } }
layer { name: "conf" type: "Convolution" bottom: "fc7" top: "conf" convolution_param { num_output: 8 # 84
    pad: 1 kernel_size: 3 } }
layer { name: "conf_perm" type: "Permute" bottom: "conf" top: "conf_perm" permute_param { order: 0 order: 2 order: 3 order: 1 } }
layer { name: "mbox_conf" type: "Flatten" bottom: "conf_perm" top: "mbox_conf" flatten_param { axis: 1 } }
layer {
  name: "mbox_priorbox"
  type: "PriorBox"
  bottom: "conv4_3_norm"
  bottom: "data"
  top: "mbox_priorbox"
  prior_box_param {
    min_size: 30.0
    max_size: 60.0
    aspect_ratio: 2
    flip: true
    clip: false
    variance: 0.1
    variance: 0.1
    variance: 0.2
    variance: 0.2
    step: 8
    offset: 0.5
  }
}
layer { name: "mbox_conf_reshape" type: "Reshape" bottom: "mbox_conf" top: "mbox_conf_reshape" reshape_param { shape { dim: 0 dim: -1 dim: 2 } } }
layer { name: "mbox_conf_softmax" type: "Softmax" bottom: "mbox_conf_reshape" top: "mbox_conf_softmax" softmax_param { axis: 2 } }
layer { name: "mbox_conf_flatten" type: "Flatten" bottom: "mbox_conf_softmax" top: "mbox_conf_flatten" flatten_param { axis: 1 } }
layer {
  name: "detection_out"
  type: "DetectionOutput"
  bottom: "mbox_loc"
  bottom: "mbox_conf_flatten"
  bottom: "mbox_priorbox"
  top: "detection_out"
  include { phase: TEST }
  detection_output_param {
    num_classes: 2
    share_location: true
    background_label_id: 0
    nms_param { nms_threshold: 0.45 top_k: 400 }
    code_type: CENTER_SIZE
    keep_top_k: 200
    confidence_threshold: 0.2
    )" + more +
         "\n  }\n}\n";
}

std::string WeightsOf() {
  caffe::Weights w;
  const auto add = [&](const char* name, const std::vector<std::vector<int64_t>>& blobs) {
    caffe::LayerWeights& layer = *w.add_layer();
    layer.set_name(name);
    for (const auto& dims : blobs) AddBlob(layer.mutable_blobs(), dims);
  };
  add("data_bn", {{3}, {3}, {1}});
  add("data_scale", {{3}, {3}});
  add("layer_512_1_conv2_h", {{4, 3, 3, 3}});
  add("conv4_3_norm", {{4}});
  add("loc", {{16, 4, 3, 3}, {16}});
  add("conf", {{8, 4, 3, 3}, {8}});
  return w.SerializeAsString();
}

TEST(FaceDetector, LoadsWithClippedBoxes) {
  const Graph g = Import(Net("clip: 1"), WeightsOf()).graph;
  EXPECT_EQ(
      Summary(g),
      "BatchNormalization Mul Add Conv Relu mete.Normalize Conv Transpose Flatten Conv Transpose Flatten "
      "Reshape Softmax Flatten mete.DetectionOutput -> detection_out ?");
  EXPECT_EQ(g.nodes.back().attributes.Int("clip", 0), 1);
  EXPECT_FALSE(Import(Net("clip: false"), WeightsOf()).graph.nodes.back().attributes.Has("clip"));
  EXPECT_FALSE(Import(Net("normalized_bbox: true"), WeightsOf()).graph.nodes.back().attributes.Has("clip"));
}

TEST(FaceDetector, BoxesInPixelsAreRefused) {
  ExpectHas(MessageOf(Net("normalized_bbox: false"), WeightsOf(), Code::kUnimplemented),
            "[detection_out] boxes in pixels are not supported; got normalized_bbox: false, expected true");
}

TEST(FaceDetector, OtherFieldsOfDetectorsAreToldWithTheirLayer) {
  ExpectHas(MessageOf(Net("loc_pred_transposed: true"), WeightsOf(), Code::kInvalidArgument),
            "layer detection_out] DetectionOutputParameter has an unknown field; got loc_pred_transposed");
  std::string net = Net("");
  net.replace(net.find("step: 8"), 7, "offset_h: 0.5 offset_w: 0.5");
  ExpectHas(MessageOf(net, WeightsOf(), Code::kInvalidArgument),
            "layer mbox_priorbox] PriorBoxParameter has an unknown field; got offset_h");
}

}  // namespace
}  // namespace mete
