#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "answer/answer_testing.h"
#include "base/errors_testing.h"
#include "mete/answer.h"

namespace mete {
namespace {

TEST(DecodeAnswer, CornersLeaveOutWhatOverlapsABetterBoxOfItsClass) {
  const Tensor boxes = Values({1, 5, 4}, {.1f, .1f, .5f, .5f, .1f, .1f, .5f, .52f, .1f, .1f,
                                          .5f, .5f, .6f, .6f, .9f, .9f, 0,   0,    1,   1});
  const Tensor scores =
      Values({1, 5, 3}, {.1f, .8f, .1f, .1f, .9f, 0, .1f, .2f, .7f, .3f, .6f, .1f, .9f, .05f, .05f});
  const auto found = Decode("corners", {{"scores", scores}, {"boxes", boxes}}).boxes;
  ASSERT_EQ(found.size(), 3u);
  ExpectBox(found[0], 40, 20, 200, 104, .9f, 1);
  ExpectBox(found[1], 40, 20, 200, 100, .7f, 2);
  ExpectBox(found[2], 240, 120, 360, 180, .6f, 1);
}

TEST(DecodeAnswer, SettingsSayWhichBoxesCount) {
  const Tensor boxes = Values({1, 2, 4}, {.1f, .1f, .5f, .5f, .1f, .1f, .5f, .52f});
  const Tensor scores = Values({1, 2, 2}, {.2f, .8f, .1f, .9f});
  Preprocess settings;
  settings.head.overlap = 1;
  EXPECT_EQ(Decode("corners", {{"s", scores}, {"b", boxes}}, settings).boxes.size(), 2u);
  settings.head.most = 1;
  EXPECT_EQ(Decode("corners", {{"s", scores}, {"b", boxes}}, settings).boxes.size(), 1u);
  settings.head.least_score = 0.95f;
  EXPECT_TRUE(Decode("corners", {{"s", scores}, {"b", boxes}}, settings).boxes.empty());
}

TEST(DecodeAnswer, NumbersThatAreNotFiniteAreNoBoxes) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const Tensor boxes = Values({1, 3, 4}, {nan, 0, 1, 1, 0, 0, inf, 1, 0, 0, 1, 1});
  const Tensor scores = Values({1, 3, 2}, {0, 1, 0, 1, 0, nan});
  EXPECT_TRUE(Decode("corners", {{"scores", scores}, {"boxes", boxes}}).boxes.empty());
}

TEST(DecodeAnswer, BoxesReturnThroughALetterbox) {
  Preprocess settings;
  settings.letterbox = true;
  // 400x200 becomes 100x50, with 25 rows of filling above and below.
  const auto found =
      Decode("corners",
             {{"scores", Values({1, 1, 2}, {0, 1})}, {"boxes", Values({1, 1, 4}, {.25f, .1f, .5f, .5f})}},
             settings, {1, 3, 100, 100})
          .boxes;
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], 100, 0, 200, 100, 1, 1);  // the filling above belongs to no picture
}

TEST(DecodeAnswer, UltraFaceOffsetsAreFromPriorBoxes) {
  const Shape input{1, 3, 240, 320};
  // the second prior box, of 16 pixels, of the cell in row 1 and column 2 of the first grid: 40 x 30 cells
  // with 3 boxes each
  const size_t prior = (1 * 40 + 2) * 3 + 1;
  const Tensor scores = Filled({1, 4420, 2}, 0, {{prior * 2 + 1, .75f}});
  const Tensor boxes = Filled({1, 4420, 4}, 0, {{prior * 4, 10}, {prior * 4 + 3, 5 * std::log(2.0f)}});
  const auto found =
      Decode("ultraface", {{"boxes", boxes}, {"scores", scores}}, {}, input, Image(320, 240)).boxes;
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], 20 + 16 - 8, 0, 20 + 16 + 8, 12 + 16, .75f, 1);
}

