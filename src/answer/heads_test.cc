// Detectors beside those of answer_test.cc, classes that are left out, and outputs that do not fit.
#include <gtest/gtest.h>

#include <cmath>

#include "answer/answer_testing.h"
#include "base/errors_testing.h"
#include "mete/answer.h"

namespace mete {
namespace {

// Writes the values of NanoDet's distances to the left, top, right and bottom: 0, 1, 2 and, as the mean of 0
// and 1, a half.
void SetDistances(std::vector<float>& values, size_t at) {
  constexpr float kSure = 50;  // exp(-50) adds less than a rounding
  for (const size_t place : {size_t(0), size_t(8 + 1), size_t(16 + 2), size_t(24), size_t(24 + 1)})
    values[at + place] = kSure;
}

TEST(NanoDet, DistancesAreMeansInCells) {
  // 64x32 pixels are 8x4 + 4x2 + 2x1 cells and, in NanoDet-Plus, one more. The cell in row 1 and column 0 of
  // the second grid has 16 pixels.
  constexpr size_t kClasses = 2, kWidth = kClasses + 32, kCell = 32 + 4;
  const Shape input{1, 3, 32, 64};
  const auto decode = [&](int64_t cells) {
    std::vector<float> values(size_t(cells) * kWidth);
    values[kCell * kWidth] = .1f;
    values[kCell * kWidth + 1] = .9f;
    SetDistances(values, kCell * kWidth + kClasses);
    return Decode("nanodet", {{"output", Values({1, cells, kWidth}, values)}}, {}, input, Image(64, 32));
  };
  const auto before = decode(42).boxes, plus = decode(43).boxes;
  ASSERT_EQ(before.size(), 1u);
  ExpectBox(before[0], 8, 8, 40, 32, .9f, 1);
  ASSERT_EQ(plus.size(), 1u);
  ExpectBox(plus[0], 0, 0, 32, 24, .9f, 1);
  EXPECT_TELLS(decode(41), "expected 42 for 64x32");
  EXPECT_TELLS(Decode("nanodet", {{"y", Filled({1, 42, 32}, 0, {})}}), "the rows are too short");
}

// Cells of the last row and column may reach beyond the input.
TEST(NanoDet, InputsNeedNotBeMultiplesOfSteps) {
  // 20x9 pixels are 3x2 + 2x1 + 1x1 + 1x1 cells.
  std::vector<float> values(10 * 33);
  values[5 * 33] = 1;  // row 1, column 2 of the first grid
  SetDistances(values, 5 * 33 + 1);
  const auto found =
      Decode("nanodet", {{"y", Values({1, 10, 33}, values)}}, {}, {1, 3, 9, 20}, Image(20, 9)).boxes;
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], 16, 0, 20, 9, 1, 0);
}

TEST(RtDetr, ScoresAreOfClassesAlone) {
  const Tensor rows =
      Values({1, 2, 7}, {.3f, .3f, .4f, .4f, .1f, .8f, .2f, .3f, .3f, .4f, .4f, .1f, .7f, .2f});
  const auto together = Decode("rt-detr", {{"output0", rows}}).boxes;
  ASSERT_EQ(together.size(), 2u);  // queries do not repeat each other
  ExpectBox(together[0], 40, 20, 200, 100, .8f, 1);
  ExpectBox(together[1], 40, 20, 200, 100, .7f, 1);

  const Tensor boxes = Values({1, 2, 4}, {.3f, .3f, .4f, .4f, .5f, .5f, 1, 1});
  const Tensor logits = Values({1, 2, 3}, {0, -1, std::log(4.f), -1, -2, -3});
  const auto apart = Decode("rt-detr", {{"labels", logits}, {"dets", boxes}}).boxes;
  ASSERT_EQ(apart.size(), 1u);
  ExpectBox(apart[0], 40, 20, 200, 100, .8f, 2);
  EXPECT_TELLS(Decode("rt-detr", {{"dets", boxes}}), "no output can be the scores");
  // A box may be a little wider than the input; scores that are probabilities stay what they are.
  const auto wide = Decode("rt-detr", {{"y", Values({1, 1, 6}, {.5f, .5f, 1.002f, .4f, .1f, .2f})}}).boxes;
  EXPECT_TRUE(wide.empty());
  EXPECT_TELLS(Decode("rt-detr", {{"y", Values({1, 1, 6}, {50, 60, 30, 40, .1f, .9f})}}),
               "the boxes are pixels of the input");
  EXPECT_TELLS(Decode("rt-detr", {{"y", Filled({1, 9, 3}, 0, {})}}), "the scores have no class");
}

