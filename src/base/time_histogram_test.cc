#include "base/time_histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mete {
namespace {

TEST(TimeHistogramTest, EachTimeLiesInTheBucketThatEndsAtItOrBehind) {
  for (const double s : {0.0, 1e-7, 1e-6, 1.1e-6, 0.00123, 0.5, 7.0, 999.0, 1e4}) {
    TimeHistogram times;
    times.Add(s);
    for (int b = 0; b < TimeHistogram::kBuckets; ++b) {
      const bool is_in = s <= TimeHistogram::UpperS(b) && (b == 0 || s > TimeHistogram::UpperS(b - 1));
      EXPECT_EQ(times.counts()[size_t(b)], is_in ? 1u : 0u) << s << " in bucket " << b;
    }
    EXPECT_EQ(times.sum_s(), s);
  }
}

TEST(TimeHistogramTest, BucketsAscendToInfinity) {
  for (int b = 1; b < TimeHistogram::kBuckets; ++b)
    EXPECT_GT(TimeHistogram::UpperS(b), TimeHistogram::UpperS(b - 1));
  EXPECT_EQ(TimeHistogram::UpperS(TimeHistogram::kBuckets - 1), std::numeric_limits<double>::infinity());
  EXPECT_NEAR(TimeHistogram::UpperS(TimeHistogram::kBuckets - 2), 1000, 1e-6);
}

}  // namespace
}  // namespace mete
