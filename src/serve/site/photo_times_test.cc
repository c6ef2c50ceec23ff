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

// The beginning of a JPEG of 40x24 pixels: a marker of an application, a table, and the frame.
const std::string kJpeg(
    "\xff\xd8\xff\xe0\0\x04"
    "12\xff\xff\xc4\0\x03"
    "3\xff\xc2\0\x11\x08\0\x18\0\x28\x03",
    24);

TEST(PixelsOf, APictureAreInItsFirstBytes) {
  EXPECT_EQ(PixelsOf(kJpeg), 40 * 24);
  const std::string png("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x01\0\0\0\0\x10", 24);
  EXPECT_EQ(PixelsOf(png), 256 * 16);
}

TEST(PixelsOf, OtherBytesIsNothing) {
  for (size_t size = 0; size + 2 < kJpeg.size(); ++size)
    EXPECT_FALSE(PixelsOf(kJpeg.substr(0, size))) << size;
  EXPECT_FALSE(PixelsOf("P6 2 2 255\n............"));
  EXPECT_FALSE(PixelsOf("\xff\xd8" + std::string(1000, '\xff')));
  EXPECT_FALSE(
      PixelsOf(std::string("\xff\xd8\xff\xe0\0\0\xff\xe0\0\0\xff\xe0\0\0", 14)));  // lengths of nothing
}

}  // namespace
}  // namespace mete::serve
