#include "base/ranking.h"

#include <gtest/gtest.h>

#include <limits>

namespace mete {
namespace {

TEST(Ranking, GivesTheBestClassesWithTheirNames) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor scores = Tensor::Floats({1, 5}, std::vector<float>{1, nan, 3, 3, 2});
  const std::vector<Ranked> best = Rank(scores.view(), 4, false, {"a", "b", "c"});
  ASSERT_EQ(best.size(), 4u);
  EXPECT_EQ(best[0].index, 2);
  EXPECT_EQ(best[0].label, "c");
  EXPECT_EQ(best[1].index, 3);  // equal to the first, and behind it
  EXPECT_EQ(best[1].label, "");
  EXPECT_EQ(best[2].index, 4);
  EXPECT_EQ(best[3].index, 0);
  EXPECT_EQ(Rank(scores.view(), 9, false, {}).back().index, 1);  // NaN comes last
  EXPECT_TRUE(Rank(scores.view(), -1, false, {}).empty());
}

TEST(Ranking, MakesProbabilitiesWhereAsked) {
  const Tensor scores = Tensor::Floats({1, 2}, std::vector<float>{1000, 1000});
  for (const Ranked& ranked : Rank(scores.view(), 2, true, {})) EXPECT_DOUBLE_EQ(ranked.score, 0.5);
}

TEST(Ranking, ReadsTheLastColumnOfALine) {
  EXPECT_EQ(LabelsIn("tench\n1\tn01443537\tgoldfish\r\n\nshark"),
            (std::vector<std::string>{"tench", "goldfish", "", "shark"}));
  EXPECT_TRUE(LabelsIn("").empty());
}

TEST(Ranking, KnowsShapesOfClasses) {
  EXPECT_TRUE(CanBeClasses({1, 1000}));
  EXPECT_TRUE(CanBeClasses({8, 2, 1, 1}));
  EXPECT_FALSE(CanBeClasses({1, 1}));
  EXPECT_FALSE(CanBeClasses({1, 1000, 7, 7}));
  EXPECT_FALSE(CanBeClasses({1000}));
  EXPECT_FALSE(CanBeClasses(Shape::Unknown()));
}

TEST(Ranking, RowsShareTheMemoryOfTheirTensor) {
  const Tensor two = Tensor::Floats({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor row = RowOf(two, 1, 2);
  EXPECT_EQ(row.shape(), (Shape{1, 3}));
  EXPECT_EQ(row.data(), two.as<float>() + 3);
}

}  // namespace
}  // namespace mete
