#include "kernels/reference/iterate.h"

#include <gtest/gtest.h>

#include <vector>

namespace mete {
namespace {

std::vector<int64_t> Walk(const Shape& shape, const Steps& steps) {
  std::vector<int64_t> offsets;
  ForEach<1>(shape, {steps}, [&](const auto& at) { offsets.push_back(at[0]); });
  return offsets;
}

TEST(Iterate, BroadcastingRepeatsDimensionsOfOne) {
  const Shape to{2, 2, 3};
  EXPECT_EQ(Walk(to, BroadcastSteps({2, 1}, to)), (std::vector<int64_t>{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(Walk(to, BroadcastSteps({}, to)), std::vector<int64_t>(12, 0));
}

TEST(Iterate, PermutingWalksTheTransposedOrder) {
  const std::vector<int64_t> order{1, 0};
  EXPECT_EQ(Walk({3, 2}, PermutedSteps(Shape{2, 3}, order)), (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
}

TEST(Iterate, ScalarsHaveOneElementAndEmptyShapesNone) {
  EXPECT_EQ(Walk({}, RowMajorSteps({})).size(), 1u);
  EXPECT_TRUE(Walk({0, 3}, RowMajorSteps({0, 3})).empty());
  EXPECT_TRUE(Walk({3, 0}, RowMajorSteps({3, 0})).empty());
}

TEST(Iterate, LinesAlongAnAxisStartAtEveryOtherCoordinate) {
  std::vector<int64_t> starts;
  AxisSplit(Shape{2, 3, 2}, 1).ForEachLine([&](int64_t at) { starts.push_back(at); });
  EXPECT_EQ(starts, (std::vector<int64_t>{0, 1, 6, 7}));
}

}  // namespace
}  // namespace mete