TEST(ClassesThatAreShown, OthersAreLeftOut) {
  Preprocess settings;
  settings.head.classes = {2, 7};
  settings.head.most = 1;  // of those that are shown
  const Tensor boxes = Values({1, 2, 4}, {.1f, .1f, .5f, .5f, .6f, .6f, .9f, .9f});
  const Tensor scores = Values({1, 2, 3}, {0, .9f, 0, 0, 0, .7f});
  const auto found = Decode("corners", {{"boxes", boxes}, {"scores", scores}}, settings).boxes;
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], 240, 120, 360, 180, .7f, 2);

  const Tensor planes = Values({1, 3, 1, 2}, {1, 0, 0, 0, 0, 1}), three = Filled({1, 3, 2, 2}, 1, {});
  EXPECT_TELLS(Decode("classes", {{"y", planes}}, settings, {1, 3, 1, 2}, Image(2, 1)),
               "there is no class 7");
  EXPECT_TELLS(Decode("heat-maps", {{"y", three}}, settings), "there is no class 7");
  EXPECT_TELLS(Decode("movenet-multipose", {{"y", Filled({1, 1, 56}, 0, {})}}, settings), "expected 0 to 0");
  settings.head.classes = {7, 2};
  EXPECT_TELLS(Decode("heat-maps", {{"y", three}}, settings), "[classes] are not in order");
  settings.head.classes = {2};
  const PictureMask mask = Decode("classes", {{"y", planes}}, settings, {1, 3, 1, 2}, Image(2, 1)).mask;
  EXPECT_EQ(mask.label, (std::vector<int16_t>{PictureMask::kOutside, 2}));

  const auto points = Decode("heat-maps", {{"y", three}}, settings).points;
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].label, 2);
  EXPECT_TELLS(Decode("picture", {{"y", Filled({1, 3, 2, 2}, 0, {})}}, settings),
               "[head picture] a picture has no classes");
}

TEST(ClassesThatAreNamed, AreThoseOfTheOutput) {
  Preprocess settings;
  settings.head.named = 80;
  const auto decode = [&](const char* head, const Shape& shape) {
    return Decode(head, {{"y", Filled(shape, 0, {})}}, settings);
  };
  EXPECT_TRUE(decode("yolo-v8", {1, 84, 9}).boxes.empty());
  EXPECT_TRUE(decode("yolo-v5", {1, 9, 85}).boxes.empty());
  EXPECT_TELLS(
      decode("yolo-v5", {1, 84, 9}),
      "the scores are of 4 classes, but 80 have names; got 'y' 1x84x9, expected a name for each class; "
      "try the head yolo-v8");
  EXPECT_TELLS(decode("yolo-v8", {1, 9, 85}), "try the head yolo-v5 or yolo-x");
  EXPECT_TELLS(decode("yolo-v8", {1, 9, 84}), "try the head rt-detr");
  EXPECT_TELLS(decode("yolo-v5", {1, 9, 6}), "try the head yolo-end-to-end");
  EXPECT_TELLS(decode("yolo-x", {1, 9, 95}), "scores are of 90 classes");
  EXPECT_TELLS(decode("nanodet", {1, 9, 113}), "scores are of 81 classes");
  settings.head.anchors = {10, 20};
  EXPECT_TELLS(decode("yolo-grid", {1, 7, 2, 2}), "try labels of the network");
  settings.head.named = 0;
  settings.head.classes = {0, 4};
  EXPECT_TRUE(decode("yolo-v8", {1, 9, 3}).boxes.empty());
  EXPECT_TELLS(decode("yolo-v8", {1, 8, 3}), "there is no class 4; got 'y' 1x8x3, expected 0 to 3");
}

TEST(Integers, AreNoNumbersWithoutAScale) {
  const auto bytes = [](const Shape& shape) { return Tensor(DType::kU8, shape); };
  const std::vector<NamedTensor> boxes{{"boxes", bytes({1, 2, 4})}, {"scores", Filled({1, 2, 3}, 0, {})}};
  EXPECT_TELLS(Decode("corners", boxes),
               "'boxes' has integers, and the file does not say which numbers they stand for");
  Preprocess anchored;
  anchored.head.anchors = {10, 13};
  EXPECT_TELLS(Decode("yolo-grid", {{"y", bytes({1, 6, 2, 2})}}, anchored), "'y' has integers");
  const std::vector<NamedTensor> scores{
      {"boxes", Filled({1, 2, 4}, 0, {})}, {"classes", bytes({1, 2})}, {"scores", bytes({1, 2})}};
  EXPECT_TELLS(Decode("tf-ssd", scores), "'scores' has integers");
  EXPECT_EQ(Decode("picture", {{"y", bytes({1, 3, 2, 2})}}).picture.width, 2);  // pixels
  EXPECT_EQ(Decode("classes", {{"y", bytes({1, 3, 2, 2})}}).mask.label[0], 0);  // the highest is the same
}

}  // namespace
}  // namespace mete
