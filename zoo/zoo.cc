#include "zoo/zoo.h"

#include <vector>

#include "base/error.h"
#include "zoo/architectures.h"
#include "zoo/builder.h"

namespace mete {
namespace {

struct Architecture {
  ZooEntry entry;
  void (*build)(zoo::GraphBuilder&);
};

constexpr Architecture kArchitectures[] = {
    {{"alexnet", "AlexNet with two groups, 227x227: large filters, local response normalisation"},
     zoo::AlexNet},
    {{"nin", "Network in Network, 224x224: 1x1 convolutions, no dense layer"}, zoo::Nin},
    {{"squeezenet1.0", "SqueezeNet 1.0, 224x224: fire modules"}, zoo::SqueezeNet10},
    {{"squeezenet1.1", "SqueezeNet 1.1, 224x224: the same at 2.4 times less work"}, zoo::SqueezeNet11},
    {{"vgg16", "VGG-16, 224x224: 3x3 convolutions throughout"}, zoo::Vgg16},
    {{"vgg19", "VGG-19, 224x224: the same, three layers deeper"}, zoo::Vgg19},
    {{"googlenet", "GoogLeNet (Inception v1), 224x224: four parallel branches"}, zoo::GoogLeNet},
    {{"resnet18", "ResNet-18, 224x224: basic residual blocks"}, zoo::ResNet18},
    {{"resnet50", "ResNet-50, 224x224: bottleneck residual blocks"}, zoo::ResNet50},
    {{"resnet56", "ResNet-56, 32x32: basic residual blocks of few channels"}, zoo::ResNet56},
    {{"densenet121", "DenseNet-121, 224x224: every layer reads all layers before it in its block"},
     zoo::DenseNet121},
    {{"mobilenet_v1", "MobileNet v1, 224x224: depthwise-separable convolutions"}, zoo::MobileNetV1},
    {{"mobilenet_v2", "MobileNet v2, 224x224: inverted residuals"}, zoo::MobileNetV2},
    {{"mobilenet_v3_large", "MobileNet v3 large, 224x224: squeeze-excite and hard swish"},
     zoo::MobileNetV3Large},
    {{"mobilenet_v4_small", "MobileNet v4 Conv-S, 224x224: universal inverted bottlenecks"},
     zoo::MobileNetV4Small},
    {{"shufflenet_v1", "ShuffleNet v1 with three groups, 224x224: grouped 1x1 convolutions"},
     zoo::ShuffleNetV1},
    {{"shufflenet_v2", "ShuffleNet v2, 224x224: channel split and shuffle"}, zoo::ShuffleNetV2},
    {{"efficientnet_b0", "EfficientNet-B0, 224x224: inverted residuals with squeeze-excite and swish"},
     zoo::EfficientNetB0},
    {{"inception_v2", "Inception v2 (BN-Inception), 224x224: parallel branches, batch normalisation"},
     zoo::InceptionV2},
    {{"inception_v3", "Inception v3, 299x299: factorised branches"}, zoo::InceptionV3},
    {{"yolov2", "YOLOv2's body, 416x416: Darknet-19 with a pass-through"}, zoo::YoloV2},
    {{"tiny_yolov2", "Tiny YOLOv2, 416x416: nine convolutions in a chain, raw boxes"}, zoo::TinyYoloV2},
    {{"posenet_mobilenet", "PoseNet on MobileNet v1 at stride 16, 257x257: dilation, four heads"},
     zoo::PoseNetMobileNet},
    {{"mobilenet_ssd", "SSD on MobileNet v1, 300x300: six heads, raw boxes and scores"}, zoo::MobileNetSsd},
    {{"yolov5n", "YOLOv5n, 640x640: partial stages, path aggregation, SiLU, raw heads"}, zoo::YoloV5n},
    {{"yolox_nano", "YOLOX-Nano, 416x416: the same with depthwise convolutions and decoupled heads"},
     zoo::YoloXNano},
    {{"nanodet", "NanoDet-Plus-m, 320x320: ShuffleNet v2, ghost blocks, depthwise heads"}, zoo::NanoDet},
    {{"deeplab_v3", "DeepLab v3 on MobileNet v2, 257x257: dilation, bilinear enlargement"}, zoo::DeepLabV3},
    {{"unet", "U-Net with batch normalisation, 256x256: transposed convolutions, wide concatenations"},
     zoo::UNet},
    {{"convnext_tiny", "ConvNeXt-T, 224x224: depthwise 7x7 convolutions, channel normalisation"},
     zoo::ConvNextTiny},
    {{"mobilevit_s", "MobileViT-S, 256x256: inverted residuals, and transformers over unfolded images"},
     zoo::MobileVitSmall},
    {{"vit_ti16", "ViT-Ti/16, 224x224: a transformer over 197 patches"}, zoo::VitTiny16},
    {{"bert6", "6-layer BERT-style encoder over 128 tokens (i64)"}, zoo::Bert6},
    {{"conformer4", "4 of Conformer-S's blocks over 4 s of mel bands: gates, convolutions along time"},
     zoo::Conformer4},
    {{"llama8", "8-layer Llama-style decoder: one token (i64) and a cache of 127 before it"}, zoo::Llama8},
    {{"char_rnn", "Char-RNN: two LSTM layers over 64 characters (i64)"}, zoo::CharRnn},
};

const Architecture& Find(std::string_view name) {
  std::string known;
  for (const Architecture& a : kArchitectures) {
    if (a.entry.name == name) return a;
    known += std::string(known.empty() ? "" : ", ") + a.entry.name;
  }
  Fail(Code::kNotFound, "zoo", "no such network; got \"{}\", expected one of {}; try \"mete zoo list\"", name,
       known);
}

}  // namespace

std::span<const ZooEntry> ZooList() {
  static const std::vector<ZooEntry> entries = [] {
    std::vector<ZooEntry> list;
    for (const Architecture& a : kArchitectures) list.push_back(a.entry);
    return list;
  }();
  return entries;
}

bool HasRandomWeights(const std::map<std::string, std::string>& metadata) {
  const auto producer = metadata.find("producer");
  return producer != metadata.end() && producer->second == zoo::kProducer;
}

void ZooMake(std::string_view name, const std::string& path, uint64_t seed) {
  const Architecture& architecture = Find(name);
  zoo::GraphBuilder builder(architecture.entry.name, seed, /*dry=*/false);
  architecture.build(builder);
  builder.Save(path);
}

int64_t ZooParameters(std::string_view name) {
  const Architecture& architecture = Find(name);
  zoo::GraphBuilder builder(architecture.entry.name, 0, /*dry=*/true);
  architecture.build(builder);
  return builder.parameters();
}

int ZooProbes() { return int(zoo::Probes().size()); }

void ZooMakeProbe(int number, const std::string& path) {
  const zoo::Probe& probe = zoo::Probes().at(size_t(number));
  zoo::GraphBuilder builder(probe.name, uint64_t(number), /*dry=*/false);
  probe.build(builder);
  builder.Save(path);
}

}  // namespace mete
