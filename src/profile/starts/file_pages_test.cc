#include "profile/starts/file_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"

namespace mete {
namespace {

constexpr size_t kBytes = 64 * 4096 - 100;  // 64 pages of 4 KiB

void Write(const std::string& path) { std::ofstream(path, std::ios::binary) << std::string(kBytes, 'x'); }

// A file that is mapped, of which each page has been read.
class Touched {
 public:
  explicit Touched(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    at_ = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    close(fd);
  }
  ~Touched() { munmap(at_, kBytes); }
  bool mapped() const { return at_ != MAP_FAILED; }

 private:
  void* at_;
};

TEST(FilePages, TheLowestBitOfAnEntryCounts) {
  const std::array<unsigned char, 5> vector{1, 0, 3, 2, 0xff};
  EXPECT_EQ(CountInMemory(vector), 3);
  EXPECT_EQ(CountInMemory({}), 0);
}

TEST(FilePages, WhatWasJustWrittenIsInMemory) {
  const TempPath path;
  Write(path.str());
  const FilePages pages = PagesOf(path.str());
  EXPECT_EQ(pages.pages,
            int64_t((kBytes + size_t(sysconf(_SC_PAGESIZE)) - 1) / size_t(sysconf(_SC_PAGESIZE))));
  EXPECT_EQ(pages.in_memory, pages.pages);
  EXPECT_TRUE(pages.told);
  EXPECT_FALSE(pages.absent());
}

TEST(FilePages, AnEmptyFileHasNone) {
  const TempPath path;
  std::ofstream(path.str()).flush();
  EXPECT_EQ(PagesOf(path.str()).pages, 0);
  EXPECT_TRUE(PagesOf(path.str()).absent());
}

// A file system that is memory, such as tmpfs, keeps its pages; there is then nothing to see.
TEST(FilePages, AnEvictedFileIsAbsentUntilItIsRead) {
  const TempPath path;
  Write(path.str());
  Evict(std::vector{path.str()});
  if (!PagesOf(path.str()).absent()) GTEST_SKIP() << "the folder for temporary files is in memory";
  ReadThrough({path.str()});
  EXPECT_EQ(PagesOf(path.str()).in_memory, PagesOf(path.str()).pages);
}

TEST(FilePages, OnePageInMemoryIsEnoughNotToBeAbsent) {
  const TempPath path;
  // more pages than mincore() is asked for at a time
  std::ofstream(path.str(), std::ios::binary) << std::string(9000 * size_t(sysconf(_SC_PAGESIZE)) + 1, 'x');
  EXPECT_FALSE(IsAbsent(path.str()));
  EXPECT_EQ(PagesOf(path.str()).in_memory, PagesOf(path.str()).pages);
  Evict(std::vector{path.str()});
  if (!PagesOf(path.str()).absent()) GTEST_SKIP() << "the folder for temporary files is in memory";
  EXPECT_TRUE(IsAbsent(path.str()));
  std::ifstream(path.str(), std::ios::binary).seekg(-1, std::ios::end).get();
  const FilePages pages = PagesOf(path.str());
  EXPECT_GT(pages.in_memory, 0);
  EXPECT_LT(pages.in_memory, pages.pages);
  EXPECT_FALSE(IsAbsent(path.str()));
}

TEST(FilePages, AFileThatAProcessMapsStaysAndIsNamed) {
  const TempPath path(".onnx");
  Write(path.str());
  const Touched touched(path.str());
  ASSERT_TRUE(touched.mapped());
  Evict(std::vector{path.str()});
  const std::vector<FilePages> pages = PagesOf(std::vector{path.str()});
  EXPECT_FALSE(pages[0].absent());
  const std::string why = WhyNotAbsent(pages);
  EXPECT_NE(why.find(".onnx has " + std::to_string(pages[0].in_memory) + " of "), why.npos) << why;
}

TEST(FilePages, WhatIsNotThereIsAnError) {
  EXPECT_TELLS(PagesOf("/no/such.onnx"), "[/no/such.onnx]");
  EXPECT_TELLS(Evict("/no/such.onnx"), "[/no/such.onnx]");
}

TEST(WhyNotAbsent, NamesThreeFilesAndCountsTheOthers) {
  const FilePages absent{"/a/gone", 10, 0}, there{"/a/net.onnx", 10, 2}, untold{"/a/root.onnx", 5, 5, false};
  EXPECT_EQ(WhyNotAbsent({}), "");
  EXPECT_EQ(WhyNotAbsent(std::vector{absent, absent}), "");
  EXPECT_EQ(WhyNotAbsent(std::vector{absent, there}), "net.onnx has 2 of 10 pages in memory");
  EXPECT_EQ(WhyNotAbsent(std::vector{there, untold}),
            "net.onnx has 2 of 10 pages in memory; root.onnx is not this user's, so the kernel does not tell "
            "(try a copy)");
  const std::string many = WhyNotAbsent(std::vector{there, there, there, there, absent, there});
  EXPECT_TRUE(many.ends_with("; and 2 more files")) << many;
}

// Of a file that the user may not write, mincore() reports all pages as present. A report of no page would
// prove nothing either, so such a file is never absent.
TEST(FilePages, AreNotAbsentWhereTheKernelDoesNotTell) {
  EXPECT_FALSE((FilePages{"/a/root.onnx", 5, 0, false}).absent());
}

TEST(MappedFiles, AreThoseOfEachLineOnce) {
  const std::vector<std::string> files = MappedFiles(
      "5583-5585 r--p 00000000 08:01 131 /usr/bin/mete\n"
      "5585-5589 r-xp 00002000 08:01 131 /usr/bin/mete\n"
      "7f00-7f02 rw-p 00000000 00:00 0 \n"
      "7f02-7f04 r--p 00000000 08:01 140                        /usr/lib/with space.so.1\n"
      "7f04-7f06 r--p 00000000 08:01 141 /tmp/gone (deleted)\n"
      "7f06-7f08 rw-s 00000000 00:01 7 /dev/dri/card0\n"
      "7f08-7f0a rw-s 00000000 00:01 8 /memfd:pipe\n"
      "7fff-8000 r-xp 00000000 00:00 0 [vdso]\n");
  EXPECT_EQ(files, (std::vector<std::string>{"/usr/bin/mete", "/usr/lib/with space.so.1"}));
  EXPECT_TRUE(MappedFiles("").empty());
}

TEST(MappedFiles, OfThisProcessHasItsProgram) {
  const std::vector<std::string> files = MappedFiles(int(getpid()));
  EXPECT_TRUE(
      std::any_of(files.begin(), files.end(), [](const std::string& f) { return f.ends_with("_test"); }));
}

TEST(MappedByOthers, LeavesOutTheProcessesThatAreNamed) {
  const TempPath path;
  Write(path.str());
  const Touched touched(path.str());
  const std::array<int, 1> this_process{int(getpid())};
  EXPECT_TRUE(MappedByOthers({path.str()}, this_process).empty());
  EXPECT_EQ(MappedByOthers({path.str(), "/no/such"}, {}), std::vector{path.str()});
}

}  // namespace
}  // namespace mete