TEST(DecodeAnswer, RetinaFaceHasPointsOfItsBoxes) {
  // 64x32 pixels are 8x4 + 4x2 + 2x1 cells with two prior boxes each. The first one of the cell in row 1 and
  // column 2 of the first grid has 16 pixels, and a second one, better, the first cell of the second grid.
  const Shape input{1, 3, 32, 64};
  const size_t first = (1 * 8 + 2) * 2, second = 32 * 2;
  const Tensor scores = Filled({1, 84, 2}, 0, {{first * 2 + 1, .75f}, {second * 2 + 1, .9f}});
  const Tensor boxes = Filled({1, 84, 4}, 0, {});
  const Tensor points =
      Filled({1, 84, 10}, 0, {{first * 10 + 2, 5}, {first * 10 + 9, -2.5f}, {second * 10, 1}});
  const std::vector<NamedTensor> outputs{{"loc", boxes}, {"conf", scores}, {"landms", points}};
  const PictureAnswer found = Decode("retinaface", outputs, {}, input, Image(128, 64));
  ASSERT_EQ(found.boxes.size(), 2u);
  ASSERT_EQ(found.points.size(), 10u);
  ExpectBox(found.boxes[1], 2 * (20 - 8), 2 * (12 - 8), 2 * (20 + 8), 2 * (12 + 8), .75f, 1);
  const auto of_first = PointsOfBox(found, 1), of_second = PointsOfBox(found, 0);
  for (int k = 0; k < 5; ++k) {
    EXPECT_NEAR(of_first[k].x, 2 * (20 + (k == 1 ? 8 : 0)), kTolerance);
    EXPECT_NEAR(of_first[k].y, 2 * (12 - (k == 4 ? 4 : 0)), kTolerance);
    EXPECT_FLOAT_EQ(of_first[k].score, .75f);
    EXPECT_EQ(of_first[k].label, k);
  }
  EXPECT_NEAR(of_second[0].x, 2 * (8 + .1f * 64),
              kTolerance);  // the prior box of 64 pixels is as wide as the input
  EXPECT_TRUE(PointsOfBox(found, 2).empty());
  const std::vector<NamedTensor> without{{"loc", boxes}, {"conf", scores}};
  const PictureAnswer none = Decode("retinaface", without, {}, input, Image(128, 64));
  EXPECT_EQ(none.boxes.size(), 2u);
  EXPECT_TRUE(none.points.empty());
  EXPECT_TRUE(PointsOfBox(none, 0).empty());
  EXPECT_NE(DrawAnswer(Image(128, 64), found, {}).rgb, DrawAnswer(Image(128, 64), none, {}).rgb);
}

TEST(DecodeAnswer, MediaPipeRowsAreDistancesFromCentresOfCells) {
  // 64x32 pixels are 8x4 cells of 8 pixels with two boxes each, and 4x2 of 16 pixels with six.
  const Shape input{1, 3, 32, 64};
  const size_t first = (1 * 8 + 2) * 2 + 1, second = 32 * 2 + 3 * 6 + 5, rows = 32 * 2 + 8 * 6;
  const Tensor scores = Filled({1, rows, 1}, -200, {{first, Logit(.9f)}, {second, Logit(.75f)}});
  const Tensor boxes = Filled({1, rows, 8}, 0,
                              {{first * 8, 2},
                               {first * 8 + 2, 10},
                               {first * 8 + 3, 6},
                               {first * 8 + 4, -3},
                               {first * 8 + 7, 5},
                               {second * 8 + 2, 4},
                               {second * 8 + 3, 4}});
  const std::vector<NamedTensor> outputs{{"classificators", scores}, {"regressors", boxes}};
  const PictureAnswer found = Decode("mediapipe", outputs, {}, input, Image(128, 64));
  ASSERT_EQ(found.boxes.size(), 2u);
  ExpectBox(found.boxes[0], 2 * (22 - 5), 2 * (12 - 3), 2 * (22 + 5), 2 * (12 + 3), .9f, 0);
  ExpectBox(found.boxes[1], 2 * (56 - 2), 2 * (8 - 2), 2 * (56 + 2), 2 * (8 + 2), .75f, 0);
  const auto points = PointsOfBox(found, 0);
  ASSERT_EQ(points.size(), 2u);
  ExpectPoint(points[0], 2 * (20 - 3), 2 * 12, .9f, 0);
  ExpectPoint(points[1], 2 * 20, 2 * (12 + 5), .9f, 1);
  EXPECT_TELLS(Decode("mediapipe", outputs, {}, {1, 3, 64, 64}, Image(128, 64)),
               "expected one of 224, 56, 256, 184 for 64x64");
  const std::vector<NamedTensor> narrow{{"scores", scores}, {"boxes", Filled({1, rows, 3}, 0, {})}};
  EXPECT_TELLS(Decode("mediapipe", narrow, {}, input), "the rows have no box");
}

