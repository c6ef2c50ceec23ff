#include "kernels/fast/layout/transpose_bytes.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

TEST(TransposeBytes, AnySizesAndStridesInTwoBlocks) {
  for (const int64_t rows : {1, 3, 8, 9, 20})
    for (const int64_t columns : {1, 7, 8, 16, 19}) {
      const int64_t from_stride = columns + 3, to_stride = rows + 2;
      std::vector<uint8_t> from(size_t(rows * from_stride)), to(size_t(columns * to_stride), 77);
      for (size_t i = 0; i < from.size(); ++i) from[i] = uint8_t(i * 7 + i / 256);
      const int64_t cut = rows / 2;
      for (const Range part : {Range{0, cut}, Range{cut, rows}})
        TransposeBytes(from.data(), from_stride, part, columns, to.data(), to_stride);
      for (int64_t c = 0; c < columns; ++c)
        for (int64_t r = 0; r < to_stride; ++r)
          ASSERT_EQ(to[size_t(c * to_stride + r)], r < rows ? from[size_t(r * from_stride + c)] : 77)
              << rows << "x" << columns;
    }
}

TEST(TransposeBytes, FewRowsAreInterleavedInEachMatrix) {
  OnEveryTargetAndFeature([] {
    for (const int64_t rows : {1, 2, 3, 4, 5, 8})
      for (const int64_t columns : {1, 2, 15, 16, 17, 58, 63, 64, 65, 116, 200}) {
        constexpr int64_t kBatch = 3;
        std::vector<uint8_t> from(size_t(kBatch * rows * columns)), to(from.size() + 1, 77);
        for (size_t i = 0; i < from.size(); ++i) from[i] = uint8_t(i * 7 + i / 256);
        TransposeBytesEach(from.data(), kBatch, rows, columns, to.data());
        for (int64_t i = 0; i < kBatch * rows * columns; ++i) {
          const int64_t matrix = i / (rows * columns), at = i % (rows * columns);
          ASSERT_EQ(to[size_t(i)], from[size_t((matrix * rows + at % rows) * columns + at / rows)])
              << rows << "x" << columns << ", " << i;
        }
        EXPECT_EQ(to.back(), 77);
      }
  });
}

TEST(TransposeBytes, PicturesOfFewChannelsAreInterleavedFromStridedRows) {
  OnEveryTargetAndFeature([] {
    for (const int64_t rows : {2, 3, 4})
      for (const int64_t columns : {1, 15, 16, 63, 64, 65, 200}) {
        const int64_t stride = columns + 5;
        std::vector<uint8_t> from(size_t(rows * stride)), to(size_t(rows * columns + 1), 77);
        for (size_t i = 0; i < from.size(); ++i) from[i] = uint8_t(i * 7 + i / 256);
        TransposeBytes(from.data(), stride, {0, rows}, columns, to.data(), rows);
        for (int64_t i = 0; i < rows * columns; ++i)
          ASSERT_EQ(to[size_t(i)], from[size_t(i % rows * stride + i / rows)])
              << columns << " columns, " << i;
        EXPECT_EQ(to.back(), 77);
      }
  });
}

}  // namespace
}  // namespace mete
