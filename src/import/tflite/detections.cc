// Conversions of operators that choose the boxes with the best scores so that they overlap little, and of
// TFLite_Detection_PostProcess, the end of an SSD, where boxes relative to anchors first become corners. Its
// options are a map in the flexible form of FlatBuffers.
#include <flatbuffers/flexbuffers.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "import/tflite/builder.h"

namespace mete::tflite_import {
namespace {

struct Settings {
  int64_t most = 0;      // detections
  int64_t of_class = 0;  // detections of a class, if classes are chosen each for itself
  int64_t classes = 0;   // without the background
  int64_t per_anchor = 0;
  bool each_class = false;  // whether boxes of different classes may overlap
  float least_score = 0, most_overlap = 0;
  float scales[4] = {1, 1, 1, 1};  // of y, x, height and width
};

class Options {
 public:
  explicit Options(const Op& op) : op_(op) {
    constexpr size_t kMost = 4096;  // bytes; those of real models are below 300
    const auto bytes = op.custom_options();
    if (bytes.size() > kMost)
      op.Bad("its options are too long; got {} bytes, expected at most {}", bytes.size(), kMost);
    // The values are aligned to their place in the map, whose place in the file is any.
    aligned_.resize(bytes.size() / sizeof(uint64_t) + 1);
    if (!bytes.empty()) std::memcpy(aligned_.data(), bytes.data(), bytes.size());
    const auto* data = reinterpret_cast<const uint8_t*>(aligned_.data());
    if (!flexbuffers::VerifyBuffer(data, bytes.size()) || !flexbuffers::GetRoot(data, bytes.size()).IsMap())
      op.Bad("its options are damaged; got {} bytes, expected a map", bytes.size());
    map_ = flexbuffers::GetRoot(data, bytes.size()).AsMap();
  }

  double Number(const char* key, double least, double most, std::optional<double> fallback = {}) const {
    const flexbuffers::Reference value = map_[key];
    if (value.IsNull() && fallback) return *fallback;
    double number = NAN;
    if (value.IsBool()) number = value.AsBool();
    else if (value.IsNumeric()) number = value.AsDouble();
    if (!(number >= least && number <= most))
      op_.Bad("its option {} is out of range; got {}, expected {} to {}", key, number, least, most);
    return number;
  }