TEST(DecodeAnswer, MediaPipeHasTheRowsOfItsPublishedNetworks) {
  struct Published {
    int64_t size, rows, numbers;
  };
  for (const Published& net :
       {Published{128, 896, 16}, {256, 896, 16}, {192, 2304, 16}, {192, 2016, 18}, {224, 2254, 12}}) {
    const std::vector<NamedTensor> outputs{{"Identity", Filled({1, net.rows, net.numbers}, 1, {})},
                                           {"Identity_1", Filled({1, net.rows, 1}, 3, {})}};
    EXPECT_FALSE(Decode("mediapipe", outputs, {}, {1, 3, net.size, net.size}).boxes.empty());
  }
}

TEST(DecodeAnswer, FastestDetHasABoxForEachCell) {
  const size_t cells = 4 * 8, cell = 1 * 8 + 3;
  const Tensor grid =
      Filled({1, 7, 4, 8}, 0, {{cell, 1}, {6 * cells + cell, .5f}, {3 * cells + cell, Logit(.25f)}});
  const auto found = Decode("fastestdet", {{"grid", grid}}).boxes;
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], (3.f / 8 - .125f) * 400, 0, (3.f / 8 + .125f) * 400, .5f * 200, std::pow(.5f, .4f), 1);
}

TEST(DecodeAnswer, YoloFamilies) {
  const Tensor rows = Values({1, 1, 7}, {50, 40, 20, 30, .8f, .1f, 1});
  const auto v5 = Decode("yolo-v5", {{"output0", rows}}).boxes;
  ASSERT_EQ(v5.size(), 1u);
  ExpectBox(v5[0], 80, 50, 120, 110, .8f, 1);

  const Tensor columns = Values({1, 6, 2}, {50, 1, 40, 1, 20, 1, 30, 1, .1f, .2f, .8f, .1f});
  const auto v8 = Decode("yolo-v8", {{"output0", columns}}).boxes;
  ASSERT_EQ(v8.size(), 1u);
  ExpectBox(v8[0], 80, 50, 120, 110, .8f, 1);

  std::vector<float> found{50, 40, 70, 70, .8f, 1, 50, 40, 70, 71, .7f, 1, 0, 0, 9, 9, .2f, 5};
  found.resize(7 * 6);  // rows without a box are 0
  const Tensor ends = Values({1, 7, 6}, found);
  const auto end = Decode("yolo-end-to-end", {{"output0", ends}}).boxes;
  ASSERT_EQ(end.size(), 2u);  // the network has suppressed what overlaps
  ExpectBox(end[0], 100, 80, 140, 140, .8f, 1);
  ExpectBox(end[1], 100, 80, 140, 142, .7f, 1);
  EXPECT_TELLS(Decode("yolo-v8", {{"output0", ends}}), "the rows are those of the head yolo-end-to-end");

  // 64x32 pixels are 8x4 + 4x2 + 2x1 cells. The first cell of the second row of the second grid:
  const size_t cell = 32 + 4;
  const Tensor cells =
      Filled({1, 42, 6}, 0, {{cell * 6, .5f}, {cell * 6 + 1, .25f}, {cell * 6 + 4, .9f}, {cell * 6 + 5, 1}});
  const auto x = Decode("yolo-x", {{"output", cells}}, {}, {1, 3, 32, 64}, Image(64, 32)).boxes;
  ASSERT_EQ(x.size(), 1u);
  ExpectBox(x[0], 0, 12, 16, 28, .9f, 0);
}

TEST(DecodeAnswer, YoloGridsHaveAnchors) {
  Preprocess settings;
  settings.head.anchors = {10, 20, 40, 8};
  // Two grids with one anchor each, a class each: the coarse one comes first.
  const Tensor coarse =
      Filled({1, 6, 1, 2}, -20, {{1, 0}, {3, 0}, {5, 0}, {7, 0}, {9, Logit(.8f)}, {11, 20}});
  const Tensor fine = Filled({1, 6, 2, 4}, -20, {});
  const auto found = Decode("yolo-grid", {{"coarse", coarse}, {"fine", fine}}, settings).boxes;
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], (150 - 20) * 2, (50 - 4) * 2, (150 + 20) * 2, (50 + 4) * 2, .8f, 0);
  settings.head.anchors = {1, 2, 3};
  const std::vector<NamedTensor> grids{{"coarse", coarse}, {"fine", fine}};
  EXPECT_TELLS(Decode("yolo-grid", grids, settings), "[anchors]");
}

