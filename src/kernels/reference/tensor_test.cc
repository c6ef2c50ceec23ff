#include <gtest/gtest.h>

#include "kernels/reference/reference_testing.h"

namespace mete {
namespace {

using Vf = std::vector<float>;
using Vi = std::vector<int64_t>;

Tensor L(const Vi& values) { return Tensor::Ints(values); }
Tensor One(int64_t value) { return I64({}, {value}); }

TEST(TransposeKernel, SwapsRowsAndColumns) {
  EXPECT_EQ(RunFor<float>("Transpose", {}, {F({2, 3}, {1, 2, 3, 4, 5, 6})}), (Vf{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(RunFor<uint8_t>("Transpose", Attrs({{"perm", Ints{1, 0, 2}}}),
                            {U8({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}),
            (std::vector<uint8_t>{1, 2, 5, 6, 3, 4, 7, 8}));
}

TEST(ConcatKernel, JoinsAlongEitherAxis) {
  const std::vector<Tensor> in = {F({2, 1}, {1, 2}), F({2, 2}, {3, 4, 5, 6}), F({2, 0}, {})};
  EXPECT_EQ(RunFor<float>("Concat", Attrs({{"axis", int64_t(1)}}), in), (Vf{1, 3, 4, 2, 5, 6}));
  EXPECT_EQ(RunFor<float>("Concat", Attrs({{"axis", int64_t(-1)}}), {F({1}, {1}), F({2}, {2, 3})}),
            (Vf{1, 2, 3}));
}

TEST(SplitKernel, CutsColumns) {
  const auto out =
      RunOp("Split", Attrs({{"axis", int64_t(1)}}), {F({2, 3}, {1, 2, 3, 4, 5, 6}), L({1, 2})}, 2);
  EXPECT_EQ(Vf(out[0].as<float>(), out[0].as<float>() + 2), (Vf{1, 4}));
  EXPECT_EQ(Vf(out[1].as<float>(), out[1].as<float>() + 4), (Vf{2, 3, 5, 6}));
}

TEST(SliceKernel, StepsForwardsAndBackwards) {
  const Tensor x = F({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(RunFor<float>("Slice", {}, {x, L({1, 0}), L({2, 3}), L({0, 1}), L({1, 2})}), (Vf{5, 7}));
  EXPECT_EQ(RunFor<float>("Slice", {}, {x, L({-1}), L({INT64_MIN}), L({1}), L({-2})}), (Vf{4, 2, 8, 6}));
  EXPECT_EQ(RunFor<float>("Slice", {}, {x, L({0, 1}), L({-1, 1000})}), (Vf{2, 3, 4}));
  EXPECT_EQ(RunFor<float>("Slice", {}, {x, L({3}), L({0}), L({1})}), Vf{});
}

TEST(PadKernel, ConstantFillsAndCrops) {
  EXPECT_EQ(RunFor<float>("Pad", {}, {F({1, 3}, {1, 2, 3}), L({0, 1, 1, -1}), F({}, {9})}),
            (Vf{9, 1, 2, 9, 9, 9}));
}

TEST(PadKernel, ReflectEdgeAndWrapReachPastOnePeriod) {
  const auto pad = [](const char* mode, Vi pads) {
    return RunFor<float>("Pad", Attrs({{"mode", std::string(mode)}}), {F({3}, {1, 2, 3}), L(pads)});
  };
  EXPECT_EQ(pad("reflect", {5, 1}), (Vf{2, 1, 2, 3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(pad("edge", {2, 1}), (Vf{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(pad("wrap", {4, 2}), (Vf{3, 1, 2, 3, 1, 2, 3, 1, 2}));
}

TEST(TileKernel, Repeats) {
  EXPECT_EQ(RunFor<float>("Tile", {}, {F({1, 2}, {1, 2}), L({2, 2})}), (Vf{1, 2, 1, 2, 1, 2, 1, 2}));
}

TEST(ExpandKernel, BroadcastsBothWays) {
  EXPECT_EQ(RunFor<float>("Expand", {}, {F({2, 1}, {1, 2}), L({2, 1, 2})}), (Vf{1, 1, 2, 2, 1, 1, 2, 2}));
  EXPECT_EQ(RunFor<float>("Expand", {}, {F({}, {7}), L({2})}), (Vf{7, 7}));
  // Rows, and pairs of rows, are repeated whole.
  const Tensor rows = F({2, 1, 1, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(RunFor<float>("Expand", {}, {rows, L({2, 2, 1, 3})}), (Vf{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
  EXPECT_EQ(RunFor<float>("Expand", {}, {F({1, 2, 1, 2}, {1, 2, 3, 4}), L({2, 1, 1, 1})}),
            (Vf{1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(RunFor<float>("Expand", {}, {F({2, 1, 0}, {}), L({2, 3, 0})}), Vf{});
}

TEST(CenterCropPadKernel, OddElementGoesToTheEnd) {
  EXPECT_EQ(RunFor<float>("CenterCropPad", {}, {F({4}, {1, 2, 3, 4}), L({1})}), (Vf{2}));
  EXPECT_EQ(RunFor<float>("CenterCropPad", {}, {F({2}, {1, 2}), L({5})}), (Vf{0, 1, 2, 0, 0}));
}

TEST(TriluKernel, KeepsEitherSideOfTheDiagonal) {
  const Tensor x = F({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(RunFor<float>("Trilu", {}, {x}), (Vf{1, 2, 3, 0, 5, 6}));
  EXPECT_EQ(RunFor<float>("Trilu", Attrs({{"upper", int64_t(0)}}), {x, One(-1)}), (Vf{0, 0, 0, 4, 0, 0}));
  EXPECT_EQ(RunFor<float>("Trilu", {}, {x, One(INT64_MAX)}), (Vf{0, 0, 0, 0, 0, 0}));
}

// The input has channels 0..7 with one pixel each, in blocks of 2. DCR takes the position in the block from
// the slowest part of the channel number.
TEST(DepthToSpaceKernel, OrdersOfChannels) {
  const Tensor x = F({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(RunFor<float>("DepthToSpace", Attrs({{"blocksize", int64_t(2)}}), {x}),
            (Vf{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(
      RunFor<float>("DepthToSpace", Attrs({{"blocksize", int64_t(2)}, {"mode", std::string("CRD")}}), {x}),
      (Vf{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(DepthToSpaceKernel, NhwcIsTheTransposedResultAndSpaceToDepthUndoesIt) {
  Vf values(2 * 8 * 2 * 3);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i);
  const Tensor x = F({2, 8, 2, 3}, values);
  const auto to_nhwc = Attrs({{"perm", Ints{0, 2, 3, 1}}}), to_nchw = Attrs({{"perm", Ints{0, 3, 1, 2}}});
  for (const char* mode : {"DCR", "CRD"}) {
    const auto plain = Attrs({{"blocksize", int64_t(2)}, {"mode", std::string(mode)}});
    auto nhwc = plain;
    nhwc.Set("layout", std::string("NHWC"));
    const Tensor wide = RunOp("DepthToSpace", plain, {x})[0];
    const Tensor other = RunOp("DepthToSpace", nhwc, {RunOp("Transpose", to_nhwc, {x})[0]})[0];
    const Vf expected(wide.as<float>(), wide.as<float>() + wide.elements());
    EXPECT_EQ(RunFor<float>("Transpose", to_nchw, {other}), expected);
    if (std::string(mode) == "CRD") continue;
    EXPECT_EQ(RunFor<float>("SpaceToDepth", plain, {wide}), values);
    EXPECT_EQ(RunFor<float>("Transpose", to_nchw, {RunOp("SpaceToDepth", nhwc, {other})[0]}), values);
  }
}

TEST(ReverseSequenceKernel, ReversesEachPrefix) {
  const Tensor x = F({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(RunFor<float>("ReverseSequence", {}, {x, L({2, 3})}), (Vf{3, 6, 1, 4, 5, 2}));
  EXPECT_THROW(RunOp("ReverseSequence", {}, {x, L({2, 4})}), Error);
}

TEST(ShapeKernel, GivesDimensions) {
  EXPECT_EQ(RunFor<int64_t>("Shape", Attrs({{"start", int64_t(1)}}), {F({1, 2, 3}, {1, 2, 3, 4, 5, 6})}),
            (Vi{2, 3}));
  EXPECT_EQ(RunFor<int64_t>("Size", {}, {F({2, 3}, {1, 2, 3, 4, 5, 6})}), (Vi{6}));
}

TEST(RangeKernel, IntegersAndFloats) {
  EXPECT_EQ(RunFor<int64_t>("Range", {}, {One(10), One(4), One(-2)}), (Vi{10, 8, 6}));
  EXPECT_EQ(RunFor<float>("Range", {}, {F({}, {1}), F({}, {2}), F({}, {0.25f})}),
            (Vf{1, 1.25f, 1.5f, 1.75f}));
}

TEST(ConstantOfShapeKernel, FillsWithTheValue) {
  EXPECT_EQ(RunFor<int32_t>("ConstantOfShape", Attrs({{"value", I32({1}, {5})}}), {L({2, 1})}),
            (std::vector<int32_t>{5, 5}));
  EXPECT_EQ(RunFor<float>("ConstantOfShape", {}, {L({2})}), (Vf{0, 0}));
}

TEST(EyeLikeKernel, ShiftsTheDiagonal) {
  EXPECT_EQ(RunFor<float>("EyeLike", Attrs({{"k", int64_t(1)}, {"dtype", std::string("f32")}}),
                          {I32({2, 3}, {9, 9, 9, 9, 9, 9})}),
            (Vf{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(RunFor<uint8_t>("EyeLike", Attrs({{"k", int64_t(-1)}, {"dtype", std::string("bool")}}),
                            {F({2, 2}, {9, 9, 9, 9})}),
            (std::vector<uint8_t>{0, 0, 1, 0}));
}

TEST(OneHotKernel, WrapsNegativesAndSkipsWhatIsOutside) {
  const std::vector<Tensor> in = {L({1, -1, 3}), One(3), F({2}, {-1, 5})};
  EXPECT_EQ(RunFor<float>("OneHot", {}, in), (Vf{-1, 5, -1, -1, -1, 5, -1, -1, -1}));
  EXPECT_EQ(RunFor<float>("OneHot", Attrs({{"axis", int64_t(0)}}), in),
            (Vf{-1, -1, -1, 5, -1, -1, -1, 5, -1}));
}

// Indices may be floats: the fraction is dropped, and an index slightly below 0 is 0, not the depth.
TEST(OneHotKernel, TakesIndicesOfFloats) {
  EXPECT_EQ(RunFor<float>("OneHot", {}, {F({3}, {-1e-20f, 1.75f, -1.5f}), One(3), F({2}, {0, 1})}),
            (Vf{1, 0, 0, 0, 1, 0, 0, 0, 1}));
}

TEST(NonZeroKernel, ListsCoordinatesByDimension) {
  const auto out = RunOp("NonZero", {}, {F({2, 2}, {1, 0, -2, 3})});
  EXPECT_EQ(out[0].shape(), (Shape{2, 3}));
  EXPECT_EQ(Vi(out[0].as<int64_t>(), out[0].as<int64_t>() + 6), (Vi{0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(RunOp("NonZero", {}, {F({2}, {0, 0})})[0].shape(), (Shape{1, 0}));
}

}  // namespace
}  // namespace mete
