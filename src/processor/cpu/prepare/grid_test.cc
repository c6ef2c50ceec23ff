#include "processor/cpu/prepare/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace mete {
namespace {

// Makes a grid for threads of equal speed.
Grid EvenGrid(const GridSides& sides, int threads, bool other_side = false) {
  return MakeGrid(sides, std::vector<double>(size_t(threads), 1), other_side);
}

// Returns how often each (row, column) is part of a piece when the blocks are dealt out in `shares` runs.
std::vector<int> Covered(const Grid& grid, int shares) {
  std::vector<int> seen(size_t(grid.rows * grid.columns), 0);
  for (int s = 0; s < shares; ++s)
    grid.ForPieces(grid.blocks() * s / shares, grid.blocks() * (s + 1) / shares,
                   [&](Range rows, Range columns) {
                     for (int64_t r = rows.begin; r < rows.end; ++r)
                       for (int64_t c = columns.begin; c < columns.end; ++c)
                         ++seen[size_t(r * grid.columns + c)];
                   });
  return seen;
}

TEST(Grid, PiecesCoverAllOnceHoweverItIsDividedAndDealtOut) {
  for (const int threads : {1, 2, 3, 5})
    for (const int64_t rows : {1, 5, 49, 197})
      for (const int64_t columns : {1, 2, 3, 16})
        for (const bool other_side : {false, true})
          for (const int64_t column_bytes : {1, 1000}) {
            const Grid grid = EvenGrid({rows, 6, 100, columns, column_bytes}, threads, other_side);
            for (const int shares : {1, 2, 3, 7}) {
              const std::vector<int> seen = Covered(grid, shares);
              EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }))
                  << rows << " rows, " << columns << " columns, " << threads << " threads, " << shares
                  << " shares";
            }
          }
}

TEST(Grid, ActivationsCountTwice) {
  EXPECT_FALSE(EvenGrid({96, 6, 100, 16, 150}, 2).columns_outer);
  EXPECT_TRUE(EvenGrid({96, 6, 100, 16, 250}, 2).columns_outer);
}

TEST(Grid, BlocksOfBothSidesAreWholeTilesOfRows) {
  const Grid grid = EvenGrid({49, 6, 100, 8, 10000}, 16);  // 8 panels are too few for 16 threads
  ASSERT_GT(grid.row_blocks, 1);
  for (int64_t b = 0; b < grid.row_blocks; ++b) EXPECT_EQ(grid.Rows(b).begin % 6, 0);
}

TEST(Grid, DividesTheSideThatReadsMoreAndTheOtherOneIfAsked) {
  EXPECT_FALSE(EvenGrid({96, 6, 1000, 16, 100}, 2).columns_outer);
  EXPECT_TRUE(EvenGrid({96, 6, 1000, 16, 100}, 2, /*other_side=*/true).columns_outer);
  EXPECT_TRUE(EvenGrid({96, 6, 100, 16, 1000}, 2).columns_outer);
  EXPECT_FALSE(EvenGrid({96, 6, 100, 16, 1000}, 2, /*other_side=*/true).columns_outer);
  EXPECT_EQ(EvenGrid({96, 6, 100, 16, 1000}, 1, /*other_side=*/true).blocks(), 1);
}

TEST(Grid, RowsComeFirstWhereColumnsAreFewAndUneven) {
  // 3 panels for 2 threads: one thread would get twice the work of the other
  EXPECT_FALSE(EvenGrid({96, 6, 100, 3, 1000}, 2).columns_outer);
}

TEST(Grid, DividesAFewTilesOfRowsEvenly) {
  const Grid grid = EvenGrid({16, 6, 1000, 3, 100}, 2);
  EXPECT_EQ(grid.Rows(grid.row_blocks / 2).begin, 8);
  for (const int64_t rows : {7, 19, 20}) {  // whole tiles would give 6 and 1, 12 and 7, 12 and 8
    const Grid half = EvenGrid({rows, 6, 1000, 1, 100}, 2);
    const int64_t first = half.Rows(half.row_blocks / 2).begin;
    EXPECT_LE(std::max(first, rows - first), (rows + 1) / 2) << rows;
  }
  const Grid many = EvenGrid({960, 6, 1000, 3, 100}, 2);
  for (int64_t b = 0; b < many.row_blocks; ++b) EXPECT_EQ(many.Rows(b).begin % 6, 0);
}

TEST(Grid, CutsTilesOfRowsWhereTheyAreNotEven) {
  // 33 tiles are 17 and 16 for equal threads, 24 and 9 for a fast and a slow one: 4 and 2.9 % more than the
  // exact share.
  EXPECT_EQ(EvenGrid({196, 6, 1000, 3, 100}, 2).row_step, 1);
  EXPECT_EQ(MakeGrid({196, 6, 1000, 3, 100}, std::vector{1.0, 0.4}).row_step, 6);
  EXPECT_EQ(EvenGrid({192, 6, 1000, 3, 100}, 2).row_step, 6);
}

TEST(Grid, WhetherASideIsEvenDependsOnTheSpeeds) {
  const auto columns_outer = [](int64_t columns, std::vector<double> speeds) {
    return MakeGrid({96, 6, 100, columns, 1000}, speeds).columns_outer;
  };
  EXPECT_FALSE(columns_outer(3, {1, 1}));
  EXPECT_TRUE(columns_outer(3, {1, 0.5}));
  EXPECT_TRUE(columns_outer(7, {1, 0.4}));  // 5 and 2
  EXPECT_FALSE(columns_outer(2, {1, 0.4}));
  EXPECT_TRUE(columns_outer(2, {1, 1}));
}

TEST(Grid, ARunOfBlocksIsAtMostThreeRectanglesAndAllOfThemOne) {
  for (const bool other_side : {false, true}) {
    const Grid grid = EvenGrid({96, 6, 1000, 16, 100}, 2, other_side);
    for (int64_t begin = 0; begin < grid.blocks(); ++begin)
      for (int64_t end = begin + 1; end <= grid.blocks(); ++end) {
        int pieces = 0;
        grid.ForPieces(begin, end, [&](Range, Range) { ++pieces; });
        EXPECT_LE(pieces, end - begin == grid.blocks() ? 1 : 3);
      }
  }
}

}  // namespace
}  // namespace mete
