#include "base/process_use.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

TEST(ParseProcessUseTest, ReadsMemoryFromTheKernelsText) {
  const ProcessUse use =
      ParseProcessUse("Name:\tmete VmRSS: 1 kB\nVmHWM:\t   2048 kB\nVmRSS:\t    1024 kB\n", 2.5);
  EXPECT_EQ(use.resident_bytes, 1 << 20);
  EXPECT_EQ(use.peak_bytes, 2 << 20);
  EXPECT_EQ(use.cpu_s, 2.5);
  EXPECT_EQ(ParseProcessUse("", 0).peak_bytes, 0);
}

TEST(ReadProcessUseTest, ReadsThisProcess) {
  const ProcessUse use = ReadProcessUse();
  EXPECT_GT(use.resident_bytes, 1 << 20);  // a program with libstdc++ and GoogleTest
  EXPECT_GT(use.peak_bytes, 1 << 20);
}

}  // namespace
}  // namespace mete
