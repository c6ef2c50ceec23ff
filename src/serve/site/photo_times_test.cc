#include "serve/site/photo_times.h"

#include <gtest/gtest.h>

#include <string>

namespace mete::serve {
namespace {

TEST(SeenSteps, AreATimeForEachUnitOfBothAmounts) {
  SeenSteps times;
  EXPECT_FALSE(times.MsOf(1, 1));
  const auto learn = [&](double pixels, double bytes) {
    times.Learn({pixels, bytes, 7 * pixels + 20 * bytes});
  };
  learn(8, 1.5);
  EXPECT_NEAR(*times.MsOf(4, 0.75), (7 * 8 + 20 * 1.5) / 2, 1e-9);  // one photo: in proportion
  learn(8, 0.5);
  learn(2, 0.4);
  EXPECT_NEAR(*times.MsOf(3, 1), 7 * 3 + 20, 1e-6);
}

TEST(SeenSteps, HaveAConstant) {
  SeenSteps times;
  for (const auto& [pixels, bytes] : {std::pair(8.0, 1.5), {8.0, 0.5}, {2.0, 0.4}, {0.5, 0.1}, {0.5, 0.04}})
    times.Learn({pixels, bytes, 7 * pixels + 20 * bytes + 6});
  EXPECT_NEAR(*times.MsOf(3, 1), 7 * 3 + 20 + 6, 1e-6);
  EXPECT_NEAR(*times.MsOf(0, 0), 6, 1e-6);
}

TEST(SeenSteps, HaveNoTimeBelowZero) {
  SeenSteps times;  // more bytes take less, which no time for bytes explains
  for (const auto& [pixels, bytes] : {std::pair(8.0, 0.5), {8.0, 1.5}, {2.0, 0.1}, {2.0, 0.4}, {0.5, 0.1}})
    times.Learn({pixels, bytes, 7 * pixels - bytes + 6});
  const double few = *times.MsOf(3, 0), many = *times.MsOf(3, 100);
  EXPECT_EQ(few, many);
  EXPECT_NEAR(few, 7 * 3 + 6, 2);
  EXPECT_GT(*times.MsOf(0, 0), 0);
}

TEST(SeenSteps, ThatCannotBeToldApartAreInProportionToTheFirstAmount) {
  SeenSteps times;
  for (const double size : {1.0, 2.0, 5.0}) times.Learn({size, size / 10, 12 * size});
  EXPECT_NEAR(*times.MsOf(3, 7), 36, 1e-9);
  times.Learn({1, 0.01, 30});  // fewer bytes take longer, which no time for bytes explains
  EXPECT_GT(*times.MsOf(3, 100), 0);
}

TEST(SeenSteps, ForgetTheOldest) {
  SeenSteps times;
  for (int i = 1; i <= 100; ++i) times.Learn({1, 0, double(i)});
  EXPECT_EQ(times.seen().size(), 32u);
  EXPECT_EQ(times.seen().front().ms, 69);
}

TEST(RecentTimes, AreNotMovedByAnOutlierAndFollowAChange) {
  RecentTimes times;
  EXPECT_FALSE(times.ms());
  for (const double ms : {10, 11, 10, 90}) times.Learn(ms);
  EXPECT_EQ(times.ms(), 10.5);
  for (int i = 0; i < 3; ++i) times.Learn(90);
  EXPECT_EQ(times.ms(), 90);
}

}  // namespace
}  // namespace mete::serve
