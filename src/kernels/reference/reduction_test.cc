#include <gtest/gtest.h>

#include "kernels/reference/number.h"
#include "kernels/reference/reference_testing.h"

namespace mete {
namespace {

using Floats32 = std::vector<float>;
using Int64s = std::vector<int64_t>;
using Int32s = std::vector<int32_t>;

Attribute One() { return int64_t(1); }
const Tensor kX = F({2, 3}, {1, 2, 3, 4, 5, 6});
Tensor Axes(const Int64s& axes) { return I64({int64_t(axes.size())}, axes); }

TEST(Reduce, MatchesHandComputedValues) {
  EXPECT_EQ(RunFor<float>("ReduceSum", {}, {kX, Axes({0})}), (Floats32{5, 7, 9}));
  EXPECT_EQ(RunFor<float>("ReduceSum", {}, {kX, Axes({-1})}), (Floats32{6, 15}));
  EXPECT_EQ(RunFor<float>("ReduceMean", {}, {kX}), (Floats32{3.5f}));
  EXPECT_EQ(RunFor<float>("ReduceMax", {}, {kX, Axes({1})}), (Floats32{3, 6}));
  EXPECT_EQ(RunFor<float>("ReduceMin", {}, {kX, Axes({1, 0})}), (Floats32{1}));
  EXPECT_EQ(RunFor<float>("ReduceProd", {}, {kX, Axes({1})}), (Floats32{6, 120}));
  EXPECT_EQ(RunFor<float>("ReduceL1", {}, {F({2}, {-3, 4})}), (Floats32{7}));
  EXPECT_EQ(RunFor<float>("ReduceL2", {}, {F({2}, {-3, 4})}), (Floats32{5}));
  EXPECT_EQ(RunFor<float>("ReduceSumSquare", {}, {F({2}, {-3, 4})}), (Floats32{25}));
  ExpectNear(RunFor<float>("ReduceLogSum", {}, {kX, Axes({1})}), {1.791759469f, 2.708050201f}, 1e-6);
  ExpectNear(RunFor<float>("ReduceLogSumExp", {}, {F({2}, {1000, 1000})}), {1000.693147f}, 1e-6);
}

TEST(Reduce, OfInnerAndOuterAxesTogetherKeepsTheMiddle) {
  std::vector<float> x(2 * 3 * 2);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(i);
  EXPECT_EQ(RunFor<float>("ReduceSum", {}, {F({2, 3, 2}, x), Axes({0, 2})}), (Floats32{14, 22, 30}));
}

TEST(Reduce, IntegersAreExactAndWrap) {
  EXPECT_EQ(RunFor<int32_t>("ReduceSum", {}, {I32({2}, {INT32_MAX, 1})}), Int32s{INT32_MIN});
  EXPECT_EQ(RunFor<int64_t>("ReduceSum", {}, {I64({2}, {(int64_t(1) << 60) + 1, 1})}),
            Int64s{(int64_t(1) << 60) + 2});
  EXPECT_EQ(RunFor<int32_t>("ReduceMean", {}, {I32({2}, {-4, 1})}), Int32s{-1});
  EXPECT_EQ(RunFor<uint8_t>("ReduceMax", {}, {U8({3}, {1, 255, 3})}), std::vector<uint8_t>{255});
  EXPECT_EQ(RunFor<int64_t>("ReduceL1", {}, {I64({2}, {INT64_MIN, 0})}), Int64s{INT64_MIN});
}

TEST(Reduce, EmptySetsGiveTheNeutralElement) {
  const Tensor none = F({2, 0}, {});
  const Floats32 zeros{0, 0}, low{-INFINITY, -INFINITY};
  for (const char* op : {"ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare"})
    EXPECT_EQ(RunFor<float>(op, {}, {none, Axes({1})}), zeros) << op;
  for (const char* op : {"ReduceMax", "ReduceLogSum", "ReduceLogSumExp"})
    EXPECT_EQ(RunFor<float>(op, {}, {none, Axes({1})}), low) << op;
  EXPECT_EQ(RunFor<float>("ReduceProd", {}, {none, Axes({1})}), (Floats32{1, 1}));
  EXPECT_EQ(RunFor<float>("ReduceMin", {}, {none, Axes({1})}), (Floats32{INFINITY, INFINITY}));
  EXPECT_EQ(RunFor<int32_t>("ReduceMax", {}, {I32({0}, {})}), Int32s{INT32_MIN});
  EXPECT_EQ(RunFor<int32_t>("ReduceMean", {}, {I32({0}, {})}), Int32s{0});
  EXPECT_TRUE(std::isnan(RunFor<float>("ReduceMean", {}, {F({0}, {})})[0]));
  EXPECT_TRUE(RunFor<float>("ReduceSum", {}, {none, Axes({0})}).empty());
}

TEST(Reduce, BoolsOrderFalseBeforeTrue) {
  const Tensor x = Bools({2, 2}, {1, 0, 1, 1});
  EXPECT_EQ(RunFor<uint8_t>("ReduceMax", {}, {x, Axes({1})}), (std::vector<uint8_t>{1, 1}));
  EXPECT_EQ(RunFor<uint8_t>("ReduceMin", {}, {x, Axes({1})}), (std::vector<uint8_t>{0, 1}));
}

TEST(Reduce, NoopStillAppliesTheElementwiseParts) {
  EXPECT_EQ(
      RunFor<float>("ReduceSumSquare", Attrs({{"noop_with_empty_axes", One()}}), {F({2}, {-3, 4}), Axes({})}),
      (Floats32{9, 16}));
  EXPECT_EQ(RunFor<float>("ReduceSum", Attrs({{"noop_with_empty_axes", One()}}), {F({2}, {-3, 4})}),
            (Floats32{-3, 4}));
}

TEST(ArgMax, FirstOrLastOfEqualElements) {
  const Tensor x = F({2, 3}, {2, 2, 1, 3, 10, 10});
  EXPECT_EQ(RunFor<int64_t>("ArgMax", Attrs({{"axis", One()}}), {x}), (Int64s{0, 1}));
  EXPECT_EQ(RunFor<int64_t>("ArgMax", Attrs({{"axis", One()}, {"select_last_index", One()}}), {x}),
            (Int64s{1, 2}));
  EXPECT_EQ(RunFor<int64_t>("ArgMin", {}, {x}), (Int64s{0, 0, 0}));
  EXPECT_EQ(RunFor<int64_t>("ArgMax", {}, {F({}, {3})}), (Int64s{0}));
}

TEST(ArgMax, ANanWinsLikeInNumpy) {
  EXPECT_EQ(RunFor<int64_t>("ArgMax", {}, {F({4}, {1, NAN, 5, NAN})}), (Int64s{1}));
  EXPECT_EQ(RunFor<int64_t>("ArgMin", {}, {F({4}, {1, NAN, 5, NAN})}), (Int64s{1}));
}

TEST(TopK, SortsAndBreaksTiesByIndex) {
  const Tensor x = F({2, 4}, {0, 3, 3, 1, 7, 5, 6, 4});
  const auto top = RunOp("TopK", {}, {x, Axes({3})}, 2);
  EXPECT_EQ(Floats32(top[0].as<float>(), top[0].as<float>() + 6), (Floats32{3, 3, 1, 7, 6, 5}));
  EXPECT_EQ(Int64s(top[1].as<int64_t>(), top[1].as<int64_t>() + 6), (Int64s{1, 2, 3, 0, 2, 1}));
  EXPECT_EQ(RunFor<float>("TopK", Attrs({{"axis", int64_t(0)}, {"largest", int64_t(0)}}), {x, Axes({1})}),
            (Floats32{0, 3, 3, 1}));
  EXPECT_TRUE(RunFor<float>("TopK", {}, {x, Axes({0})}).empty());
}

TEST(TopK, NansHaveAPlaceInTheOrder) {
  const auto y = RunFor<float>("TopK", {}, {F({4}, {1, NAN, 2, NAN}), Axes({4})});
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
  EXPECT_EQ(y[2], 2);
}

TEST(Cumulative, SumsAndProductsInBothDirections) {
  const Tensor x = I32({4}, {1, 2, 3, 4}), axis = I32({}, {0});
  EXPECT_EQ(RunFor<int32_t>("CumSum", {}, {x, axis}), (Int32s{1, 3, 6, 10}));
  EXPECT_EQ(RunFor<int32_t>("CumSum", Attrs({{"exclusive", One()}}), {x, axis}), (Int32s{0, 1, 3, 6}));
  EXPECT_EQ(RunFor<int32_t>("CumSum", Attrs({{"reverse", One()}}), {x, axis}), (Int32s{10, 9, 7, 4}));
  EXPECT_EQ(RunFor<int32_t>("CumProd", Attrs({{"exclusive", One()}, {"reverse", One()}}), {x, axis}),
            (Int32s{24, 12, 4, 1}));
  EXPECT_EQ(RunFor<float>("CumSum", {}, {kX, Axes({0})}), (Floats32{1, 2, 3, 5, 7, 9}));
  EXPECT_THROW(RunFor<float>("CumSum", {}, {kX, Axes({2})}), Error);
}

TEST(Softmax, AlongAnyAxisAndForLargeInputs) {
  ExpectNear(RunFor<float>("Softmax", {}, {F({2, 2}, {0, 1, 10000, 10001})}),
             {0.268941421f, 0.731058579f, 0.268941421f, 0.731058579f}, 1e-6);
  ExpectNear(RunFor<float>("Softmax", Attrs({{"axis", int64_t(0)}}), {F({2, 2}, {0, 5, 1, 5})}),
             {0.268941421f, 0.5f, 0.731058579f, 0.5f}, 1e-6);
  ExpectNear(RunFor<float>("LogSoftmax", {}, {F({2}, {0, 1})}), {-1.313261688f, -0.313261688f}, 1e-6);
  EXPECT_EQ(RunFor<float>("Softmax", {}, {F({}, {3})}), (Floats32{1}));
  EXPECT_TRUE(RunFor<float>("Softmax", {}, {F({2, 0}, {})}).empty());
}

TEST(Hardmax, MarksTheFirstGreatest) {
  EXPECT_EQ(RunFor<float>("Hardmax", {}, {F({2, 3}, {1, 3, 3, 2, 0, 1})}), (Floats32{0, 1, 0, 1, 0, 0}));
}

}  // namespace
}  // namespace mete
