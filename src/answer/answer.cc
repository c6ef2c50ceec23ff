// The table of heads, and the choice of a decoder.
#include "mete/answer.h"

#include <algorithm>

#include "answer/heads.h"
#include "base/error.h"
#include "base/nearest.h"

namespace mete {
namespace {

struct HeadRow {
  AnswerHead head;
  Boxes (*boxes)(const HeadOutputs&, const HeadInput&) = nullptr;  // of heads of this kind
};

constexpr HeadRow kHeads[] = {
    {{"corners", AnswerKind::kBoxes,
      "boxes 1xNx4, corners as shares of the input, and scores 1xNxC with the background as class 0"},
     CornerBoxes},
    {{"ultraface", AnswerKind::kBoxes,
      "Ultra-Light-Fast-Generic-Face-Detector without its decoding: offsets 1xNx4 and scores 1xNx2"},
     UltraFaceBoxes},
    {{"retinaface", AnswerKind::kBoxes,
      "RetinaFace with steps of 8, 16 and 32 pixels: offsets 1xNx4, scores 1xNx2 and, where there are "
      "points, 1xNx10"},
     RetinaFaceBoxes},
    {{"fastestdet", AnswerKind::kBoxes, "FastestDet: one grid 1x(5+C)xHxW"}, FastestDetBoxes},
    {{"centernet", AnswerKind::kBoxes, "CenterNet: heat maps 1xCxHxW, sizes and offsets 1x2xHxW, in cells"},
     CenterNetBoxes},
    {{"ssd-rows", AnswerKind::kBoxes, "Caffe's SSD: rows 1x1xNx7 of DetectionOutput"}, SsdRows},
    {{"ssd", AnswerKind::kBoxes, "ONNX's SSD: boxes 1xNx4, labels 1xN and scores 1xN"}, SsdBoxes},
    {{"tf-ssd", AnswerKind::kBoxes,
      "TensorFlow's SSD: boxes 1xNx4 as top, left, bottom, right, classes 1xN and scores 1xN"},
     TfSsdBoxes},
    {{"detr", AnswerKind::kBoxes,
      "DETR: logits 1xNx(C+1) and boxes 1xNx4 as centre and size, as shares of the input"},
     DetrBoxes},
    {{"yolo-v5", AnswerKind::kBoxes, "YOLOv5 to v7: rows 1xNx(5+C)"}, YoloV5Boxes},
    {{"yolo-v8", AnswerKind::kBoxes, "YOLOv8, v9 and v11: columns 1x(4+C)xN"}, YoloV8Boxes},
    {{"yolo-end-to-end", AnswerKind::kBoxes,
      "YOLOv10 and exports with a suppression of their own: rows 1xNx6 of corners, score and class"},
     YoloEndBoxes},
    {{"yolo-x", AnswerKind::kBoxes, "YOLOX: rows 1xNx(5+C) in cells of 8, 16 and 32 pixels"}, YoloXBoxes},
    {{"yolo-grid", AnswerKind::kBoxes, "YOLOv5 without its decoding: grids 1x(A*(5+C))xHxW, with anchors"},
     YoloGridBoxes},
    {{"yolo-v3", AnswerKind::kBoxes, "YOLOv3 and its tiny form: raw grids 1x(A*(5+C))xHxW, with anchors"},
     YoloV3Boxes},
    {{"yolo-v4", AnswerKind::kBoxes, "YOLOv4 and its tiny form: raw grids 1x(A*(5+C))xHxW, with anchors"},
     YoloV4Boxes},
    {{"classes", AnswerKind::kMask,
      "segmentation: planes 1xCxHxW of the classes' scores, or integers 1x1xHxW, 1xHxW or HxW"}},
    {{"picture", AnswerKind::kPicture,
      "super resolution and filters: 1x3xHxW or, of the brightness alone, 1x1xHxW"}},
    {{"heat-maps", AnswerKind::kPoints, "keypoints: a heat map 1xKxHxW for each"}},
};

const HeadRow& HeadNamed(const std::string& name) {
  std::vector<std::string> names;
  for (const HeadRow& row : kHeads) {
    if (name == row.head.name) return row;
    names.push_back(row.head.name);
  }
  Invalid("head", "no such head; got '{}'{}", name, ExpectedOneOf(name, names));
}

}  // namespace

const char* Name(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kBoxes: return "boxes";
    case AnswerKind::kMask: return "mask";
    case AnswerKind::kPicture: return "picture";
    case AnswerKind::kPoints: break;
  }
  return "keypoints";
}

std::span<const AnswerHead> AnswerHeads() {
  static const std::vector<AnswerHead> heads = [] {
    std::vector<AnswerHead> all;
    for (const HeadRow& row : kHeads) all.push_back(row.head);
    return all;
  }();
  return heads;
}

PictureAnswer DecodeAnswer(std::span<const HeadOutput> outputs, const Image& picture,
                           const Preprocess& settings, const Shape& input) {
  const HeadRow& row = HeadNamed(settings.head.name);
  if (settings.head.most < 0)
    Invalid("most", "cannot be negative; got {}, expected a number of boxes", settings.head.most);
  const HeadOutputs found(row.head.name, outputs);
  const HeadInput from{picture, settings, input, PlaceOf(picture, settings, input)};
  PictureAnswer answer{.kind = row.head.kind};
  switch (row.head.kind) {
    case AnswerKind::kBoxes: {
      Boxes boxes = row.boxes(found, from);
      answer.boxes = std::move(boxes.boxes);
      answer.points = std::move(boxes.points);
      break;
    }
    case AnswerKind::kMask: answer.mask = ClassMask(found, from); break;
    case AnswerKind::kPicture: answer.picture = OutputPicture(found, from); break;
    case AnswerKind::kPoints: answer.points = HeatPoints(found, from); break;
  }
  return answer;
}

std::span<const PicturePoint> PointsOfBox(const PictureAnswer& answer, size_t i) {
  if (answer.kind != AnswerKind::kBoxes || i >= answer.boxes.size()) return {};
  const size_t each = answer.points.size() / answer.boxes.size();
  return std::span(answer.points).subspan(i * each, each);
}

}  // namespace mete
