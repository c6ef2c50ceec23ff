// The real program and the real drivers of this machine.
#include "processor/opencl/find/find_gpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/temp_path_testing.h"
#include "processor/opencl/api/device_testing.h"
#include "processor/opencl/find/find_gpus_testing.h"
#include "processor/opencl/find/mapped_files.h"

namespace mete::opencl {
namespace {

namespace fs = std::filesystem;

// The real program finds what this process finds.
TEST(FindGpus, TheChildTellsOfTheDevicesOfThisMachine) {
#ifdef METE_EMULATED
  GTEST_SKIP() << "the child is a program for another processor";
#endif
  const Variable choice("METE_GPU", "cpu");
  std::string why;
  const auto device = AnyDevice(why);
  const TempPath cache;
  const FindGpusOptions options{.cache_folder = cache.str(), .deadline = std::chrono::minutes(4)};
  const GpuList list = FindGpus(options);
  if (!device) {
    EXPECT_TRUE(list.gpus.empty());
    EXPECT_FALSE(list.left_out.empty());
    GTEST_SKIP() << why;
  }
  ASSERT_FALSE(list.gpus.empty()) << fmt::format("{}", fmt::join(list.left_out, "\n"));
  EXPECT_EQ(list.gpus[0].facts, device->facts());
  EXPECT_TRUE(list.gpus[0].proved.computes_f32);
  EXPECT_EQ(FindGpus(options), list);  // times included, which only a kept answer has again
}

// Beside this machine's drivers a real one crashes when OpenCL's loader loads it.
TEST(FindGpus, TheOtherDriversServeWithoutTheLoaderWhereOneCrashes) {
#ifdef METE_EMULATED
  GTEST_SKIP() << "the child is a program for another processor";
#endif
  const Variable choice("METE_GPU", "cpu"), loader("METE_OPENCL_LIBRARY", nullptr),
      files("OCL_ICD_FILENAMES", nullptr);
  std::string why;
  const auto device = AnyDevice(why);
  const std::vector<std::string> registered = RegisteredDrivers();
  if (!device || registered.empty()) GTEST_SKIP() << "no driver of OpenCL is registered; " << why;
  const TempPath folder, cache;
  fs::create_directory(folder.str());
  for (const std::string& driver : registered)
    fs::copy_file(driver, folder.str() + "/" + fs::path(driver).filename().string());
  const std::string crash = folder.str() + "/0-crash.icd";
  std::ofstream(crash) << METE_CRASHING_DRIVER << "\n";
  const Variable vendors("OCL_ICD_VENDORS", folder.str().c_str());
  const GpuList list = FindGpus({.cache_folder = cache.str(), .deadline = std::chrono::minutes(4)});
  ASSERT_EQ(list.drivers.size(), registered.size()) << fmt::format("{}", fmt::join(list.left_out, "\n"));
  EXPECT_EQ(std::count(list.drivers.begin(), list.drivers.end(), crash), 0);
  EXPECT_EQ(list.gpus.at(0).facts, device->facts());
  EXPECT_HAS(list.left_out.at(0), "signal 6");
  // This process loads the same drivers, and lives.
  const Device opened = OpenDevice("gpu:0", CpuDevices::kCount, list.drivers);
  EXPECT_EQ(opened.facts(), device->facts());
  const Context context(opened);
  Queue(context, {}).Finish();
  if (!device->facts().has_fine_svm) return;
  EXPECT_NE(SharedMemory(context, 64).get(), nullptr);  // by functions of OpenCL 2.0
}

}  // namespace
}  // namespace mete::opencl
