#include "base/units.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

TEST(Units, TakeTheLargestUnitThatAFigureFills) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(12 * 1024 * 1024), "12.0 MiB");
  EXPECT_EQ(FormatBytes(5ll << 29), "2.50 GiB");
  EXPECT_EQ(FormatMs(0.0789), "78.9 us");
  EXPECT_EQ(FormatMs(12.3), "12.30 ms");
  EXPECT_EQ(FormatMs(4560), "4.56 s");
}

}  // namespace
}  // namespace mete