TEST(DecodeAnswer, EarlierYolosHaveAnchorsAndExponentialSizes) {
  Preprocess settings;
  settings.head.anchors = {10, 20, 12, 24, 40, 8, 44, 10};  // two for each grid
  // Two classes. The second anchor of the second cell of the coarse grid, 1x2, has a box.
  const size_t channel = 7 * 2 + 1;  // of a cell, where each channel has two
  const Tensor coarse = Filled({1, 14, 1, 2}, -20,
                               {{channel, Logit(.25f)},
                                {channel + 2, 0},
                                {channel + 4, std::log(1.5f)},
                                {channel + 6, std::log(.5f)},
                                {channel + 8, Logit(.8f)},
                                {channel + 12, 20}});
  const Tensor fine = Filled({1, 14, 2, 4}, -20, {});
  const std::vector<NamedTensor> grids{{"coarse", coarse}, {"fine", fine}};
  const auto v3 = Decode("yolo-v3", grids, settings).boxes;
  ASSERT_EQ(v3.size(), 1u);
  ExpectBox(v3[0], (125 - 33) * 2, (50 - 2.5f) * 2, (125 + 33) * 2, (50 + 2.5f) * 2, .8f, 1);
  const auto v4 = Decode("yolo-v4", grids, settings).boxes;
  ASSERT_EQ(v4.size(), 1u);
  const float x = (1 + .25f * 1.05f - .025f) * 100;
  ExpectBox(v4[0], (x - 33) * 2, (50 - 2.5f) * 2, (x + 33) * 2, (50 + 2.5f) * 2, .8f, 1);
  const std::vector<NamedTensor> three{{"a", fine}, {"b", coarse}, {"c", fine}};
  for (const char* head : {"yolo-v3", "yolo-v4"}) {
    EXPECT_TELLS(Decode(head, three, settings), "no anchors for 3 grids; got 8 numbers");
    settings.head.anchors.resize(4);  // one for each grid of 14 channels is a network of 9 classes
    EXPECT_TRUE(Decode(head, grids, settings).boxes.empty());
    settings.head.anchors.resize(12, 5);
    EXPECT_TELLS(Decode(head, grids, settings), "'fine' is no grid of 3 anchors");
    settings.head.anchors.resize(8);
  }
}

TEST(DecodeAnswer, CenterNetFindsPeaks) {
  const Tensor heat = Filled({1, 1, 4, 8}, 0, {{10, .9f}, {11, .8f}, {30, .6f}});
  const Tensor sizes = Filled({1, 2, 4, 8}, 2, {}), offsets = Filled({1, 2, 4, 8}, .5f, {});
  const auto found = Decode("centernet", {{"hm", heat}, {"wh", sizes}, {"reg", offsets}}).boxes;
  ASSERT_EQ(found.size(), 2u);
  ExpectBox(found[0], 75, 25, 175, 125, .9f, 0);  // cell 10: row 1, column 2, and a cell is 50 pixels
  ExpectBox(found[1], 275, 125, 375, 200, .6f, 0);
}

TEST(DecodeAnswer, SsdAndDetr) {
  const auto rows =
      Decode("ssd-rows",
             {{"found", Values({1, 1, 2, 7}, {0, 3, .9f, .1f, .1f, .5f, .5f, 0, -1, -1, -1, -1, -1, -1})}})
          .boxes;
  ASSERT_EQ(rows.size(), 1u);
  ExpectBox(rows[0], 40, 20, 200, 100, .9f, 3);

  const std::vector<int64_t> labels{7};
  const auto ssd = Decode("ssd", {{"bboxes", Values({1, 1, 4}, {.1f, .1f, .5f, .5f})},
                                  {"labels", Tensor::Of<int64_t>(DType::kI64, {1, 1}, labels)},
                                  {"scores", Values({1, 1}, {.6f})}})
                       .boxes;
  ASSERT_EQ(ssd.size(), 1u);
  ExpectBox(ssd[0], 40, 20, 200, 100, .6f, 7);

  const auto detr =
      Decode("detr", {{"logits", Values({1, 2, 3}, {0, std::log(6.0f), 0, 0, 0, 20})},
                      {"pred_boxes", Values({1, 2, 4}, {.3f, .3f, .4f, .4f, .3f, .3f, .4f, .4f})}})
          .boxes;
  ASSERT_EQ(detr.size(), 1u);
  ExpectBox(detr[0], 40, 20, 200, 100, .75f, 1);
}

