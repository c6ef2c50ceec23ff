#include "processor/opencl/info/gpu_choice.h"

#include <gtest/gtest.h>

#include "base/errors_testing.h"

namespace mete::opencl {
namespace {

TEST(GpuChoice, CpusCountOnlyOnRequestAndOffIsOff) {
  EXPECT_FALSE(ParseGpuChoice("").off);
  EXPECT_EQ(ParseGpuChoice("").cpu_devices, CpuDevices::kLeaveOut);
  EXPECT_EQ(ParseGpuChoice("on").cpu_devices, CpuDevices::kLeaveOut);
  EXPECT_TRUE(ParseGpuChoice("off").off);
  EXPECT_EQ(ParseGpuChoice("cpu").cpu_devices, CpuDevices::kCount);
  EXPECT_TELLS(ParseGpuChoice("yes"), "[METE_GPU] got 'yes'");
}

}  // namespace
}  // namespace mete::opencl
