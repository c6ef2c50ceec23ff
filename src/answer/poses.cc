// Points, such as the joints of a body, alone or of each box.
#include "answer/candidates.h"
#include "answer/heads.h"
#include "answer/numbers.h"

namespace mete {
namespace {

constexpr int64_t kAny = HeadOutputs::kAny;

// The number of values of a point: its position and its score.
constexpr int64_t kPointValues = 3;

// The joints of COCO's persons.
constexpr int64_t kJoints = 17;

// Adds a point in pixels of the input, unless its score is below the least one.
void AddPoint(double x, double y, float score, int label, const HeadInput& input,
              std::vector<PicturePoint>& found) {
  const HeadSettings& settings = input.settings.head;
  if (!(score >= settings.least_score) || !IsShown(label, settings)) return;
  const auto [across, down] = input.place.InPicture(x, y);
  found.push_back({float(across), float(down), score, label});
}

enum class PointOrder { kXFirst, kYFirst };

// Reads `points`, whose values lie `step` apart.
void ReadPoints(const float* v, int64_t step, PointOrder order, std::vector<PicturePoint>& points) {
  const int64_t x = order == PointOrder::kXFirst ? 0 : step, y = step - x;
  for (size_t k = 0; k < points.size(); ++k, v += kPointValues * step)
    points[k] = {v[x], v[y], v[2 * step], int(k)};
}

}  // namespace

// The highest cell of each heat map of 1xKxHxW.
std::vector<PicturePoint> HeatPoints(const HeadOutputs& outputs, const HeadInput& input) {
  const HeadValues maps = outputs.Find("heat maps", {1, kAny, kAny, kAny}, "heat hm");
  const int64_t width = maps.dim(3), cells = maps.dim(2) * width;
  std::vector<PicturePoint> points;
  if (cells < 1) return points;  // and the number of maps may be any
  outputs.CheckShown(maps.dim(1), input.settings.head);
  for (int64_t k = 0; k < maps.dim(1); ++k) {
    const BestClass best = BestOf(maps.row(k, cells), cells);
    AddPoint((double(best.label % width) + 0.5) / double(width) * input.place.input_width,
             (double(best.label / width) + 0.5) / double(maps.dim(2)) * input.place.input_height, best.score,
             int(k), input, points);
  }
  return points;
}

// The same with offsets 1x(2*K)xHxW in pixels, those down before those across. The first and the last cells
// lie on the first and the last pixels of the input.
std::vector<PicturePoint> PoseNetPoints(const HeadOutputs& outputs, const HeadInput& input) {
  const HeadValues maps = outputs.Find("heat maps", {1, kAny, kAny, kAny}, "heat hm");
  const int64_t count = maps.dim(1), height = maps.dim(2), width = maps.dim(3), cells = height * width;
  std::vector<PicturePoint> points;
  if (cells < 1) return points;  // and the number of maps may be any
  outputs.CheckShown(count, input.settings.head);
  const HeadValues offsets = outputs.Find("offsets", {1, 2 * count, height, width}, "off", maps.name);
  const auto step = [](int pixels, int64_t of) { return of > 1 ? double(pixels - 1) / double(of - 1) : 0.0; };
  const bool logits = LackSigmoid(maps.values);
  for (int64_t k = 0; k < count; ++k) {
    const BestClass best = BestOf(maps.row(k, cells), cells);
    const double down = offsets.row(k, cells)[best.label], across = offsets.row(k + count, cells)[best.label];
    AddPoint(double(best.label % width) * step(input.place.input_width, width) + across,
             double(best.label / width) * step(input.place.input_height, height) + down,
             logits ? SigmoidOf(best.score) : best.score, int(k), input, points);
  }
  return points;
}

// 1x1xKx3: the points of one person as shares of the input's height and width.
std::vector<PicturePoint> MoveNetPoints(const HeadOutputs& outputs, const HeadInput& input) {
  const HeadValues person = outputs.Find("points", {1, 1, kAny, kPointValues});
  outputs.CheckShown(person.dim(2), input.settings.head);
  std::vector<PicturePoint> all(size_t(person.dim(2))), points;
  ReadPoints(person.values.data(), 1, PointOrder::kYFirst, all);
  for (const PicturePoint& point : all)
    AddPoint(double(point.x) * input.place.input_width, double(point.y) * input.place.input_height,
             point.score, point.label, input, points);
  return points;
}

// Rows of 1xNx56: the points of a person in the same form, and its box as top, left, bottom, right and score.
void MoveNetBoxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  constexpr int64_t kBox = kJoints * kPointValues, kWidth = kBox + 5;
  const HeadValues rows = outputs.Find("rows of persons", {1, kAny, kWidth});
  outputs.CheckShown(1, input.settings.head);  // persons
  std::vector<PicturePoint> points(kJoints);
  for (int64_t i = 0; i < rows.dim(1); ++i) {
    const float *person = rows.row(i, kWidth), *box = person + kBox;
    ReadPoints(person, 1, PointOrder::kYFirst, points);
    found.AddRelative({box[1], box[0], box[3], box[2]}, box[4], 0, points);
  }
}

// Columns of 1x(5+3*K)xN: the box as YOLOv8 has it, its score, and the points in pixels of the input.
void YoloPoseBoxes(const HeadOutputs& outputs, const HeadInput& input, BoxCandidates& found) {
  constexpr int64_t kBoxValues = 5;
  const HeadValues columns = outputs.Find("columns of boxes", {1, kAny, kAny});
  const int64_t count = columns.dim(2), of_points = columns.dim(1) - kBoxValues;
  if (of_points < kPointValues || of_points % kPointValues != 0)
    outputs.Fail("the columns are not a box, a score and points", "1x(5+3*K)xN");
  if (count < 1) return;                       // and the number of points may be any
  outputs.CheckShown(1, input.settings.head);  // persons
  std::vector<PicturePoint> points(size_t(of_points / kPointValues));
  for (int64_t i = 0; i < count; ++i) {
    const float* v = columns.values.data() + i;
    ReadPoints(v + kBoxValues * count, count, PointOrder::kXFirst, points);
    found.Add(Centered(v[0], v[count], v[2 * count], v[3 * count]), v[4 * count], 0, points);
  }
}

}  // namespace mete