 private:
  const Op& op_;
  std::vector<uint64_t> aligned_;
  flexbuffers::Map map_ = flexbuffers::Map::EmptyMap();
};

Settings SettingsOf(const Op& op) {
  constexpr double kMost = 1 << 20, kAny = std::numeric_limits<float>::max();
  const Options options(op);
  Settings s;
  s.most = int64_t(options.Number("max_detections", 1, kMost));
  s.classes = int64_t(options.Number("num_classes", 1, kMost));
  s.per_anchor = int64_t(options.Number("max_classes_per_detection", 1, kMost, 1));
  s.of_class = int64_t(options.Number("detections_per_class", 1, kMost, 100));
  s.each_class = options.Number("use_regular_nms", 0, 1, 0) != 0;
  s.least_score = float(options.Number("nms_score_threshold", -kAny, kAny));
  s.most_overlap = float(options.Number("nms_iou_threshold", 0, 1));
  const char* keys[] = {"y_scale", "x_scale", "h_scale", "w_scale"};
  for (size_t i = 0; i < 4; ++i) s.scales[i] = float(options.Number(keys[i], 1e-6, kAny));
  return s;
}

// Returns 1 x boxes x 4: the upper, left, lower and right edge of each box.
ValueId Corners(const Op& op, const Settings& s, int64_t boxes) {
  const auto parts = [&](ValueId x) { return op.EmitAll("Split", {x, op.Ints({1, 1, 1, 1})}, AxisOf(2), 4); };
  const auto of_box = parts(op.in(0)), of_anchor = parts(op.Reshape(op.in(2), {1, boxes, 4}));
  std::vector<ValueId> least, most;
  for (size_t i = 0; i < 2; ++i) {
    const ValueId size = of_anchor[i + 2];
    const ValueId moved = op.Emit("Mul", {op.Emit("Div", {of_box[i], op.Scalar(s.scales[i])}), size});
    const ValueId middle = op.Emit("Add", {moved, of_anchor[i]});
    const ValueId grown = op.Emit("Exp", {op.Emit("Div", {of_box[i + 2], op.Scalar(s.scales[i + 2])})});
    const ValueId half = op.Emit("Mul", {op.Emit("Mul", {grown, size}), op.Scalar(0.5f)});
    least.push_back(op.Emit("Sub", {middle, half}));
    most.push_back(op.Emit("Add", {middle, half}));
  }
  return op.Emit("Concat", {least[0], least[1], most[0], most[1]}, AxisOf(2));
}

// What the choice of boxes gives, as many as it finds.
struct Found {
  ValueId boxes, classes, scores;
};

// Chooses by `scores`, 1 x classes x boxes. Returns batch, class and box of each choice.
ValueId Chosen(const Op& op, const Settings& s, ValueId corners, ValueId scores, int64_t of_class) {
  return op.Emit("NonMaxSuppression",
                 {corners, scores, op.Ints({of_class}), op.Scalar(s.most_overlap), op.Scalar(s.least_score)});
}

ValueId Column(const Op& op, ValueId chosen, int64_t column) {
  return op.Emit("Gather", {chosen, op.Integer(column)}, AxisOf(1));
}

Found OfEachClass(const Op& op, const Settings& s, ValueId corners, ValueId scores) {
  const ValueId by_class = op.Transpose(scores, {0, 2, 1});
  const ValueId chosen = Chosen(op, s, corners, by_class, s.of_class);
  return {Column(op, chosen, 2), Column(op, chosen, 1), op.Emit("GatherND", {by_class, chosen})};
}

// Each box has its best class.
Found OfBestClass(const Op& op, const Settings& s, ValueId corners, ValueId scores) {
  const int64_t boxes = op.ShapeOf(scores)[1];
  const ValueId best = op.Reshape(op.Emit("ReduceMax", {scores, op.Ints({2})}), {1, 1, boxes});
  const ValueId of_box = op.Reshape(op.Emit("ArgMax", {scores}, AxisOf(2)), {boxes});
  const ValueId box = Column(op, Chosen(op, s, corners, best, s.most), 2);
  return {box, op.Emit("Gather", {of_box, box}), op.Emit("Gather", {op.Reshape(best, {boxes}), box})};
}

// The outputs have room for all detections; what is not found is 0.
void OutDetections(const Op& op, const Settings& s, ValueId corners, const Found& found) {
  constexpr float kNone = std::numeric_limits<float>::lowest();
  const ValueId zeros = op.Filled(op.Integer(0), Shape{s.most});
  const auto padded = [&](ValueId x, ValueId by) { return op.Emit("Concat", {x, by}, AxisOf(0)); };
  const auto top = op.EmitAll(
      "TopK", {padded(found.scores, op.Filled(op.Scalar(kNone), Shape{s.most})), op.Ints({s.most})}, {}, 2);
  const auto best = [&](ValueId x) { return op.Emit("Gather", {padded(x, zeros), top[1]}); };
  const ValueId is_found = op.Emit("Greater", {top[0], op.Scalar(kNone)});
  const ValueId mask = op.Cast(is_found, DType::kF32);
  const ValueId corners_of =
      op.Emit("Gather", {op.Reshape(corners, {op.ShapeOf(corners)[1], 4}), best(found.boxes)});
  const ValueId column = op.Reshape(mask, {s.most, 1});
  op.Out(0, Order::kFile, op.Emit("Mul", {corners_of, column}), {1, s.most, 4});
  if (op.outputs() > 1)
    op.Out(1, Order::kFile, op.Emit("Mul", {op.Cast(best(found.classes), DType::kF32), mask}), {1, s.most});
  if (op.outputs() > 2)
    op.Out(2, Order::kFile, op.Emit("Where", {is_found, top[0], op.Scalar(0)}), {1, s.most});
  if (op.outputs() > 3) op.Out(3, Order::kFile, op.Emit("ReduceSum", {mask}), {1});
}

// Gives output i the elements of `found`, as many as there are, and zeros up to `most`.
void OutPadded(const Op& op, int i, ValueId found, ValueId zero, int64_t most) {
  const ValueId padded = op.Emit("Concat", {found, op.Filled(zero, Shape{most})}, AxisOf(0));
  op.Out(i, Order::kFile, op.Emit("Slice", {padded, op.Ints({0}), op.Ints({most})}), {most});
}

// Returns by how much boxes may overlap: an overlap of the limit in the file is too much already.
float MostOverlap(const Op& op) {
  const float limit = op.FloatOf(3, "limit of the overlap");
  if (!(limit > 0)) op.Unsupported("it drops boxes that do not overlap");
  return std::nextafter(limit, 0.0f);
}

// Outputs are the boxes that are chosen, in version 5 their scores, and their number.
void NonMaxSuppression(Op& op) {
  const bool with_scores = op.code() == tflite::BuiltinOperator::NON_MAX_SUPPRESSION_V5;
  const Shape scores = op.shape(1);
  const int64_t most = op.IntOf(2, "number of boxes");
  if (scores.rank() != 1 || op.shape(0) != Shape{scores[0], 4} || most < 0)
    op.Bad("its inputs do not fit; got {} and {} for {} boxes", ToString(op.shape(0)), ToString(scores),
           most);
  if (with_scores && op.FloatOf(5, "sigma") != 0)
    op.Unsupported("it lowers the scores of boxes that overlap others");
  const int64_t boxes = scores[0];
  const ValueId chosen =
      op.Emit("NonMaxSuppression", {op.Reshape(op.in(0), {1, boxes, 4}), op.Reshape(op.in(1), {1, 1, boxes}),
                                    op.Ints({most}), op.Scalar(MostOverlap(op)), op.in(4)});
  const ValueId places = Column(op, chosen, 2);
  const int count = with_scores ? 2 : 1;
  OutPadded(op, 0, op.Cast(places, op.out_info(0).type), op.Cast(op.Integer(0), op.out_info(0).type), most);
  if (with_scores && op.outputs() > 1)
    OutPadded(op, 1, op.Emit("Gather", {op.in(1), places}), op.Scalar(0), most);
  if (op.outputs() > count)
    op.Out(count, Order::kFile, op.Cast(op.Emit("Shape", {places}), op.out_info(count).type), Shape{});
}

using Code = tflite::BuiltinOperator;

constexpr Row kDetectionsRows[] = {
    {Code::NON_MAX_SUPPRESSION_V4, 5, 5, 2, NonMaxSuppression},
    {Code::NON_MAX_SUPPRESSION_V5, 6, 6, 3, NonMaxSuppression},
};

}  // namespace

std::span<const Row> DetectionRows() { return kDetectionsRows; }

void ConvertDetections(Op& op) {
  const Settings s = SettingsOf(op);
  const Shape boxes = op.shape(0), scores = op.shape(1), anchors = op.shape(2);
  if (s.per_anchor > 1 && !s.each_class) op.Unsupported("it gives a box more than one class");
  const bool fit = boxes.rank() == 3 && boxes[0] == 1 && boxes[1] > 0 && boxes[2] == 4 &&
                   scores.rank() == 3 && scores[0] == 1 && scores[1] == boxes[1] &&
                   anchors == Shape{boxes[1], 4};
  if (!fit || (scores[2] != s.classes && scores[2] != s.classes + 1))
    op.Bad("its inputs do not fit; got {}, {} and {} for {} classes", ToString(boxes), ToString(scores),
           ToString(anchors), s.classes);
  ValueId of_classes = op.in(1);
  if (scores[2] > s.classes)  // without the background, which is first
    of_classes = op.Emit("Slice", {of_classes, op.Ints({1}), op.Ints({scores[2]}), op.Ints({2})});
  const ValueId corners = Corners(op, s, boxes[1]);
  OutDetections(
      op, s, corners,
      s.each_class ? OfEachClass(op, s, corners, of_classes) : OfBestClass(op, s, corners, of_classes));
}

}  // namespace mete::tflite_import
