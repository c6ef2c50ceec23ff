// One function per architecture. Each adds its layers, from input to output, to an empty builder.
#pragma once

#include <vector>

#include "zoo/builder.h"

namespace mete::zoo {

// classic.cc
void AlexNet(GraphBuilder& b);
void Nin(GraphBuilder& b);
void SqueezeNet10(GraphBuilder& b);
void SqueezeNet11(GraphBuilder& b);
void Vgg16(GraphBuilder& b);
void Vgg19(GraphBuilder& b);

// inception.cc
void GoogLeNet(GraphBuilder& b);
void InceptionV2(GraphBuilder& b);
void InceptionV3(GraphBuilder& b);

// residual.cc
void ResNet18(GraphBuilder& b);
void ResNet50(GraphBuilder& b);
void ResNet56(GraphBuilder& b);
void DenseNet121(GraphBuilder& b);
void YoloV2(GraphBuilder& b);
void TinyYoloV2(GraphBuilder& b);

// mobile.cc
void MobileNetV1(GraphBuilder& b);
void MobileNetV2(GraphBuilder& b);
void MobileNetV3Large(GraphBuilder& b);
void MobileNetV4Small(GraphBuilder& b);
void ShuffleNetV1(GraphBuilder& b);
void ShuffleNetV2(GraphBuilder& b);
void EfficientNetB0(GraphBuilder& b);
void PoseNetMobileNet(GraphBuilder& b);

// detectors.cc
void MobileNetSsd(GraphBuilder& b);
void YoloV5n(GraphBuilder& b);
void YoloXNano(GraphBuilder& b);
void NanoDet(GraphBuilder& b);

// segmentation.cc
void DeepLabV3(GraphBuilder& b);
void UNet(GraphBuilder& b);

// hybrid.cc
void ConvNextTiny(GraphBuilder& b);
void MobileVitSmall(GraphBuilder& b);
void Conformer4(GraphBuilder& b);

// decoder.cc
void Llama8(GraphBuilder& b);

// sequence.cc
void VitTiny16(GraphBuilder& b);
void Bert6(GraphBuilder& b);
void CharRnn(GraphBuilder& b);
Tensor Attention(GraphBuilder& b, const Tensor& x, int heads);  // every token attends to every token

// probes.cc
struct Probe {
  const char* name;
  void (*build)(GraphBuilder&);
};
const std::vector<Probe>& Probes();

}  // namespace mete::zoo
