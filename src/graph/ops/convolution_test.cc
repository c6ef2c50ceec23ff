#include <gtest/gtest.h>

#include "graph/ops/infer_testing.h"

namespace mete {
namespace {

using std::string;

string Conv(Attributes a, const Shape& x, const Shape& w) { return InferText("Conv", std::move(a), {x, w}); }

TEST(ConvInfer, CountsWindowsOverThePaddedInput) {
  EXPECT_EQ(Conv({}, {1, 3, 7, 9}, {8, 3, 3, 3}), "f32 1x8x5x7");
  EXPECT_EQ(Conv(Attrs({{"strides", Ints{2, 3}}, {"pads", Ints{1, 1, 0, 1}}}), {1, 3, 7, 9}, {8, 3, 3, 3}),
            "f32 1x8x3x3");
  EXPECT_EQ(Conv(Attrs({{"dilations", Ints{2}}}), {2, 4, 9}, {6, 4, 3}), "f32 2x6x5");
  EXPECT_EQ(Conv({}, {2, 4, 5, 6, 7}, {1, 4, 1, 2, 3}), "f32 2x1x5x5x5");
  EXPECT_EQ(Conv(Attrs({{"layout", string("NHWC")}}), {1, 7, 9, 3}, {8, 3, 3, 3}), "f32 1x5x7x8");
}

TEST(ConvInfer, AutoPadSameCoversTheInputWhateverTheStride) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"})
    EXPECT_EQ(Conv(Attrs({{"auto_pad", string(mode)}, {"strides", Ints{2, 3}}}), {1, 3, 7, 9}, {8, 3, 4, 5}),
              "f32 1x8x4x3");
  EXPECT_EQ(Conv(Attrs({{"auto_pad", string("VALID")}, {"strides", Ints{2, 2}}}), {1, 3, 7, 9}, {8, 3, 3, 3}),
            "f32 1x8x3x4");
}

void ExpectError(const string& text, const string& part) {
  EXPECT_EQ(text.rfind("error: [node]", 0), 0u) << text;
  EXPECT_NE(text.find(part), string::npos) << text;
}

TEST(ConvInfer, BadShapesAndAttributesAreNamed) {
  ExpectError(Conv({}, {1, 3, 7, 9}, {8, 4, 3, 3}), "input channels of a group");
  ExpectError(Conv(Attrs({{"group", int64_t(2)}}), {1, 3, 7, 9}, {8, 3, 3, 3}), "group does not divide");
  ExpectError(Conv(Attrs({{"group", int64_t(0)}}), {1, 3, 7, 9}, {8, 3, 3, 3}), "group does not divide");
  ExpectError(Conv(Attrs({{"strides", Ints{0, 1}}}), {1, 3, 7, 9}, {8, 3, 3, 3}), "strides is out of range");
  ExpectError(Conv(Attrs({{"strides", Ints{1}}}), {1, 3, 7, 9}, {8, 3, 3, 3}),
              "strides has the wrong length");
  ExpectError(Conv(Attrs({{"pads", Ints{-1, 0, 0, 0}}}), {1, 3, 7, 9}, {8, 3, 3, 3}), "pads is out of range");
  ExpectError(Conv(Attrs({{"dilations", Ints{INT64_MAX, 1}}}), {1, 3, 7, 9}, {8, 3, 3, 3}),
              "dilations is out of range");
  ExpectError(Conv(Attrs({{"kernel_shape", Ints{3, 2}}}), {1, 3, 7, 9}, {8, 3, 3, 3}),
              "kernel_shape does not fit");
  ExpectError(Conv(Attrs({{"auto_pad", string("SOME")}}), {1, 3, 7, 9}, {8, 3, 3, 3}), "auto_pad is unknown");
  ExpectError(Conv({}, {1, 3, 2, 9}, {8, 3, 3, 3}), "larger than the padded input");
  ExpectError(Conv({}, {1, 3}, {8, 3}), "number of dimensions");
  ExpectError(InferText("Conv", {}, {Shape{1, 3, 7, 9}, Shape{8, 3, 3, 3}, Shape{7}}), "bias");
  ExpectError(
      InferText("Conv", Attrs({{"activation", string("Sinh")}}), {Shape{1, 3, 7, 9}, Shape{8, 3, 3, 3}}),
      "activation is unknown");
  ExpectError(InferText("Conv", Attrs({{"residual", int64_t(1)}}), {Shape{1, 3, 7, 9}, Shape{8, 3, 3, 3}}),
              "residual is missing");
  ExpectError(InferText("Conv", {}, {{DType::kI32, {1, 3, 7, 9}}, {DType::kI32, {8, 3, 3, 3}}}), "type");
}

TEST(ConvInfer, ASliceHasTheShapeOfTheWhole) {
  auto slice = [](int64_t offset, int64_t channels, string layout = "NHWC") {
    return Attrs(
        {{"layout", layout}, {"into_offset", offset}, {"into_channels", channels}, {"residual", int64_t(1)}});
  };
  const TestInput x(Shape{1, 7, 9, 3}), w(Shape{8, 3, 3, 3}), residual(Shape{1, 5, 7, 8}), none;
  EXPECT_EQ(InferText("Conv", slice(2, 10), {x, w, none, residual}), "f32 1x5x7x10");
  EXPECT_EQ(InferText("Conv", slice(0, 11), {x, w, none, residual, Shape{1, 5, 7, 11}}), "f32 1x5x7x11");
  ExpectError(InferText("Conv", slice(3, 10), {x, w, none, residual}), "does not fit; got place 3 of 10");
  ExpectError(InferText("Conv", slice(-1, 10), {x, w, none, residual}), "does not fit");
  ExpectError(InferText("Conv", slice(0, INT64_MIN), {x, w, none, residual}), "does not fit");
  ExpectError(InferText("Conv", slice(0, 11), {x, w, none, residual, Shape{1, 5, 7, 8}}),
              "input 4 does not fit the output");
  ExpectError(InferText("Conv", slice(0, 11), {x, w, none, Shape{1, 5, 7, 11}}), "residual does not fit");
  ExpectError(InferText("Conv", slice(0, 8, "NCHW"), {Shape{1, 3, 7, 9}, w, none, Shape{1, 8, 5, 7}}),
              "needs the layout NHWC");
  ExpectError(InferText("Conv", Attrs({{"layout", string("NHWC")}}), {x, w, none, none, Shape{1, 5, 7, 8}}),
              "into_channels is not");
}

TEST(ConvInfer, SumsInPiecesAreForPlainPointwiseConvolutions) {
  auto infer = [](int64_t piece, Shape weights, Attributes more = {}) {
    more.Set("sum_piece", piece);
    return InferText("Conv", std::move(more), {Shape{1, 6, 7, 9}, weights});
  };
  EXPECT_EQ(infer(4, {8, 6, 1, 1}), "f32 1x8x7x9");
  EXPECT_EQ(infer(1, {8, 6, 1, 1}, Attrs({{"pads", Ints{0, 0, 0, 0}}, {"strides", Ints{1, 1}}})),
            "f32 1x8x7x9");
  for (int64_t piece : {int64_t{0}, int64_t{-1}, INT64_MIN})
    ExpectError(infer(piece, {8, 6, 1, 1}), "sum_piece does not fit");
  ExpectError(infer(4, {8, 6, 3, 1}), "sum_piece does not fit");
  ExpectError(infer(4, {8, 3, 1, 1}, Attrs({{"group", int64_t(2)}})), "sum_piece does not fit");
  ExpectError(infer(4, {8, 6, 1, 1}, Attrs({{"strides", Ints{1, 2}}})), "sum_piece does not fit");
  ExpectError(infer(4, {8, 6, 1, 1}, Attrs({{"pads", Ints{0, 1, 0, 0}}})), "sum_piece does not fit");
}

TEST(ConvTransposeInfer, PaddingShrinksAndOutputPaddingGrows) {
  auto infer = [](Attributes a) {
    return InferText("ConvTranspose", std::move(a), {Shape{1, 4, 5, 6}, Shape{4, 3, 3, 3}});
  };
  EXPECT_EQ(infer({}), "f32 1x3x7x8");
  EXPECT_EQ(
      infer(Attrs({{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}, {"output_padding", Ints{1, 0}}})),
      "f32 1x3x10x11");
  EXPECT_EQ(infer(Attrs({{"strides", Ints{2, 3}}, {"auto_pad", string("SAME_LOWER")}})), "f32 1x3x10x18");
  EXPECT_EQ(infer(Attrs({{"strides", Ints{2, 2}}, {"output_shape", Ints{11, 14}}})), "f32 1x3x11x14");
  ExpectError(infer(Attrs({{"pads", Ints{4, 0, 4, 0}}})), "output is empty");
}

TEST(PoolInfer, CeilModeDropsAWindowThatStartsInTheTrailingPadding) {
  auto infer = [](Ints kernel, Ints strides, Ints pads, int64_t size) {
    return InferText(
        "MaxPool",
        Attrs({{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}, {"ceil_mode", int64_t(1)}}),
        {Shape{1, 2, size}}, 2);
  };
  EXPECT_EQ(infer({3}, {2}, {0, 0}, 6), "f32 1x2x3, i64 1x2x3");
  EXPECT_EQ(infer({2}, {3}, {1, 1}, 4), "f32 1x2x2, i64 1x2x2");
  EXPECT_EQ(infer({1}, {2}, {0, 0}, 2), "f32 1x2x1, i64 1x2x1");
}

TEST(PoolInfer, GlobalPoolsKeepTheRank) {
  EXPECT_EQ(InferText("GlobalAveragePool", {}, {Shape{2, 3, 4, 5, 6}}), "f32 2x3x1x1x1");
  EXPECT_EQ(InferText("GlobalMaxPool", Attrs({{"layout", string("NHWC")}}), {Shape{2, 4, 5, 3}}),
            "f32 2x1x1x3");
  ExpectError(InferText("MaxPool", {}, {Shape{2, 3, 4}}), "kernel_shape has the wrong length");
}

}  // namespace
}  // namespace mete
