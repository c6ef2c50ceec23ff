// Sorting and comparing boxes, against the plain definitions.
#include "base/boxes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace mete {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

std::vector<int64_t> Sorted(const std::vector<float>& scores, std::vector<int64_t> candidates) {
  SortByScore(scores.data(), candidates.data(), int64_t(candidates.size()));
  return candidates;
}

TEST(SortByScore, TheBestComesFirstAndOfEqualScoresTheEarlierPlace) {
  const std::vector<float> scores = {0.5f, -0.0f, 0.0f, 1e-40f, -kInf, kNan, -2, 0.5f, kInf, -1};
  EXPECT_EQ(Sorted(scores, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}),
            (std::vector<int64_t>{8, 0, 7, 3, 1, 2, 9, 6, 4, 5}));
  EXPECT_EQ(Sorted(scores, {7, 2}), (std::vector<int64_t>{7, 2}));
  EXPECT_EQ(Sorted(scores, {}), std::vector<int64_t>{});
}

TEST(PlacesAbove, AreThoseOfAPlainLoop) {
  std::mt19937 random(2);
  for (const int count : {0, 1, 15, 16, 17, 31, 32, 100}) {
    std::vector<float> scores;
    for (int i = 0; i < count; ++i) scores.push_back(random() % 9 == 0 ? kNan : float(random() % 7) / 8);
    for (const float least : {-kInf, 0.125f, 0.5f, 0.74f, 1.0f}) {
      std::vector<int64_t> expected, found(static_cast<size_t>(count));
      for (int64_t i = 0; i < count; ++i)
        if (scores[size_t(i)] > least) expected.push_back(i);
      found.resize(size_t(PlacesAbove(least, scores.data(), count, found.data())));
      EXPECT_EQ(found, expected) << count << " " << least;
    }
  }
}

// Boxes on a grid, so that many are equal, touch, or have no area; some have NaN.
std::vector<CornerBox> Boxes(std::mt19937& random, int count) {
  const auto at = [&] { return random() % 50 == 0 ? kNan : float(random() % 9) / 4; };
  std::vector<CornerBox> boxes;
  for (int i = 0; i < count; ++i) {
    const float x = at(), y = at();
    boxes.push_back({x, y, x + at() - 0.25f, y + at() - 0.25f});
  }
  return boxes;
}

std::vector<int64_t> PlainlyApart(const std::vector<CornerBox>& boxes, size_t most, float threshold) {
  std::vector<int64_t> kept;
  for (size_t i = 0; i < boxes.size() && kept.size() < most; ++i) {
    bool good = true;
    for (int64_t k : kept) good = good && !Overlap(boxes[i], boxes[size_t(k)], threshold);
    if (good) kept.push_back(int64_t(i));
  }
  return kept;
}

TEST(KeepApart, IsThePlainLoopOverPairs) {
  std::mt19937 random(1);
  size_t most_kept = 0, least_kept = 1000;
  for (const int count : {0, 1, 7, 8, 9, 60, 200})
    for (const float threshold : {-1.0f, 0.0f, 0.3f, 0.5f, 1.0f})
      for (const int64_t most : {int64_t{1}, int64_t{8}, int64_t{17}, int64_t{count}}) {
        const std::vector<CornerBox> boxes = Boxes(random, count);
        std::vector<int64_t> candidates, kept(static_cast<size_t>(most));
        for (int64_t i = 0; i < count; ++i) candidates.push_back(i);
        std::vector<float> memory(static_cast<size_t>(KeptBoxes::Floats(most)), kNan);
        kept.resize(size_t(
            KeepApart(boxes.data(), candidates.data(), count, most, threshold, memory.data(), kept.data())));
        EXPECT_EQ(kept, PlainlyApart(boxes, size_t(most), threshold))
            << count << " " << threshold << " " << most;
        most_kept = std::max(most_kept, kept.size());
        if (most == 200) least_kept = std::min(least_kept, kept.size());
      }
  EXPECT_GT(most_kept, 100u);
  EXPECT_LT(least_kept, 150u);
}

}  // namespace
}  // namespace mete
