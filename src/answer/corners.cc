// Detectors whose boxes are shares of the input's width and height.
#include <algorithm>
#include <cmath>

#include "answer/candidates.h"
#include "answer/heads.h"
#include "answer/numbers.h"

namespace mete {
namespace {

constexpr int64_t kAny = HeadOutputs::kAny;

// Returns whether the numbers are pixels of the input instead of shares: the boxes of some exporters are.
bool ArePixels(const std::vector<float>& boxes) {
  // A share may lie a little outside of the picture; this bound is a guess.
  constexpr float kMostShare = 4;
  return std::any_of(boxes.begin(), boxes.end(), [](float v) { return v > kMostShare; });
}

// Returns some columns of rows 1xNxC.
HeadValues ColumnsOf(const HeadValues& rows, int64_t begin, int64_t end) {
  HeadValues columns{rows.name, {1, rows.dim(1), end - begin}, {}, rows.integers};
  for (int64_t i = 0; i < rows.dim(1); ++i) {
    const float* row = rows.row(i, rows.dim(2));
    columns.values.insert(columns.values.end(), row + begin, row + end);
  }
  return columns;
}

// The box of four numbers: centre, width and height.
CornerBox CenteredAt(const float* v) { return Centered(v[0], v[1], v[2], v[3]); }

bool AreWhole(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return v == std::floor(v); });
}

}  // namespace

// Class 0 is the background.
void CornerBoxes(const HeadOutputs& outputs, const HeadInput&, BoxCandidates& found) {
  const HeadValues boxes = outputs.Find("boxes", {1, kAny, 4}, "box loc");
  const HeadValues scores = outputs.Find("scores", {1, boxes.dim(1), kAny}, "score conf", boxes.name);
  const int64_t classes = scores.dim(2);
  if (classes < 2) outputs.Fail("the scores have no class beside the background", "2 classes or more");
  for (int64_t i = 0; i < boxes.dim(1); ++i) {
    const float* box = boxes.row(i, 4);
    const BestClass best = BestOf(scores.row(i, classes) + 1, classes - 1, 1, 1);
    found.AddRelative({box[0], box[1], box[2], box[3]}, best.score, best.label);
  }
}

// Rows of image, label, score and corners, of which the network has left out those that overlap. Where it
// has found nothing, there is a row of image and -1.
void SsdRows(const HeadOutputs& outputs, const HeadInput&, BoxCandidates& found) {
  const HeadValues rows = outputs.Find("rows of boxes", {kAny, kAny, kAny, 7});
  for (int64_t i = 0; i < rows.shape.Elements() / 7; ++i) {
    const float* row = rows.row(i, 7);
    if (row[1] >= 0) found.AddRelative({row[3], row[4], row[5], row[6]}, row[2], LabelOf(row[1]));
  }
}

// Boxes, labels and scores of an ONNX SSD, which has left out those that overlap.
void SsdBoxes(const HeadOutputs& outputs, const HeadInput&, BoxCandidates& found) {
  const HeadValues boxes = outputs.Find("boxes", {1, kAny, 4}, "box");
  const HeadValues labels = outputs.FindOfAnyType("labels", {1, boxes.dim(1)}, "label class");
  const HeadValues scores = outputs.Find("scores", {1, boxes.dim(1)}, "score", labels.name);
  const bool pixels = ArePixels(boxes.values);
  for (int64_t i = 0; i < boxes.dim(1); ++i) {
    const float* v = boxes.row(i, 4);
    const CornerBox box{v[0], v[1], v[2], v[3]};
    const int label = LabelOf(labels.values[size_t(i)]);
    if (pixels) found.Add(box, scores.values[size_t(i)], label);
    else found.AddRelative(box, scores.values[size_t(i)], label);
  }
}

// Boxes as top, left, bottom and right, classes and scores of TensorFlow's SSDs, which have left out those
// that overlap. Files of TensorFlow 2 have names without a meaning, and either order of classes and scores.
void TfSsdBoxes(const HeadOutputs& outputs, const HeadInput&, BoxCandidates& found) {
  const HeadValues boxes = outputs.Find("boxes", {1, kAny, 4}, "box");
  HeadValues labels = outputs.FindOfAnyType("classes", {1, boxes.dim(1)}, "label class");
  HeadValues scores = outputs.FindOfAnyType("scores", {1, boxes.dim(1)}, "score", labels.name);
  if (!AreWhole(labels.values) && AreWhole(scores.values)) std::swap(labels, scores);
  outputs.RefuseIntegers(scores);
  for (int64_t i = 0; i < boxes.dim(1); ++i) {
    const float* v = boxes.row(i, 4);
    found.AddRelative({v[1], v[0], v[3], v[2]}, scores.values[size_t(i)], LabelOf(labels.values[size_t(i)]));
  }
}

// Logits, whose last class says that a query has found nothing, and centre, width and height.
void DetrBoxes(const HeadOutputs& outputs, const HeadInput&, BoxCandidates& found) {
  const HeadValues boxes = outputs.Find("boxes", {1, kAny, 4}, "box");
  const HeadValues logits = outputs.Find("logits", {1, boxes.dim(1), kAny}, "logit class", boxes.name);
  const int64_t classes = logits.dim(2);
  if (classes < 2) outputs.Fail("the logits have no class beside 'nothing'", "2 classes or more");
  for (int64_t i = 0; i < boxes.dim(1); ++i) {
    const float* row = logits.row(i, classes);
    const BestClass best = BestOf(row, classes - 1);
    const float most = std::max(best.score, row[classes - 1]);
    double sum = 0;
    for (int64_t c = 0; c < classes; ++c) sum += std::exp(double(row[c]) - most);
    found.AddRelative(CenteredAt(boxes.row(i, 4)), float(std::exp(double(best.score) - most) / sum),
                      best.label);
  }
}

// Scores or logits of each class, of which none is the background, and boxes as those of DETR, in an output
// of their own or before the scores.
void RtDetrBoxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  const bool apart = outputs.FindIfAny({1, kAny, 4}, "box det");
  const HeadValues first = outputs.Find("boxes", {1, kAny, apart ? 4 : kAny}, "box det");
  if (!apart && first.dim(2) <= 4) outputs.Fail("the scores have no class", "a class or more");
  const HeadValues boxes = ColumnsOf(first, 0, 4);
  const HeadValues scores =
      apart ? outputs.Find("scores", {1, boxes.dim(1), kAny}, "logit score class label", first.name)
            : ColumnsOf(first, 4, first.dim(2));
  const int64_t classes = scores.dim(2);
  if (classes < 1) outputs.Fail("the scores have no class", "a class or more");
  if (ArePixels(boxes.values))
    outputs.Fail("the boxes are pixels of the input", "shares of it, as RT-DETR has them");
  outputs.CheckShown(classes, input.settings.head);
  const bool logits = LackSigmoid(scores.values);
  for (int64_t i = 0; i < scores.dim(1); ++i) {
    const BestClass best = BestOf(scores.row(i, classes), classes);
    found.AddRelative(CenteredAt(boxes.row(i, 4)), logits ? SigmoidOf(best.score) : best.score, best.label);
  }
}

}  // namespace mete
