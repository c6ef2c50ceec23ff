#include "kernels/fast/select/best.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

int64_t PlaceOf(const BestShape& s, const std::vector<float>& x, int64_t outer, int64_t inner) {
  int64_t best = 0;
  const auto at = [&](int64_t i) { return x[size_t((outer * s.length + i) * s.inner + inner)]; };
  for (int64_t i = 1; i < s.length; ++i) {
    const float v = at(i), old = at(best);
    const bool equal = v == old || (std::isnan(v) && std::isnan(old));
    if (equal ? s.last : !std::isnan(old) && (std::isnan(v) || (s.largest ? v > old : v < old))) best = i;
  }
  return best;
}

TEST(BestF32, IsThePlaceOfTheReference) {
  OnEveryTarget([](const std::string&) {
    for (uint32_t seed = 1; seed < 200; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      RandomData random(seed);
      BestShape s;
      s.outer = random.Int(1, 4);
      s.length = random.Int(1, seed % 10 == 0 ? 5000 : 40);
      s.inner = seed % 2 == 0 ? 1 : random.Int(2, seed % 3 == 0 ? 1100 : 40);
      s.largest = random.Int(0, 1) == 1;
      s.last = random.Int(0, 1) == 1;
      std::vector<float> x = random.Floats(s.lines() * s.length, 40);
      const int64_t kind = random.Int(0, 3);
      for (float& v : x) {
        if (kind > 0) v = std::round(v / 10);
        if (kind == 2 && random.Int(0, 60) == 0) v = NAN;
        if (kind == 3) v = s.largest ? -INFINITY : INFINITY;
      }
      std::vector<int64_t> y(size_t(s.lines()), -1);
      const int64_t units = BestUnits(s), middle = random.Int(0, units);
      RunBest(s, x.data(), {0, middle}, y.data());
      RunBest(s, x.data(), {middle, units}, y.data());
      for (int64_t l = 0; l < s.lines(); ++l)
        ASSERT_EQ(y[size_t(l)], PlaceOf(s, x, l / s.inner, l % s.inner)) << "line " << l;
    }
  });
}

}  // namespace
}  // namespace mete
