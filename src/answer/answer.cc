// The table of heads, and the choice of a decoder.
#include "mete/answer.h"

#include <algorithm>

#include "answer/heads.h"
#include "base/error.h"
#include "base/nearest.h"

namespace mete {
namespace {

using enum BoxCandidates::Overlapping;

struct HeadRow {
  char name[18];  // not a pointer, which the loader would have to set
  AnswerKind kind;
  const char* help;
  BoxDecoder* boxes = nullptr;  // of heads of this kind
  BoxCandidates::Overlapping overlapping = kLeaveOut;
  bool planes = false;             // whether outputs of four dimensions are planes
  PointDecoder* points = nullptr;  // of heads of this kind
};

constexpr HeadRow kHeads[] = {
    {"corners", AnswerKind::kBoxes,
     "boxes 1xNx4, corners as shares of the input, and scores 1xNxC with the background as class 0",
     CornerBoxes},
    {"ultraface", AnswerKind::kBoxes,
     "Ultra-Light-Fast-Generic-Face-Detector without its decoding: offsets 1xNx4 and scores 1xNx2",
     UltraFaceBoxes},
    {"retinaface", AnswerKind::kBoxes,
     "RetinaFace with steps of 8, 16 and 32 pixels: offsets 1xNx4, scores 1xNx2 and, where there are "
     "points, 1xNx10",
     RetinaFaceBoxes},
    {"mediapipe", AnswerKind::kBoxes,
     "MediaPipe's detectors of faces, palms and persons: rows 1xNx(4+2*K) of a box and K points in pixels, "
     "and logits 1xNx1",
     MediaPipeBoxes},
    {.name = "fastestdet",
     .kind = AnswerKind::kBoxes,
     .help = "FastestDet: one grid 1x(5+C)xHxW",
     .boxes = FastestDetBoxes,
     .planes = true},
    {.name = "centernet",
     .kind = AnswerKind::kBoxes,
     .help = "CenterNet: heat maps 1xCxHxW, sizes and offsets 1x2xHxW, in cells",
     .boxes = CenterNetBoxes,
     .overlapping = kKeep,
     .planes = true},
    {"nanodet", AnswerKind::kBoxes,
     "NanoDet and NanoDet-Plus: rows 1xNx(C+32) of scores and distances, in cells of 8, 16, 32 and, in "
     "NanoDet-Plus, 64 pixels",
     NanoDetBoxes},
    {"ssd-rows", AnswerKind::kBoxes, "Caffe's SSD: rows 1x1xNx7 of DetectionOutput", SsdRows, kKeep},
    {"ssd", AnswerKind::kBoxes, "ONNX's SSD: boxes 1xNx4, labels 1xN and scores 1xN", SsdBoxes, kKeep},
    {"tf-ssd", AnswerKind::kBoxes,
     "TensorFlow's SSD: boxes 1xNx4 as top, left, bottom, right, classes 1xN and scores 1xN", TfSsdBoxes,
     kKeep},
    {"detr", AnswerKind::kBoxes,
     "DETR: logits 1xNx(C+1) and boxes 1xNx4 as centre and size, as shares of the input", DetrBoxes, kKeep},
    {"rt-detr", AnswerKind::kBoxes,
     "RT-DETR: scores or logits 1xNxC and boxes as those of DETR, or rows 1xNx(4+C) of boxes and scores",
     RtDetrBoxes, kKeep},
    {"yolo-v5", AnswerKind::kBoxes, "YOLOv5 to v7: rows 1xNx(5+C)", YoloV5Boxes},
    {"yolo-v8", AnswerKind::kBoxes, "YOLOv8, v9 and v11: columns 1x(4+C)xN", YoloV8Boxes},
    {"yolo-pose", AnswerKind::kBoxes,
     "poses by YOLOv8 and v11: columns 1x(5+3*K)xN of a box, its score and K points with a score each",
     YoloPoseBoxes},
    {"yolo-end-to-end", AnswerKind::kBoxes,
     "YOLOv10 and exports with a suppression of their own: rows 1xNx6 of corners, score and class",
     YoloEndBoxes, kKeep},
    {"yolo-x", AnswerKind::kBoxes, "YOLOX: rows 1xNx(5+C) in cells of 8, 16 and 32 pixels", YoloXBoxes},
    {.name = "yolo-grid",
     .kind = AnswerKind::kBoxes,
     .help = "YOLOv5 without its decoding: grids 1x(A*(5+C))xHxW, with anchors",
     .boxes = YoloGridBoxes,
     .planes = true},
    {.name = "yolo-v3",
     .kind = AnswerKind::kBoxes,
     .help = "YOLOv3 and its tiny form: raw grids 1x(A*(5+C))xHxW, with anchors",
     .boxes = YoloV3Boxes,
     .planes = true},
    {.name = "yolo-v4",
     .kind = AnswerKind::kBoxes,
     .help = "YOLOv4 and its tiny form: raw grids 1x(A*(5+C))xHxW, with anchors",
     .boxes = YoloV4Boxes,
     .planes = true},
    {"movenet-multipose", AnswerKind::kBoxes,
     "MoveNet of several persons: rows 1xNx56 of 17 points as those of movenet, and top, left, bottom, "
     "right and score",
     MoveNetBoxes, kKeep},
    {.name = "classes",
     .kind = AnswerKind::kMask,
     .help = "segmentation: planes 1xCxHxW of the classes' scores, or integers 1x1xHxW, 1xHxW or HxW",
     .planes = true},
    {.name = "picture",
     .kind = AnswerKind::kPicture,
     .help = "super resolution and filters: 1x3xHxW or, of the brightness alone, 1x1xHxW",
     .planes = true},
    {.name = "heat-maps",
     .kind = AnswerKind::kPoints,
     .help = "keypoints: a heat map 1xKxHxW for each",
     .planes = true,
     .points = HeatPoints},
    {.name = "posenet",
     .kind = AnswerKind::kPoints,
     .help = "PoseNet of one person: heat maps 1xKxHxW and offsets 1x(2*K)xHxW in pixels",
     .planes = true,
     .points = PoseNetPoints},
    {.name = "movenet",
     .kind = AnswerKind::kPoints,
     .help = "MoveNet of one person: 1x1xKx3 of y, x and score, as shares of the input",
     .points = MoveNetPoints},
};

const HeadRow& HeadNamed(const std::string& name) {
  std::vector<std::string> names;
  for (const HeadRow& row : kHeads) {
    if (name == row.name) return row;
    names.push_back(row.name);
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
    for (const HeadRow& row : kHeads) all.push_back({row.name, row.kind, row.help});
    return all;
  }();
  return heads;
}

PictureAnswer DecodeAnswer(std::span<const HeadOutput> outputs, const Image& picture,
                           const Preprocess& settings, const Shape& input) {
  const HeadRow& row = HeadNamed(settings.head.name);
  if (settings.head.most < 0)
    Invalid("most", "cannot be negative; got {}, expected a number of boxes", settings.head.most);
  if (!std::is_sorted(settings.head.classes.begin(), settings.head.classes.end()))
    Invalid("classes", "are not in order; expected rising numbers");
  const HeadOutputs found(row.name, outputs, settings.head.layout);
  if (settings.head.layout == TensorOrder::kNhwc && !row.planes)
    found.Fail("no outputs of it are planes", "nchw", "it without output_layout");
  if (row.kind == AnswerKind::kPicture && !settings.head.classes.empty())
    found.Fail("a picture has no classes", "no classes", "it without the key classes");
  const HeadInput from{picture, settings, input, PlaceOf(picture, settings, input)};
  PictureAnswer answer{.kind = row.kind};
  switch (row.kind) {
    case AnswerKind::kBoxes: {
      BoxCandidates candidates(settings.head, from.place);
      row.boxes(found, from, candidates);
      candidates.AddTo(answer, row.overlapping);
      break;
    }
    case AnswerKind::kMask: answer.mask = ClassMask(found, from); break;
    case AnswerKind::kPicture: answer.picture = OutputPicture(found, from); break;
    case AnswerKind::kPoints: answer.points = row.points(found, from); break;
  }
  return answer;
}

std::span<const PicturePoint> PointsOfBox(const PictureAnswer& answer, size_t i) {
  if (answer.kind != AnswerKind::kBoxes || i >= answer.boxes.size()) return {};
  const size_t each = answer.points.size() / answer.boxes.size();
  return std::span(answer.points).subspan(i * each, each);
}

}  // namespace mete
