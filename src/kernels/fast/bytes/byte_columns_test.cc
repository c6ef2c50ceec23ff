#include "kernels/fast/bytes/byte_columns.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

std::vector<uint8_t> BytesOf(int64_t rows, int64_t stride, uint32_t seed) {
  RandomData random(seed);
  std::vector<uint8_t> bytes(static_cast<size_t>(rows * stride));
  for (uint8_t& byte : bytes) byte = uint8_t(random.Int(0, 255));
  return bytes;
}

TEST(ByteColumns, SumsAreThoseOfEachColumn) {
  OnEveryTarget([](const std::string&) {
    for (const uint8_t flip : {0, 0x80})
      for (const int64_t rows : {1, 7, 257, 258, 1000})
        for (const int64_t columns : {1, 15, 16, 31, 64, 100, 197}) {
          const int64_t stride = columns + 3;
          std::vector<uint8_t> bytes = BytesOf(rows, stride, uint32_t(rows + columns));
          if (rows == 258) bytes.assign(bytes.size(), uint8_t(255 ^ flip));  // the largest sums
          std::vector<int32_t> sums(static_cast<size_t>(columns) + 1, 77);
          SumByteColumns({bytes.data(), rows, columns, stride, flip}, sums.data());
          for (int64_t c = 0; c < columns; ++c) {
            int32_t want = 0;
            for (int64_t r = 0; r < rows; ++r) want += bytes[size_t(r * stride + c)] ^ flip;
            ASSERT_EQ(sums[size_t(c)], want) << rows << "x" << columns << ", column " << c;
          }
          EXPECT_EQ(sums.back(), 77);
        }
  });
}

TEST(ByteColumns, FourRowsAreInterleaved) {
  OnEveryTarget([](const std::string&) {
    for (const uint8_t flip : {0, 0x80})
      for (const int64_t columns : {1, 15, 16, 31, 64, 100, 197}) {
        const int64_t stride = columns + 5;
        const std::vector<uint8_t> bytes = BytesOf(4, stride, uint32_t(columns));
        std::vector<uint8_t> to(static_cast<size_t>(4 * columns) + 1, 77);
        InterleaveFourRows({bytes.data(), 4, columns, stride, flip}, to.data());
        for (int64_t i = 0; i < 4 * columns; ++i)
          ASSERT_EQ(to[size_t(i)], bytes[size_t(i % 4 * stride + i / 4)] ^ flip) << columns << ", " << i;
        EXPECT_EQ(to.back(), 77);
      }
  });
}

}  // namespace
}  // namespace mete
