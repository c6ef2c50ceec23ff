#include "processor/opencl/gpu/kept_programs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temp_path_testing.h"

namespace mete::opencl {
namespace {

namespace fs = std::filesystem;

using Binary = std::vector<std::byte>;

std::vector<fs::path> FilesIn(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

TEST(KeptPrograms, AreThoseOfTheirDeviceAndText) {
  const TempPath folder;
  const DeviceFacts facts{.model = "Mali", .driver = "1"};
  const Binary binary(1000, std::byte{7}), other(10, std::byte{8});
  KeptPrograms(folder.str(), facts).Keep("a", binary);
  KeptPrograms(folder.str(), facts).Keep("b", other);
  const KeptPrograms again(folder.str(), facts);
  EXPECT_EQ(again.Find("a"), binary);
  EXPECT_EQ(again.Find("b"), other);
  EXPECT_TRUE(again.Find("c").empty());
  DeviceFacts newer = facts;
  newer.driver = "2";
  EXPECT_TRUE(KeptPrograms(folder.str(), newer).Find("a").empty());
}

TEST(KeptPrograms, WithoutAFolderAreNone) {
  const KeptPrograms none("", {});
  none.Keep("a", Binary(10));
  EXPECT_TRUE(none.Find("a").empty());
  const KeptPrograms unwritable("/proc/no", {});
  unwritable.Keep("a", Binary(10));
  EXPECT_TRUE(unwritable.Find("a").empty());
}

TEST(KeptPrograms, ThatAreDamagedAreNone) {
  const TempPath folder;
  const KeptPrograms kept(folder.str(), {});
  const Binary binary(1000, std::byte{7});
  for (const int64_t at : {0, 8, 16, 24, 500, 1023}) {
    kept.Keep("a", binary);
    ASSERT_EQ(kept.Find("a"), binary);
    std::fstream file(FilesIn(folder.str() + "/gpu").at(0), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put('x');
    file.close();
    EXPECT_TRUE(kept.Find("a").empty()) << "byte " << at;
  }
  kept.Keep("a", binary);
  fs::resize_file(FilesIn(folder.str() + "/gpu").at(0), 24);
  EXPECT_TRUE(kept.Find("a").empty());
}

TEST(KeptPrograms, OfNonsenseSizesAreNotRead) {
  const TempPath folder;
  const KeptPrograms kept(folder.str(), {}), small(folder.str(), {}, 1000);
  const Binary binary(1000, std::byte{7});
  kept.Keep("a", binary);
  EXPECT_EQ(kept.Find("a"), binary);
  EXPECT_TRUE(small.Find("a").empty());  // whole, and larger than all files together may be
  // A hole, which would be read for minutes.
  fs::resize_file(FilesIn(folder.str() + "/gpu").at(0), uintmax_t{1} << 40);
  EXPECT_TRUE(kept.Find("a").empty());
  kept.Keep("a", binary);
  EXPECT_EQ(kept.Find("a"), binary);
}

TEST(KeptPrograms, MakeRoomByThoseNotUsedForLong) {
  const TempPath folder;
  const KeptPrograms kept(folder.str(), {}, 2500);
  const Binary binary(1000, std::byte{7});
  const auto age = [&] {  // all that are there
    for (const fs::path& file : FilesIn(folder.str() + "/gpu"))
      fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(1));
  };
  kept.Keep("a", binary);
  age();
  kept.Keep("b", binary);
  age();
  EXPECT_FALSE(kept.Find("a").empty());  // which is a use
  kept.Keep("c", binary);
  EXPECT_FALSE(kept.Find("a").empty());
  EXPECT_TRUE(kept.Find("b").empty());
  EXPECT_FALSE(kept.Find("c").empty());
}

}  // namespace
}  // namespace mete::opencl
