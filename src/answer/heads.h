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

// Adds the boxes that the outputs give.
using BoxDecoder = void(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found);

// faces.cc: boxes that are offsets from prior boxes
BoxDecoder UltraFaceBoxes, RetinaFaceBoxes;

// mediapipe.cc: boxes and points by their distances from the centres of cells
BoxDecoder MediaPipeBoxes;

// corners.cc: boxes as shares of the input
BoxDecoder CornerBoxes, SsdRows, SsdBoxes, TfSsdBoxes, DetrBoxes, RtDetrBoxes;

// grids.cc: boxes of the cells of grids
BoxDecoder FastestDetBoxes, CenterNetBoxes, NanoDetBoxes;

// yolo.cc: rows and columns of boxes
BoxDecoder YoloV5Boxes, YoloV8Boxes, YoloXBoxes, YoloEndBoxes;

// yolo_grids.cc: boxes of anchors in the cells of several grids
BoxDecoder YoloGridBoxes, YoloV3Boxes, YoloV4Boxes;

// poses.cc: points, alone or of boxes
using PointDecoder = std::vector<PicturePoint>(const HeadOutputs& outputs, const HeadInput& input);
PointDecoder HeatPoints, PoseNetPoints, MoveNetPoints;
BoxDecoder YoloPoseBoxes, MoveNetBoxes;

// planes.cc: outputs with a plane for each class or colour
PictureMask ClassMask(const HeadOutputs& outputs, const HeadInput& input);
Image OutputPicture(const HeadOutputs& outputs, const HeadInput& input);

}  // namespace mete
