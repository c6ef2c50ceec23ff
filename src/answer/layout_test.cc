// Planes whose channels come last, as networks of TensorFlow have them.
#include <gtest/gtest.h>

#include "answer/answer_testing.h"
#include "base/errors_testing.h"
#include "mete/answer.h"

namespace mete {
namespace {

Preprocess ChannelsLast() {
  Preprocess settings;
  settings.head.layout = TensorOrder::kNhwc;
  return settings;
}

TEST(ChannelsLast, MasksOfScoresAndOfNumbers) {
  Preprocess settings = ChannelsLast();
  settings.crop_width = settings.crop_height = 2;
  // Two cells with three classes each; of the picture the middle third is cropped.
  const Tensor planes = Values({1, 1, 2, 3}, {1, 0, 0, 0, 0, 1});
  const int16_t out = PictureMask::kOutside;
  const PictureMask mask = Decode("classes", {{"y", planes}}, settings, {1, 3, 2, 2}, Image(6, 2)).mask;
  EXPECT_EQ(mask.label, (std::vector<int16_t>{out, out, 0, 2, out, out, out, out, 0, 2, out, out}));
  const Tensor numbers = Tensor::Of<int64_t>(DType::kI64, {1, 1, 2, 1}, std::vector<int64_t>{5, 21});
  const PictureMask given = Decode("classes", {{"y", numbers}}, settings, {1, 3, 2, 2}, Image(6, 2)).mask;
  EXPECT_EQ(given.label, (std::vector<int16_t>{out, out, 5, 21, out, out, out, out, 5, 21, out, out}));
}

TEST(ChannelsLast, Pictures) {
  const Tensor pixels = Values({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6});
  const Image picture = Decode("picture", {{"y", pixels}}, ChannelsLast()).picture;
  EXPECT_EQ(picture.width, 1);
  EXPECT_EQ(picture.height, 2);
  EXPECT_EQ(picture.rgb, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
}

TEST(ChannelsLast, PointsAndBoxesOfCells) {
  const Tensor maps = Filled({1, 10, 20, 2}, 0, {{(3 * 20 + 5) * 2, .9f}, {7 * 2 + 1, .6f}});
  const auto points = Decode("heat-maps", {{"maps", maps}}, ChannelsLast()).points;
  ASSERT_EQ(points.size(), 2u);
  ExpectPoint(points[0], 110, 70, .9f, 0);
  ExpectPoint(points[1], 150, 10, .6f, 1);
  // FastestDet's box of the cell in row 1 and column 3 of 4x8: half of the input is its height, a half its
  // width.
  const size_t at = (1 * 8 + 3) * 7;
  const Tensor grid = Filled({1, 4, 8, 7}, 0, {{at, 1}, {at + 6, 1}});
  const auto boxes = Decode("fastestdet", {{"grid", grid}}, ChannelsLast()).boxes;
  ASSERT_EQ(boxes.size(), 1u);
  ExpectBox(boxes[0], (3.f / 8 - .25f) * 400, 0, (3.f / 8 + .25f) * 400, 100, 1, 1);
}

TEST(ChannelsLast, OutputsWithoutElementsMayHaveManyChannels) {
  const int64_t many = int64_t(1) << 60;
  EXPECT_TRUE(Decode("heat-maps", {{"y", Values({1, 0, 0, many}, {})}}, ChannelsLast()).points.empty());
  const std::vector<NamedTensor> outputs{{"hm", Values({1, 0, 0, many}, {})},
                                         {"wh", Values({1, 0, 0, 2}, {})},
                                         {"reg", Values({1, 0, 0, 2}, {})}};
  EXPECT_TRUE(Decode("centernet", outputs, ChannelsLast()).boxes.empty());
}

TEST(ChannelsLast, WhatIsNoPlaneIsAnError) {
  const Tensor boxes = Filled({1, 3, 4}, 0, {}), pixels = Filled({1, 2, 5, 3}, 0, {});
  EXPECT_TELLS(Decode("corners", {{"boxes", boxes}}, ChannelsLast()),
               "[head corners] no outputs of it are planes; got 'boxes' 1x3x4 as nhwc, expected nchw; try it "
               "without output_layout");
  EXPECT_TELLS(Decode("picture", {{"y", Filled({1, 3, 2, 5}, 0, {})}}, ChannelsLast()),
               "the output is no picture; got 'y' 1x3x2x5 as nhwc");
  EXPECT_TELLS(Decode("picture", {{"y", pixels}}), "or output_layout nhwc where the channels are last");
}

}  // namespace
}  // namespace mete
