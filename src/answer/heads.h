// The decoders of heads: pure functions from outputs to boxes, masks, pictures and points.
#pragma once

#include <vector>

#include "answer/candidates.h"
#include "answer/outputs.h"
#include "mete/answer.h"

namespace mete {

// What all decoders of a picture get.
struct HeadInput {
  const Image& picture;
  const Preprocess& settings;
  const Shape& shape;  // of the network's input
  InputPlace place;
};

// faces.cc: boxes that are offsets from prior boxes
Boxes UltraFaceBoxes(const HeadOutputs& outputs, const HeadInput& input);
Boxes RetinaFaceBoxes(const HeadOutputs& outputs, const HeadInput& input);

// corners.cc: boxes as shares of the input
Boxes CornerBoxes(const HeadOutputs& outputs, const HeadInput& input);
Boxes SsdRows(const HeadOutputs& outputs, const HeadInput& input);
Boxes SsdBoxes(const HeadOutputs& outputs, const HeadInput& input);
Boxes TfSsdBoxes(const HeadOutputs& outputs, const HeadInput& input);
Boxes DetrBoxes(const HeadOutputs& outputs, const HeadInput& input);

// grids.cc: boxes of the cells of grids
Boxes FastestDetBoxes(const HeadOutputs& outputs, const HeadInput& input);
Boxes CenterNetBoxes(const HeadOutputs& outputs, const HeadInput& input);

// yolo.cc: rows and columns of boxes
Boxes YoloV5Boxes(const HeadOutputs& outputs, const HeadInput& input);
Boxes YoloV8Boxes(const HeadOutputs& outputs, const HeadInput& input);
Boxes YoloXBoxes(const HeadOutputs& outputs, const HeadInput& input);
Boxes YoloEndBoxes(const HeadOutputs& outputs, const HeadInput& input);

// yolo_grids.cc: boxes of anchors in the cells of several grids
Boxes YoloGridBoxes(const HeadOutputs& outputs, const HeadInput& input);
Boxes YoloV3Boxes(const HeadOutputs& outputs, const HeadInput& input);
Boxes YoloV4Boxes(const HeadOutputs& outputs, const HeadInput& input);

// planes.cc: outputs with a plane for each class, colour or point
PictureMask ClassMask(const HeadOutputs& outputs, const HeadInput& input);
Image OutputPicture(const HeadOutputs& outputs, const HeadInput& input);
std::vector<PicturePoint> HeatPoints(const HeadOutputs& outputs, const HeadInput& input);

}  // namespace mete
