#include "engine/pool/stored_profile.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/temp_path_testing.h"
#include "processor/opencl/find/ask_child.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

// A script in place of the program that finds GPUs.
void WriteProgram(const std::string& path, const std::string& driver) {
  opencl::GpuAnswer answer;
  opencl::DeviceFacts& facts = answer.list.gpus.emplace_back().facts;
  facts.name = "gpu:0";
  facts.driver = driver;
  fs::remove(path);  // the kernel does not run a file that is open for writing
  std::ofstream(path) << "#!/bin/sh\n/bin/cat << 'X'\n" << JsonText(ToJson(answer), -1) << "\nX\n";
  fs::permissions(path, fs::perms(0755));
}

// Each test is a process of its own under CTest, in whose environment it may write.
class PoolProfilePathOf : public testing::Test {
 protected:
  PoolProfilePathOf() {
    fs::create_directory(folder_.str());
    setenv("METE_CACHE", (folder_.str() + "/cache").c_str(), /*overwrite=*/1);
    setenv("METE_GPUS_PROGRAM", program_.c_str(), /*overwrite=*/1);
    setenv("METE_GPU", "on", /*overwrite=*/1);
  }
  static std::string PathOf(const std::string& list) {
    return PoolProfilePath("digest", PoolOfList(list), SessionOptions::Estimated());
  }

  const TempPath folder_;
  const std::string program_ = folder_.str() + "/mete-gpus";
};

TEST_F(PoolProfilePathOf, AnotherDriverOfAGpuIsAnother) {
  const auto path_with = [&](const std::string& driver, const char* choice, const std::string& list) {
    WriteProgram(program_, driver);
    setenv("METE_GPU", choice, /*overwrite=*/1);
    return PathOf(list);
  };
  const std::string first = path_with("r32", "on", "cpu:0,gpu:0");
  EXPECT_EQ(path_with("r32", "on", "cpu:0,gpu:0"), first);
  EXPECT_NE(path_with("r33p1", "on", "cpu:0,gpu:0"), first);
  EXPECT_NE(path_with("r32", "off", "cpu:0,gpu:0"), first);  // it is not there
  EXPECT_EQ(path_with("r32", "on", "cpu:0,cpu:1"), path_with("r33p1", "on", "cpu:0,cpu:1"));
}

TEST_F(PoolProfilePathOf, TheSameDriverIsTheSameAfterItsSettingsHaveChanged) {
  const PoolFile pool = PoolOfList("cpu:0,gpu:0");
  WriteProgram(program_, "r32");
  EXPECT_FALSE(KnowsPoolProfilePath(pool));
  EXPECT_TRUE(KnowsPoolProfilePath(PoolOfList("cpu:0,cpu:1")));
  const std::string before = PathOf("cpu:0,gpu:0");
  EXPECT_TRUE(KnowsPoolProfilePath(pool));
  setenv("POCL_DEBUG", "0", /*overwrite=*/1);  // the driver is asked again
  EXPECT_FALSE(KnowsPoolProfilePath(pool));
  EXPECT_EQ(PathOf("cpu:0,gpu:0"), before);
  EXPECT_TRUE(KnowsPoolProfilePath(pool));
}

}  // namespace
}  // namespace mete
