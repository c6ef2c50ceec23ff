#include "top/metric_text.h"

#include <cmath>

#include "base/errors_testing.h"

namespace mete::top {
namespace {

std::vector<MetricSample> Read(std::string_view text) { return ReadMetrics(text, "server"); }

TEST(ReadMetricsTest, ReadsSamplesAndLeavesOutCommentsAndTimes) {
  const auto samples = Read(
      "# HELP a Some help.\n# TYPE a counter\n"
      "a 1\n"
      "b_bucket{le=\"0.1\", model=\"net\"} 2.5e3\n"
      "\n"
      "c{} -7 1395066363000\r\n"
      "\t d:e{f=\"g\",}\t8 ");
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[0].name, "a");
  EXPECT_EQ(samples[0].value, 1);
  EXPECT_EQ(samples[1].Label("le"), "0.1");
  EXPECT_EQ(samples[1].Label("model"), "net");
  EXPECT_EQ(samples[1].Label("other"), "");
  EXPECT_EQ(samples[1].value, 2500);
  EXPECT_EQ(samples[2].value, -7);
  EXPECT_EQ(samples[3].name, "d:e");
}

TEST(ReadMetricsTest, ReadsWhatLabelsEscape) {
  EXPECT_EQ(Read(R"(a{b="\\ \" \n }"} 1)")[0].Label("b"), "\\ \" \n }");
}

TEST(ReadMetricsTest, ReadsWhatIsNoFiniteNumber) {
  const auto samples = Read("a +Inf\nb -Inf\nc NaN\nd 1e999\n");
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_TRUE(std::isinf(samples[0].value) && samples[0].value > 0);
  EXPECT_TRUE(std::isinf(samples[1].value) && samples[1].value < 0);
  EXPECT_TRUE(std::isnan(samples[2].value));
  EXPECT_FALSE(std::isfinite(samples[3].value));
}

TEST(ReadMetricsTest, SaysWhichLineIsNone) {
  for (const char* line : {"a", "a b", "1 2", "{a=\"b\"} 1", "a{b} 1", "a{b=} 1", "a{b=\"c} 1", "a{b=\"c\\",
                           "a{b=\"c\" d=\"e\"} 1", "a{b=\"c\"", "a 1 2 3", "a 1x", "a{b=\"c\"}", "<html>",
                           "a{=\"c\"} 1", "\x01 1"})
    EXPECT_TELLS(Read("# fine\nfine 1\n" + std::string(line) + "\nfine 2\n"),
                 "[server] line 3 of its metrics is no sample")
        << line;
}

TEST(ReadMetricsTest, ErrorsHaveNoControlCharacters) {
  try {
    Read("\x1b[31mred\x1b]0;title\x07");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\x1b'), std::string::npos);
    EXPECT_EQ(std::string(error.what()).find('\x07'), std::string::npos);
  }
}

TEST(ReadMetricsTest, BoundsTheNumberOfSamples) {
  std::string text;
  for (int i = 0; i <= kMostMetricSamples; ++i) text += "a 1\n";
  EXPECT_TELLS(Read(text), "tells too much");
  EXPECT_TRUE(Read("").empty());
}

}  // namespace
}  // namespace mete::top
