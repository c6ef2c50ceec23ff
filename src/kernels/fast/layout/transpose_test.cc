#include "kernels/fast/layout/transpose.h"

#include <gtest/gtest.h>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

TEST(TransposeF32, BothWaysInAnyBlocks) {
  uint32_t seed = 1;
  for (const auto& [channels, pixels] :
       {std::pair<int64_t, int64_t>{3, 100}, {16, 16}, {1, 1}, {33, 47}, {64, 35}, {5, 1000}}) {
    RandomData random(seed++);
    const std::vector<float> nchw = random.Floats(channels * pixels);
    std::vector<float> nhwc(nchw.size(), -77), back(nchw.size(), -77);
    for (int64_t p = 0, end; p < pixels; p = end) {
      end = std::min(pixels, p + random.Int(1, 40));
      NchwToNhwc(nchw.data(), channels, pixels, {p, end}, nhwc.data());
      NhwcToNchw(nhwc.data(), channels, pixels, {p, end}, back.data());
    }
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t p = 0; p < pixels; ++p) ASSERT_EQ(nhwc[p * channels + c], nchw[c * pixels + p]);
    }
    ASSERT_EQ(back, nchw);
  }
}

// Returns the expected elements of `to`: the transposed matrix, with -77 between its rows.
std::vector<float> Transposed(const std::vector<float>& from, int64_t from_stride, int64_t rows,
                              int64_t columns, int64_t to_stride) {
  std::vector<float> to(static_cast<size_t>((columns - 1) * to_stride + rows), -77);
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) to[c * to_stride + r] = from[r * from_stride + c];
  }
  return to;
}

// Both buffers have exactly the necessary length, so that the address sanitizer detects any access beyond
// their ends.
void ExpectTransposed(int64_t rows, int64_t columns, int64_t from_gap, int64_t to_gap) {
  const int64_t from_stride = columns + from_gap, to_stride = rows + to_gap;
  const std::vector<float> from =
      RandomData(static_cast<uint32_t>(rows * columns)).Floats((rows - 1) * from_stride + columns);
  const std::vector<float> expected = Transposed(from, from_stride, rows, columns, to_stride);
  std::vector<float> to(expected.size(), -77);
  Transpose(from.data(), from_stride, {0, rows}, columns, to.data(), to_stride);
  ASSERT_EQ(to, expected) << rows << "x" << columns << ", gaps " << from_gap << ", " << to_gap;
}

TEST(TransposeF32, FewRowsOrColumnsWithAndWithoutGaps) {
  OnEveryTarget([](const std::string&) {
    for (int64_t few = 1; few <= 5; ++few)
      for (int64_t many = 1; many <= 70; ++many)
        for (const int64_t from_gap : {0, 3})
          for (const int64_t to_gap : {0, 5}) {
            ExpectTransposed(few, many, from_gap, to_gap);
            ExpectTransposed(many, few, from_gap, to_gap);
          }
  });
}

TEST(TransposeF32, BlocksOfRowsAreTheirPartOfTheWhole) {
  OnEveryTarget([](const std::string&) {
    for (int64_t columns = 1; columns <= 5; ++columns) {
      const int64_t rows = 150;
      RandomData random(static_cast<uint32_t>(columns));
      const std::vector<float> from = random.Floats(rows * columns),
                               expected = Transposed(from, columns, rows, columns, rows);
      std::vector<float> to(expected.size(), -77);
      for (int64_t r = 0, end; r < rows; r = end) {
        end = std::min(rows, r + random.Int(1, 40));
        Transpose(from.data(), columns, {r, end}, columns, to.data(), rows);
      }
      ASSERT_EQ(to, expected) << columns;
    }
  });
}

TEST(TransposeF32, ManyMatrices) {
  OnEveryTarget([](const std::string&) {
    const auto expect = [](int64_t batch, int64_t rows, int64_t columns) {
      const int64_t size = rows * columns;
      const std::vector<float> from = RandomData(static_cast<uint32_t>(size)).Floats(batch * size);
      std::vector<float> to(from.size(), -77), expected;
      for (int64_t b = 0; b < batch; ++b) {
        const std::vector<float> one(from.begin() + b * size, from.begin() + (b + 1) * size);
        const std::vector<float> turned = Transposed(one, columns, rows, columns, rows);
        expected.insert(expected.end(), turned.begin(), turned.end());
      }
      TransposeEach(from.data(), batch, rows, columns, to.data());
      ASSERT_EQ(to, expected) << batch << " times " << rows << "x" << columns;
    };
    for (const int64_t batch : {1, 2, 7})
      for (int64_t few = 1; few <= 5; ++few)
        for (int64_t many = 1; many <= 70; ++many) {
          expect(batch, few, many);
          expect(batch, many, few);
        }
    expect(3, 33, 47);
  });
}

}  // namespace
}  // namespace mete