// Names tell which output has the classes, or else whole numbers do.
TEST(DecodeAnswer, TensorFlowsSsdHasTopBeforeLeft) {
  const Tensor boxes = Values({1, 2, 4}, {.1f, .2f, .5f, .6f, 0, 0, 1, 1});
  const Tensor classes = Values({1, 2}, {7, 0}), scores = Values({1, 2}, {.75f, .25f});
  for (const std::vector<NamedTensor>& outputs :
       {std::vector<NamedTensor>{
            {"detection_boxes", boxes}, {"detection_scores", scores}, {"detection_classes", classes}},
        {{"call:0", classes}, {"call:1", boxes}, {"call:2", scores}},
        {{"call:0", scores}, {"call:1", boxes}, {"call:2", classes}}}) {
    const auto found = Decode("tf-ssd", outputs).boxes;
    ASSERT_EQ(found.size(), 1u);
    ExpectBox(found[0], .2f * 400, .1f * 200, .6f * 400, .5f * 200, .75f, 7);
  }
}

// Networks that end in ArgMax have the classes themselves.
TEST(DecodeAnswer, MasksMayBeGivenAsNumbersOfClasses) {
  Preprocess settings;
  settings.crop_width = settings.crop_height = 2;
  const int16_t out = PictureMask::kOutside;
  for (const Shape& shape : {Shape{1, 1, 1, 2}, Shape{1, 1, 2}, Shape{1, 2}}) {
    const Tensor numbers = Tensor::Of<int64_t>(DType::kI64, shape, std::vector<int64_t>{0, 21});
    const PictureMask mask = Decode("classes", {{"y", numbers}}, settings, {1, 3, 2, 2}, Image(6, 2)).mask;
    EXPECT_EQ(mask.label, (std::vector<int16_t>{out, out, 0, 21, out, out, out, out, 0, 21, out, out}));
  }
  const Tensor numbers = Tensor::Of<int64_t>(DType::kI64, {1, 2}, std::vector<int64_t>{0, 21});
  const Tensor planes = Values({1, 3, 1, 2}, {1, 0, 0, 0, 0, 1});
  const PictureMask of_planes =
      Decode("classes", {{"other", numbers}, {"planes", planes}}, settings, {1, 3, 2, 2}, Image(6, 2)).mask;
  EXPECT_EQ(of_planes.label[3], 2);
  const Tensor wrong = Tensor::Of<int64_t>(DType::kI64, {1, 2}, std::vector<int64_t>{0, -1});
  EXPECT_TELLS(Decode("classes", {{"y", wrong}}), "'y' has -1, which is no number of a class");
}

TEST(DecodeAnswer, MasksHaveTheSizeOfThePicture) {
  // The classes 0 and 2, left and right; the picture is cropped to its middle third.
  const Tensor planes = Values({1, 3, 1, 2}, {1, 0, 0, 0, 0, 1});
  Preprocess settings;
  settings.crop_width = settings.crop_height = 2;
  const PictureMask mask = Decode("classes", {{"planes", planes}}, settings, {1, 3, 2, 2}, Image(6, 2)).mask;
  const int16_t out = PictureMask::kOutside;
  EXPECT_EQ(mask.label, (std::vector<int16_t>{out, out, 0, 2, out, out, out, out, 0, 2, out, out}));
}

TEST(DecodeAnswer, PicturesHaveTheValuesOfTheInput) {
  Preprocess settings;
  settings.mean = {10, 20, 30};
  settings.divisor = {2, 4, 8};
  settings.channels = ChannelOrder::kBgr;
  const Image rgb = Decode("picture", {{"y", Values({1, 3, 1, 1}, {1, 2, 3})}}, settings).picture;
  EXPECT_EQ(rgb.rgb, (std::vector<uint8_t>{54, 28, 12}));

  Preprocess gray;
  gray.channels = ChannelOrder::kGray;
  Image red(4, 4);
  for (size_t i = 0; i < red.rgb.size(); i += 3) red.rgb[i] = 200;
  const Image colour =
      Decode("picture", {{"y", Filled({1, 1, 4, 4}, 59.8f, {})}}, gray, {1, 1, 2, 2}, red).picture;
  ASSERT_EQ(colour.rgb.size(), 48u);
  for (size_t i = 0; i < 48; ++i) EXPECT_NEAR(colour.rgb[i], i % 3 == 0 ? 200 : 0, 1) << i;
}

