#include <gtest/gtest.h>

#include "answer/answer_testing.h"
#include "base/errors_testing.h"
#include "mete/answer.h"

namespace mete {
namespace {

// A letterbox makes 100x50 pixels of a picture of 400x200, and leaves 25 rows above and below.
const Shape kSquare{1, 3, 100, 100};
Preprocess Letterboxed() {
  Preprocess settings;
  settings.letterbox = true;
  return settings;
}

TEST(YoloPose, BoxesHavePointsWithScoresOfTheirOwn) {
  // Three columns of a box, its score and two points: the second one has the best of three scores, and
  // overlaps the first one.
  const Tensor columns = Values({1, 11, 3}, {51,  50,  9,    // across
                                             50,  50,  9,    // down
                                             20,  20,  2,    // width
                                             10,  10,  2,    // height
                                             .6f, .8f, .1f,  // score
                                             1,   45,  0,    // the first point
                                             1,   48,  0,    //
                                             1,   .9f, 0,    //
                                             2,   55,  0,    // the second point
                                             2,   10,  0,    //
                                             1,   .2f, 0});
  const std::vector<NamedTensor> outputs{{"output0", columns}};
  const PictureAnswer found = Decode("yolo-pose", outputs, Letterboxed(), kSquare);
  ASSERT_EQ(found.boxes.size(), 1u);
  ExpectBox(found.boxes[0], 160, 80, 240, 120, .8f, 0);
  const auto points = PointsOfBox(found, 0);
  ASSERT_EQ(points.size(), 2u);
  ExpectPoint(points[0], 180, 92, .9f, 0);
  ExpectPoint(points[1], 220, -60, .2f, 1);  // above the picture
  EXPECT_TRUE(points[0].seen);
  EXPECT_FALSE(points[1].seen);

  Preprocess settings = Letterboxed();
  settings.head.overlap = 1;
  const PictureAnswer both = Decode("yolo-pose", outputs, settings, kSquare);
  ASSERT_EQ(both.points.size(), 4u);
  ExpectPoint(PointsOfBox(both, 1)[0], 4, -96, 1, 0);
}

TEST(YoloPose, PointsThatAreNotSeenAreNotDrawn) {
  const auto drawn = [](float score) {
    const Tensor columns = Values({1, 8, 1}, {50, 50, 90, 90, 1, 50, 50, score});
    const Image picture(400, 200);
    return DrawAnswer(picture, Decode("yolo-pose", {{"y", columns}}), {}).rgb;
  };
  EXPECT_EQ(drawn(.1f), drawn(.2f));
  EXPECT_NE(drawn(.1f), drawn(.9f));
}

TEST(YoloPose, NoColumnsAreNoPersons) {
  const int64_t many = int64_t(3) << 50;  // points would not fit into memory
  EXPECT_TRUE(Decode("yolo-pose", {{"y", Values({1, 5 + many, 0}, {})}}).boxes.empty());
}

TEST(YoloPose, ColumnsOfOtherHeadsAreErrors) {
  for (const int64_t rows : {5, 7, 10, 84})
    EXPECT_TELLS(Decode("yolo-pose", {{"y", Filled({1, rows, 3}, 0, {})}}),
                 "the columns are not a box, a score and points");
}

TEST(MoveNet, PointsAreSharesOfTheInput) {
  const Tensor person = Values({1, 1, 3, 3}, {.25f, .5f, .9f, .5f, .125f, .3f, 1, 0, .6f});
  const auto points = Decode("movenet", {{"person", person}}).points;
  ASSERT_EQ(points.size(), 2u);  // the second one's score is too low
  ExpectPoint(points[0], 200, 50, .9f, 0);
  ExpectPoint(points[1], 0, 200, .6f, 2);
  const auto boxed = Decode("movenet", {{"person", person}}, Letterboxed(), kSquare).points;
  ASSERT_EQ(boxed.size(), 2u);
  ExpectPoint(boxed[0], 200, 0, .9f, 0);
  ExpectPoint(boxed[1], 0, 300, .6f, 2);
  EXPECT_TELLS(Decode("movenet", {{"y", Filled({1, 2, 17, 3}, 0, {})}}), "no output can be the points");
}

TEST(MoveNet, PersonsHavePointsAndBoxes) {
  const size_t width = 56, first = 1 * width, second = 4 * width;
  std::vector<Element> values{{first, .25f}, {first + 1, .5f}, {first + 2, .9f}};
  for (const Element& other : {Element{first + 48, .75f}, {first + 49, .25f}, {first + 50, .1f}})
    values.push_back(other);
  for (const size_t person : {first, second})
    for (const Element& side : {Element{51, .2f}, {52, .3f}, {53, .8f}, {54, .6f}, {55, .7f}})
      values.push_back({person + side.at, side.value});
  values.push_back({second + 55, .6f});
  const PictureAnswer found = Decode("movenet-multipose", {{"y", Filled({1, 6, 56}, 0, values)}});
  ASSERT_EQ(found.boxes.size(), 2u);  // the network has left out those that overlap
  ExpectBox(found.boxes[0], 120, 40, 240, 160, .7f, 0);
  ExpectBox(found.boxes[1], 120, 40, 240, 160, .6f, 0);
  const auto points = PointsOfBox(found, 0);
  ASSERT_EQ(points.size(), 17u);
  ExpectPoint(points[0], 200, 50, .9f, 0);
  ExpectPoint(points[16], 100, 150, .1f, 16);
  EXPECT_FALSE(points[16].seen);
  EXPECT_TELLS(Decode("movenet-multipose", {{"y", Filled({1, 6, 55}, 0, {})}}),
               "no output can be the rows of persons; got 'y' 1x6x55, expected 1xNx56");
}

TEST(PoseNet, OffsetsAreAddedToTheHighestCells) {
  // Cells are 49.75 pixels apart across and 49.5 down. The first map's is row 1, column 3.
  const size_t cells = 3 * 5, cell = 1 * 5 + 3;
  const Tensor maps = Filled({1, 2, 3, 5}, -5, {{cell, 2}, {cells + 1, -1}});
  const Tensor offsets = Filled({1, 4, 3, 5}, 0, {{cell, 2.5f}, {2 * cells + cell, -1.75f}});
  const Tensor others = Filled({1, 6, 3, 5}, 9, {});
  const std::vector<NamedTensor> outputs{{"mid_offsets", others}, {"offsets", offsets}, {"heatmaps", maps}};
  const auto points = Decode("posenet", outputs).points;
  ASSERT_EQ(points.size(), 1u);  // the sigmoid of -1 is 0.27
  ExpectPoint(points[0], (3 * 49.75f - 1.75f) * 2, (49.5f + 2.5f) * 2, 0.880797f, 0);

  const std::vector<NamedTensor> of_one_cell{{"heatmaps", Values({1, 1, 1, 1}, {.9f})},
                                             {"offsets", Values({1, 2, 1, 1}, {10, 20})}};
  const auto alone = Decode("posenet", of_one_cell).points;
  ASSERT_EQ(alone.size(), 1u);
  ExpectPoint(alone[0], 40, 20, .9f, 0);  // a probability already
  const std::vector<NamedTensor> without{{"heatmaps", maps}, {"mid_offsets", others}};
  EXPECT_TELLS(Decode("posenet", without), "no output can be the offsets");
}

}  // namespace
}  // namespace mete
