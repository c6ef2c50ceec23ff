#include "engine/pool/stored_profile.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/temp_path_testing.h"
#include "mete/device.h"
#include "processor/opencl/find/ask_child.h"
#include "processor/opencl/find/find_gpus.h"

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

TEST(PoolProfilePath, IsAnotherForAnotherDriverOfAGpu) {
  const TempPath folder;
  fs::create_directory(folder.str());
  const std::string program = folder.str() + "/mete-gpus";
  setenv("METE_CACHE", (folder.str() + "/cache").c_str(), /*overwrite=*/1);
  setenv("METE_GPUS_PROGRAM", program.c_str(), /*overwrite=*/1);
  const auto path_with = [&](const std::string& driver, const char* choice, const std::string& list) {
    WriteProgram(program, driver);
    setenv("METE_GPU", choice, /*overwrite=*/1);
    (void)opencl::FindGpus(
        {.cache_folder = CacheFolder()});  // as a profile does when it opens its processors
    return PoolProfilePath("digest", PoolOfList(list), SessionOptions::Estimated());
  };
  const std::string first = path_with("r32", "on", "cpu:0,gpu:0");
  EXPECT_EQ(path_with("r32", "on", "cpu:0,gpu:0"), first);
  EXPECT_NE(path_with("r33p1", "on", "cpu:0,gpu:0"), first);
  EXPECT_NE(path_with("r32", "off", "cpu:0,gpu:0"), first);  // it is not there
  EXPECT_EQ(path_with("r32", "on", "cpu:0,cpu:1"), path_with("r33p1", "on", "cpu:0,cpu:1"));
}

}  // namespace
}  // namespace mete
