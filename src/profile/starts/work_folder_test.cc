#include "profile/starts/work_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

TEST(WorkFolder, IsGoneWithEverythingInIt) {
  const TempPath cache;
  {
    const WorkFolder work(cache.str());
    std::ofstream(work / "kept" + "/file") << "content";
    EXPECT_TRUE(fs::exists(work.path() + "/kept/file"));
  }
  EXPECT_TRUE(fs::is_empty(cache.str()));
}

TEST(WorkFolder, TheNextRemovesWhatNobodyHolds) {
  const TempPath cache;
  const std::string abandoned = cache.str() + "/starts-killed";
  fs::create_directories(abandoned + "/program");
  fs::create_directories(cache.str() + "/starts");  // the costs themselves
  std::optional<WorkFolder> one(cache.str());
  const WorkFolder other(cache.str());
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(one->path()));
  EXPECT_TRUE(fs::exists(other.path()));
  EXPECT_TRUE(fs::exists(cache.str() + "/starts"));
}

TEST(WorkFolder, AFolderThatCannotBeMadeIsAnError) {
  EXPECT_TELLS(WorkFolder("/proc/no-such-folder"), "try another METE_CACHE");
}

}  // namespace
}  // namespace mete