// A turned input has the picture's columns as rows, and so has an output of its values.
TEST(DecodeAnswer, PicturesOfTurnedInputsAreUpright) {
  Preprocess settings;
  settings.transpose = true;
  const Tensor planes = Values({1, 3, 3, 2}, {1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  const Image upright = Decode("picture", {{"y", planes}}, settings, {1, 3, 3, 2}, Image(3, 2)).picture;
  ASSERT_EQ(upright.width, 3);
  ASSERT_EQ(upright.height, 2);
  std::vector<uint8_t> reds;
  for (size_t i = 0; i < upright.rgb.size(); i += 3) reds.push_back(upright.rgb[i]);
  EXPECT_EQ(reds, (std::vector<uint8_t>{1, 3, 5, 2, 4, 6}));
}

TEST(DecodeAnswer, PointsAreTheHighestCells) {
  const Tensor maps = Filled({1, 2, 10, 20}, 0, {{3 * 20 + 5, .9f}, {200 + 7, .2f}});
  const auto points = Decode("heat-maps", {{"maps", maps}}).points;
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR(points[0].x, 110, kTolerance);
  EXPECT_NEAR(points[0].y, 70, kTolerance);
  EXPECT_EQ(points[0].label, 0);
}

TokenAnswer TokensIn(const std::vector<NamedTensor>& outputs, int most = 5) {
  std::vector<HeadOutput> all;
  for (const NamedTensor& output : outputs) all.push_back({output.name, output.tensor.view()});
  return DecodeTokens(all, most);
}

TEST(DecodeTokens, IdsAreThemselves) {
  const std::vector<int64_t> wide{7, 0, -1};
  const std::vector<int32_t> narrow{5, 6};
  const Tensor row = Tensor::Of<int64_t>(DType::kI64, {1, 3}, wide),
               flat = Tensor::Of<int32_t>(DType::kI32, {2}, narrow);
  EXPECT_EQ(TokensIn({{"out", row}}).tokens, wide);
  EXPECT_EQ(TokensIn({{"scores", Filled({1, 2}, 0, {})}, {"out", flat}}).tokens,
            (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(TokensIn({{"lengths", row}, {"sequences", flat}}).tokens, (std::vector<int64_t>{5, 6}));
  EXPECT_TRUE(TokensIn({{"out", row}}).last.empty());
}

TEST(DecodeTokens, LogitsGiveTheLikeliestOnes) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor logits =
      Values({1, 3, 4}, {0, 9, 1, 9, nan, -5, -4, nan, std::log(2.f), std::log(6.f), 0, std::log(1.f)});
  const TokenAnswer found = TokensIn({{"hidden", Filled({1, 3, 2}, 0, {})}, {"logits", logits}}, 3);
  EXPECT_EQ(found.tokens, (std::vector<int64_t>{1, 2, 1}));
  ASSERT_EQ(found.last.size(), 3u);
  const std::vector<int64_t> order{1, 0, 2};  // of equal ones the first
  const std::vector<float> chances{.6f, .2f, .1f};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found.last[i].token, order[i]);
    EXPECT_NEAR(found.last[i].probability, chances[i], 1e-6);  // a few roundings of numbers below 1
  }
  EXPECT_EQ(TokensIn({{"logits", logits}}, 100).last.size(), 4u);
  EXPECT_TRUE(TokensIn({{"logits", Values({1, 0, 4}, {})}}).tokens.empty());
}

TEST(DecodeTokens, OutputsThatAreNoneAreErrors) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<NamedTensor> none, two{{"a", Filled({1, 2, 3}, 0, {})}, {"b", Filled({1, 4, 3}, 0, {})}},
      texts{{"logits", Filled({2, 2, 3}, 0, {})}}, numbers{{"logits", Filled({1, 2, 3}, nan, {})}},
      empty{{"logits", Values({1, 2, 0}, {})}};
  EXPECT_TELLS(TokensIn(none), "no output can be the tokens");
  EXPECT_TELLS(TokensIn(two), "several outputs can be the tokens; got 'a' 1x2x3, 'b' 1x4x3");
  EXPECT_TELLS(TokensIn(texts), "got 'logits' 2x2x3");
  EXPECT_TELLS(TokensIn(numbers), "without any logit that is a number");
  EXPECT_TELLS(TokensIn(empty), "no output can be the tokens");
}

