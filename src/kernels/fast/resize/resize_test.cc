#include "kernels/fast/resize/resize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

std::vector<ResizeSource> Sources(RandomData& random, int64_t in, int64_t out) {
  std::vector<ResizeSource> sources;
  for (int64_t i = 0; i < out; ++i) {
    const float part = static_cast<float>(random.Int(0, 16)) / 16;
    sources.push_back({random.Int(0, in - 1), random.Int(0, in - 1), 1 - part, part});
  }
  return sources;
}

TEST(ResizeF32, MatchesDoubleOverOddSizesAndAnyBlocks) {
  OnEveryTarget([](const std::string&) {
    for (uint32_t seed = 1; seed < 40; ++seed) {
      RandomData random(seed);
      ResizeShape s;
      s.nearest = seed % 2 == 0;
      s.images = random.Int(1, 3);
      s.in_height = random.Int(1, 7);
      s.in_width = random.Int(1, 7);
      s.pixel = random.Int(1, 70);
      s.rows = Sources(random, s.in_height, random.Int(1, 9));
      s.columns = Sources(random, s.in_width, random.Int(1, 9));
      const std::vector<float> x = random.Floats(s.images * s.in_height * s.in_width * s.pixel);
      const int64_t width = static_cast<int64_t>(s.columns.size());
      std::vector<float> y(static_cast<size_t>(s.out_rows() * width * s.pixel), NAN);
      for (int64_t r = 0, end; r < s.out_rows(); r = end) {
        end = std::min(s.out_rows(), r + random.Int(1, 4));
        RunResize(s, x.data(), {r, end}, y.data());
      }
      for (int64_t r = 0; r < s.out_rows(); ++r)
        for (int64_t c = 0; c < width; ++c)
          for (int64_t i = 0; i < s.pixel; ++i) {
            const int64_t height = static_cast<int64_t>(s.rows.size()), image = r / height * s.in_height;
            const ResizeSource &row = s.rows[r % height], &column = s.columns[c];
            const auto at = [&](int64_t h, int64_t w) {
              return double(x[((image + h) * s.in_width + w) * s.pixel + i]);
            };
            const float got = y[(r * width + c) * s.pixel + i];
            if (s.nearest) {
              ASSERT_EQ(got, at(row.first, column.first)) << "seed " << seed;
              continue;
            }
            const double upper = row.first_weight, lower = row.second_weight;
            const double expected =
                column.first_weight *
                    (upper * at(row.first, column.first) + lower * at(row.second, column.first)) +
                column.second_weight *
                    (upper * at(row.first, column.second) + lower * at(row.second, column.second));
            ASSERT_NEAR(got, expected, SumTolerance(4, 1)) << "seed " << seed;
          }
    }
  });
}

}  // namespace
}  // namespace mete
