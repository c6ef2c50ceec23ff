#include <gtest/gtest.h>

#include "mete/error.h"
#include "processor/opencl/api/opencl.h"

namespace mete::opencl {
namespace {

TEST(WithoutOpenCl, ThereAreNoDevicesForAReason) {
  const DeviceList list = ListDevices(CpuDevices::kCount);
  EXPECT_TRUE(list.devices.empty());
  EXPECT_EQ(list.left_out.size(), 1u);
  EXPECT_THROW(OpenDevice("gpu:0", CpuDevices::kCount), Error);
}

}  // namespace
}  // namespace mete::opencl