TEST(DecodeAnswer, OutputsThatDoNotFitAreErrors) {
  const Tensor four = Filled({1, 3, 4}, 0, {}), scores = Filled({1, 3, 2}, 0, {});
  const std::vector<NamedTensor> none, boxes{{"boxes", four}}, both{{"boxes", four}, {"scores", scores}},
      others{{"x", Filled({3}, 0, {})}};
  EXPECT_TELLS(Decode("ultrafaec", none), "try ultraface");
  EXPECT_TELLS(Decode("corners", boxes), "no output can be the scores");
  EXPECT_TELLS(Decode("ultraface", both), "for 200x100");
  for (const AnswerHead& head : AnswerHeads()) EXPECT_TELLS(Decode(head.name, others), "'x' 3, expected");
}

TEST(DecodeAnswer, OutputsWithoutElementsAndWithHugeNumbersAreHarmless) {
  const Tensor nothing = Values({1, 3, 0, 4}, {});
  const std::vector<NamedTensor> planes{{"planes", nothing}};
  for (const char* head : {"classes", "picture"}) EXPECT_TELLS(Decode(head, planes), "'planes' 1x3x0x4");
  EXPECT_TRUE(Decode("heat-maps", planes).points.empty());
  Preprocess anchored;
  anchored.head.anchors = {10, 13};
  EXPECT_TELLS(Decode("yolo-grid", {{"y", Tensor(DType::kF32, {0, 81, 28, 28})}}, anchored), "0x81x28x28");
  const Tensor rows = Values({1, 1, 1, 7}, {0, 1e30f, 1, -1e30f, -1e30f, 1e30f, 1e30f});
  const auto found = Decode("ssd-rows", {{"rows", rows}}).boxes;
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], 0, 0, 400, 200, 1, 65535);
}

TEST(DecodeAnswer, AClassThatIsNoNumberHidesNoOther) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  Tensor scores = Values({1, 1, 4}, {0, none, .9f, .1f});
  const auto found =
      Decode("corners", {{"boxes", Values({1, 1, 4}, {.1f, .1f, .5f, .5f})}, {"scores", scores}}).boxes;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].label, 2);
}

TEST(DecodeAnswer, FindsTheOutputAmongOthersOfItsRank) {
  const Tensor rows = Values({1, 1, 1, 7}, {0, 3, 1, .25f, .25f, .5f, .5f});
  EXPECT_EQ(Decode("ssd-rows", {{"map", Filled({1, 2, 3, 3}, 0, {})}, {"rows", rows}}).boxes.size(), 1u);
  const Tensor maps = Filled({1, 2, 8, 8}, 0, {});
  EXPECT_TELLS(Decode("centernet", {{"out0", maps}, {"wh", maps}}), "no three outputs can be heat maps");
}

TEST(DecodeAnswer, ANegativeNumberOfBoxesIsRefused) {
  Preprocess settings;
  settings.head.most = -1;
  EXPECT_TELLS(Decode("ssd-rows", {{"rows", Values({1, 1, 1, 7}, {0, 3, 1, 0, 0, 1, 1})}}, settings),
               "[most] cannot be negative; got -1");
}

TEST(DrawAnswer, RefusesAMaskOfAnotherPicture) {
  const PictureAnswer answer{.kind = AnswerKind::kMask, .mask = {3, 2, {1, 1, 1, 1, 1, 1}}};
  EXPECT_TELLS(DrawAnswer(Image(2, 2), answer, {}),
               "the mask is of another picture; got 3x2 pixels, expected 2x2");
}

TEST(DrawAnswer, DrawsWithinThePicture) {
  PictureAnswer answer{.kind = AnswerKind::kBoxes,
                       .boxes = {{-50, -50, 900, 900, 1, 0}, {3, 3, 9, 9, .5f, 70000}}};
  const std::vector<std::string> labels{"a name that is much longer than the picture is wide"};
  const Image drawn = DrawAnswer(Image(40, 30), answer, labels);
  EXPECT_EQ(drawn.width, 40);
  EXPECT_NE(drawn.rgb, Image(40, 30).rgb);
  const std::string file = PngOf(drawn);
  EXPECT_EQ(DecodeImage(std::as_bytes(std::span(file.data(), file.size())), "drawn").rgb, drawn.rgb);
}

}  // namespace
}  // namespace mete
