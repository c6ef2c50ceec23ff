#include "base/permutation.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

TEST(JoinedPermutation, JoinsWhatStaysTogetherAndDropsOnes) {
  const Permutation image = JoinedPermutation({1, 3, 8, 9}, {0, 2, 3, 1});
  EXPECT_EQ(image.dims, (Ints{3, 72}));
  EXPECT_EQ(image.perm, (Ints{1, 0}));
  EXPECT_TRUE(image.TransposesMatrices());
  EXPECT_FALSE(image.KeepsRows());
  const Permutation shuffle = JoinedPermutation({2, 7, 7, 2, 58}, {0, 1, 2, 4, 3});
  EXPECT_EQ(shuffle.dims, (Ints{98, 2, 58}));
  EXPECT_EQ(shuffle.perm, (Ints{0, 2, 1}));
}

TEST(JoinedPermutation, NoOrderIsTheReverse) {
  const Permutation p = JoinedPermutation({4, 5, 6}, {});
  EXPECT_EQ(p.dims, (Ints{4, 5, 6}));
  EXPECT_EQ(p.perm, (Ints{2, 1, 0}));
  EXPECT_FALSE(p.TransposesMatrices());
}

TEST(JoinedPermutation, OneThatMovesNothingIsOneRow) {
  EXPECT_EQ(JoinedPermutation({4, 1, 6}, {1, 0, 2}).dims, (Ints{24}));
  EXPECT_TRUE(JoinedPermutation({4, 1, 6}, {1, 0, 2}).KeepsRows());
}

TEST(JoinedPermutation, OfOnesNothingIsLeft) {
  EXPECT_TRUE(JoinedPermutation({1, 1}, {1, 0}).dims.empty());
  EXPECT_TRUE(JoinedPermutation({}, {}).dims.empty());
  EXPECT_FALSE(JoinedPermutation({}, {}).KeepsRows());
}

}  // namespace
}  // namespace mete
