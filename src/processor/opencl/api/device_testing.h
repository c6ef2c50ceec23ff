// Any OpenCL device for tests, PoCL on the CPU included.
#pragma once

#include <gtest/gtest.h>

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "processor/opencl/api/opencl.h"

namespace mete::opencl {

// Keeps what PoCL compiles out of the user's own cache, in a folder that the next tests use again.
inline void KeepPoclInTemporaryFolder() {
  const std::string name = "mete-tests-pocl-" + std::to_string(getuid());
  setenv("POCL_CACHE_DIR", (std::filesystem::temp_directory_path() / name).c_str(), /*overwrite=*/0);
}

// Returns the first device; nullopt, with the reasons as `why`, where there is none.
inline std::optional<Device> AnyDevice(std::string& why) {
  KeepPoclInTemporaryFolder();
  const DeviceList list = ListDevices(CpuDevices::kCount);
  if (!list.devices.empty()) return list.devices.front();
  why = "no OpenCL device; try tools/install-deps.sh --gpu";
  for (const std::string& reason : list.left_out) why += "\n" + reason;
  return std::nullopt;
}

// A test with a device: skipped, and says why, where there is none.
class WithDevice : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    device_ = AnyDevice(why);
    if (!device_) GTEST_SKIP() << why;
  }
  const Device& device() const { return *device_; }

 private:
  std::optional<Device> device_;
};

}  // namespace mete::opencl
