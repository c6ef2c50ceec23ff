#include "base/mapped_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "base/temp_path_testing.h"
#include "mete/tensor.h"

namespace mete {
namespace {

constexpr size_t kBytes = 8 << 20;

// Returns the KiB of file-backed pages in this process's memory.
int64_t FilePagesKib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kib = 0;
    if (word == "RssFile:" && status >> kib) return kib;
  }
  return 0;
}

std::string Content() {
  std::string content(kBytes, '\0');
  for (size_t i = 0; i < kBytes; ++i) content[i] = char(i * 31 + i / 4096);
  return content;
}

TEST(ReleasePages, OfAFileLeaveMemoryAndAreReadAgain) {
  const TempPath path;
  const std::string content = Content();
  std::ofstream(path.str(), std::ios::binary) << content;
  const auto file = MappedFile::Open(path.str());
  const std::byte* data = file->bytes().data();
  EXPECT_EQ(std::memcmp(data, content.data(), kBytes), 0);
  const int64_t before = FilePagesKib();
  if (before == 0) GTEST_SKIP() << "the system does not tell";
  ReleasePages(data + 5000, kBytes - 10000);  // pages that lie only partly in the range are kept
  EXPECT_LT(FilePagesKib(), before - int64_t(kBytes / 1024 / 2));
  EXPECT_EQ(std::memcmp(data, content.data(), kBytes), 0);
}

// Released pages that belong to no file would be zero at the next access.
TEST(ReleasePages, OfOtherMemoryStay) {
  const TempPath path;
  const std::string content = Content();
  std::ofstream(path.str(), std::ios::binary) << "short";
  const auto file = MappedFile::Open(path.str());
  Tensor tensor(DType::kU8, {int64_t(kBytes)});
  std::memcpy(tensor.mutable_view().data, content.data(), kBytes);
  ReleasePages(tensor.data(), kBytes);
  EXPECT_EQ(std::memcmp(tensor.data(), content.data(), kBytes), 0);
  ReleasePages(nullptr, 0);
}

// The test does not check that the pages are read early, because the system decides that.
TEST(PopulatePages, LeavesEverythingAsItIs) {
  const TempPath path;
  const std::string content = Content();
  std::ofstream(path.str(), std::ios::binary) << content;
  const auto file = MappedFile::Open(path.str());
  PopulatePages(file->bytes().data() + 5000, kBytes - 5000);
  EXPECT_EQ(std::memcmp(file->bytes().data(), content.data(), kBytes), 0);
  std::string other = content;
  PopulatePages(other.data() + 1, kBytes - 1);
  EXPECT_EQ(other, content);
  PopulatePages(nullptr, 0);
}

}  // namespace
}  // namespace mete
