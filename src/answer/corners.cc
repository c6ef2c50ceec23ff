// Detectors whose boxes are shares of the input's width and height.
#include <algorithm>
#include <cmath>

#include "answer/candidates.h"
#include "answer/heads.h"

namespace mete {
namespace {

constexpr int64_t kAny = HeadOutputs::kAny;

// Returns whether the numbers are pixels of the input instead of shares: the boxes of some exporters are.
bool ArePixels(const std::vector<float>& boxes) {
  // A share may lie a little outside of the picture; this bound is a guess.
  constexpr float kMostShare = 4;
  return std::any_of(boxes.begin(), boxes.end(), [](float v) { return v > kMostShare; });
}

bool AreWhole(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return v == std::floor(v); });
}

}  // namespace

// Class 0 is the background.
Boxes CornerBoxes(const HeadOutputs& outputs, const HeadInput& input) {
  const HeadValues boxes = outputs.Find("boxes", {1, kAny, 4}, {"box", "loc"});
  const HeadValues scores = outputs.Find("scores", {1, boxes.dim(1), kAny}, {"score", "conf"}, boxes.name);
  const int64_t classes = scores.dim(2);
  if (classes < 2) outputs.Fail("the scores have no class beside the background", "2 classes or more");
  BoxCandidates candidates(input.settings.head, input.place);
  for (int64_t i = 0; i < boxes.dim(1); ++i) {
    const float* box = boxes.row(i, 4);
    const BestClass best = BestOf(scores.row(i, classes) + 1, classes - 1, 1, 1);
    candidates.AddRelative({box[0], box[1], box[2], box[3]}, best.score, best.label);
  }
  return candidates.Boxes(BoxCandidates::Overlapping::kLeaveOut);
}

// Rows of image, label, score and corners, of which the network has left out those that overlap. Where it
// has found nothing, there is a row of image and -1.
Boxes SsdRows(const HeadOutputs& outputs, const HeadInput& input) {
  const std::vector<HeadValues> found = outputs.OfRank("rows of boxes", 4);
  const auto at = std::find_if(found.begin(), found.end(), [](const auto& v) { return v.dim(3) == 7; });
  if (at == found.end()) outputs.Fail("no output has rows of boxes", "1x1xNx7");
  const HeadValues& rows = *at;
  BoxCandidates candidates(input.settings.head, input.place);
  for (int64_t i = 0; i < rows.shape.Elements() / 7; ++i) {
    const float* row = rows.row(i, 7);
    if (row[1] >= 0) candidates.AddRelative({row[3], row[4], row[5], row[6]}, row[2], LabelOf(row[1]));
  }
  return candidates.Boxes(BoxCandidates::Overlapping::kKeep);
}

// Boxes, labels and scores of an ONNX SSD, which has left out those that overlap.
Boxes SsdBoxes(const HeadOutputs& outputs, const HeadInput& input) {
  const HeadValues boxes = outputs.Find("boxes", {1, kAny, 4}, {"box"});
  const HeadValues labels = outputs.Find("labels", {1, boxes.dim(1)}, {"label", "class"});
  const HeadValues scores = outputs.Find("scores", {1, boxes.dim(1)}, {"score"}, labels.name);
  const bool pixels = ArePixels(boxes.values);
  BoxCandidates candidates(input.settings.head, input.place);
  for (int64_t i = 0; i < boxes.dim(1); ++i) {
    const float* v = boxes.row(i, 4);
    const CornerBox box{v[0], v[1], v[2], v[3]};
    const int label = LabelOf(labels.values[size_t(i)]);
    if (pixels) candidates.Add(box, scores.values[size_t(i)], label);
    else candidates.AddRelative(box, scores.values[size_t(i)], label);
  }
  return candidates.Boxes(BoxCandidates::Overlapping::kKeep);
}

// Boxes as top, left, bottom and right, classes and scores of TensorFlow's SSDs, which have left out those
// that overlap. Files of TensorFlow 2 have names without a meaning, and either order of classes and scores.
Boxes TfSsdBoxes(const HeadOutputs& outputs, const HeadInput& input) {
  const HeadValues boxes = outputs.Find("boxes", {1, kAny, 4}, {"box"});
  HeadValues labels = outputs.Find("classes", {1, boxes.dim(1)}, {"label", "class"});
  HeadValues scores = outputs.Find("scores", {1, boxes.dim(1)}, {"score"}, labels.name);
  if (!AreWhole(labels.values) && AreWhole(scores.values)) std::swap(labels, scores);
  BoxCandidates candidates(input.settings.head, input.place);
  for (int64_t i = 0; i < boxes.dim(1); ++i) {
    const float* v = boxes.row(i, 4);
    candidates.AddRelative({v[1], v[0], v[3], v[2]}, scores.values[size_t(i)],
                           LabelOf(labels.values[size_t(i)]));
  }
  return candidates.Boxes(BoxCandidates::Overlapping::kKeep);
}

// Logits, whose last class says that a query has found nothing, and centre, width and height.
Boxes DetrBoxes(const HeadOutputs& outputs, const HeadInput& input) {
  const HeadValues boxes = outputs.Find("boxes", {1, kAny, 4}, {"box"});
  const HeadValues logits = outputs.Find("logits", {1, boxes.dim(1), kAny}, {"logit", "class"}, boxes.name);
  const int64_t classes = logits.dim(2);
  if (classes < 2) outputs.Fail("the logits have no class beside 'nothing'", "2 classes or more");
  BoxCandidates candidates(input.settings.head, input.place);
  for (int64_t i = 0; i < boxes.dim(1); ++i) {
    const float* row = logits.row(i, classes);
    const BestClass best = BestOf(row, classes - 1);
    const float most = std::max(best.score, row[classes - 1]);
    double sum = 0;
    for (int64_t c = 0; c < classes; ++c) sum += std::exp(double(row[c]) - most);
    const float* v = boxes.row(i, 4);
    candidates.AddRelative({v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2},
                           float(std::exp(double(best.score) - most) / sum), best.label);
  }
  return candidates.Boxes(BoxCandidates::Overlapping::kKeep);
}

}  // namespace mete
