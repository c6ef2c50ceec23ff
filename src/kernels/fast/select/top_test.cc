#include "kernels/fast/select/top.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

// Returns whether element a comes before b.
bool ComesFirst(const std::vector<float>& line, int64_t a, int64_t b, bool largest) {
  const float x = line[size_t(a)], y = line[size_t(b)];
  if (std::isnan(x) != std::isnan(y)) return std::isnan(x) == largest;
  if (!std::isnan(x) && x != y) return (x > y) == largest;
  return a < b;
}

// Few different values, so that many are equal, with zeros of both signs, infinities and NaN.
std::vector<float> Values(RandomData& random, int64_t count, int64_t kind) {
  std::vector<float> x = random.Floats(count, 100);
  constexpr float kSpecial[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1.0f, -1.0f};
  for (float& v : x) {
    if (kind == 1) v = std::round(v / 20);
    if (kind == 2) v = kSpecial[random.Int(0, 7)];
    if (kind == 3 && random.Int(0, 9) > 0) v = NAN;
  }
  if (kind == 4) std::sort(x.begin(), x.end());
  return x;
}

TEST(TopF32, IsTheOrderOfASort) {
  OnEveryTarget([](const std::string&) {
    for (uint32_t seed = 1; seed < 200; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      RandomData random(seed);
      TopShape s;
      s.outer = random.Int(1, 3);
      s.inner = seed % 3 == 0 ? random.Int(2, 5) : 1;
      s.length = random.Int(1, seed % 2 == 0 ? 40 : 900);
      s.k = random.Int(1, seed % 4 < 2 ? std::min<int64_t>(s.length, 9) : s.length);
      s.largest = random.Int(0, 1) == 1;
      const std::vector<float> x = Values(random, s.lines() * s.length, random.Int(0, 4));
      std::vector<float> values(size_t(s.lines() * s.k));
      std::vector<int64_t> indices(values.size(), -1);
      TopScratch scratch(s);
      const int64_t middle = random.Int(0, s.lines());
      RunTop(s, x.data(), {0, middle}, scratch, values.data(), indices.data());
      RunTop(s, x.data(), {middle, s.lines()}, scratch, values.data(), indices.data());
      for (int64_t l = 0; l < s.lines(); ++l) {
        const int64_t outer = l / s.inner, inner = l % s.inner;
        std::vector<float> line;
        for (int64_t i = 0; i < s.length; ++i)
          line.push_back(x[size_t((outer * s.length + i) * s.inner + inner)]);
        std::vector<int64_t> order(line.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(),
                  [&](int64_t a, int64_t b) { return ComesFirst(line, a, b, s.largest); });
        for (int64_t j = 0; j < s.k; ++j) {
          const auto at = size_t((outer * s.k + j) * s.inner + inner);
          ASSERT_EQ(indices[at], order[size_t(j)]) << "line " << l << ", place " << j;
          ASSERT_EQ(std::memcmp(&values[at], &line[size_t(order[size_t(j)])], sizeof(float)), 0);
        }
      }
    }
  });
}

TEST(TopF32, EitherOutputMayBeLeftOut) {
  const TopShape s{.length = 5, .k = 2};
  const float x[] = {1, 5, 3, 5, 2};
  TopScratch scratch(s);
  float values[2];
  int64_t indices[2];
  RunTop(s, x, {0, 1}, scratch, values, nullptr);
  RunTop(s, x, {0, 1}, scratch, nullptr, indices);
  EXPECT_EQ(values[1], 5);
  EXPECT_EQ(indices[0], 1);
  EXPECT_EQ(indices[1], 3);
}

}  // namespace
}  // namespace mete
