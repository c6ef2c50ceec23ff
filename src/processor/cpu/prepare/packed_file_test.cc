#include "processor/cpu/prepare/packed_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "base/temp_path_testing.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBytes = (5 << 20) / 2;  // two and a half pieces

std::string Content(uint32_t seed) {
  std::string content(kBytes, '\0');
  for (char& c : content) c = char((seed = seed * 1664525 + 1013904223) >> 24);
  return content;
}

std::span<const std::byte> BytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct OneThread {
  ThreadPool pool{1};
};

class PackedFile : public testing::Test {
 protected:
  // Returns the content under `key` with `bytes` bytes; empty where there is none, and problem_ says why.
  std::string Read(const PackedDigest& key, size_t bytes = kBytes) {
    problem_.clear();
    const PackedContent content = ReadPacked(path_, key, bytes, one_.pool, &problem_);
    return content.file
               ? std::string(reinterpret_cast<const char*>(content.bytes.data()), content.bytes.size())
               : "";
  }

  const TempPath folder_;
  const std::string path_ = folder_.str() + "/deeper/weights.packed";
  const PackedDigest key_ = DigestOf("key");
  const std::string content_ = Content(1);
  OneThread one_;
  std::string problem_;
};

TEST_F(PackedFile, GivesBackWhatWasWritten) {
  EXPECT_EQ(Read(key_), "");
  EXPECT_EQ(problem_, "") << "no file is no problem";
  ASSERT_EQ(WritePacked(path_, key_, BytesOf(content_), one_.pool), "");
  EXPECT_TRUE(Read(key_) == content_) << problem_;
  const std::string other = Content(2);
  ASSERT_EQ(WritePacked(path_, key_, BytesOf(other), one_.pool), "");
  EXPECT_TRUE(Read(key_) == other) << problem_;
  EXPECT_EQ(fs::perms::owner_read | fs::perms::owner_write, fs::status(path_).permissions());
  EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(path_).parent_path()), {}), 1)
      << "nothing is left beside it";
}

TEST_F(PackedFile, OfAnotherKeyOrSizeIsNotTaken) {
  ASSERT_EQ(WritePacked(path_, key_, BytesOf(content_), one_.pool), "");
  EXPECT_EQ(Read(DigestOf("another")), "");
  EXPECT_NE(problem_.find("holds other weights"), std::string::npos) << problem_;
  for (const size_t bytes : {size_t{0}, kBytes - 1, kBytes + 1, SIZE_MAX}) {
    EXPECT_EQ(Read(key_, bytes), "");
    EXPECT_NE(problem_.find("of another size"), std::string::npos) << problem_;
  }
}

TEST_F(PackedFile, ThatIsDamagedIsNotTaken) {
  ASSERT_EQ(WritePacked(path_, key_, BytesOf(content_), one_.pool), "");
  const std::string whole = ReadFile(path_);
  auto expect_not_taken = [&](const std::string& what) {
    ASSERT_EQ(Read(key_), "") << what;
    ASSERT_NE(problem_.find("[" + path_ + "] "), std::string::npos) << what << ": " << problem_;
  };
  auto write = [&](size_t at, std::string_view bytes) {
    std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary).seekp(long(at)) << bytes;
  };
  auto expect_flip_is_seen = [&](size_t bit) {
    const char right = whole[bit / 8], wrong = char(right ^ (1 << bit % 8));
    write(bit / 8, {&wrong, 1});
    expect_not_taken("bit " + std::to_string(bit));
    write(bit / 8, {&right, 1});
  };
  // magic, format, sizes, key and checksums
  for (size_t bit = 0; bit < 64 * 8; ++bit) expect_flip_is_seen(bit);
  for (size_t byte : {size_t{4096}, size_t{4096} + (1 << 20), whole.size() - 1})
    expect_flip_is_seen(byte * 8 + 5);
  ASSERT_TRUE(Read(key_) == content_) << "all bits are right again";
  for (const std::string& damaged :
       {std::string(), whole.substr(0, 63), whole.substr(0, 4096), whole.substr(0, whole.size() - 1),
        whole + "x", std::string(whole.size(), '\0')}) {
    std::ofstream(path_, std::ios::binary) << damaged;
    expect_not_taken(std::to_string(damaged.size()) + " bytes");
  }
  ASSERT_EQ(WritePacked(path_, key_, BytesOf(content_), one_.pool), "");
  EXPECT_TRUE(Read(key_) == content_) << problem_;
}

TEST_F(PackedFile, AnotherKindOfThingIsNotTaken) {
  fs::create_directories(path_);
  EXPECT_EQ(Read(key_), "");
  EXPECT_NE(problem_.find("not a regular file"), std::string::npos) << problem_;
  EXPECT_NE(WritePacked(path_, key_, BytesOf(content_), one_.pool), "");
}

// There is a file in place of the folder: even the superuser cannot write below it.
TEST_F(PackedFile, WithoutAFolderIsToldAbout) {
  std::ofstream(folder_.str()) << "in the way";
  const std::string problem = WritePacked(path_, key_, BytesOf(content_), one_.pool);
  EXPECT_NE(problem.find("cannot make its folder"), std::string::npos) << problem;
}

// A limit on the size of files stands for a full disk.
TEST_F(PackedFile, ThatCannotBeWrittenWholeLeavesNothing) {
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 20, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string problem = WritePacked(path_, key_, BytesOf(content_), one_.pool);
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_NE(problem.find("cannot write the file"), std::string::npos) << problem;
  EXPECT_TRUE(fs::is_empty(fs::path(path_).parent_path()));
}

TEST_F(PackedFile, IsWholeWhoeverWritesAtOnce) {
  constexpr int kWriters = 3, kTimes = 10;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int w = 0; w < kWriters; ++w)
    threads.emplace_back([&] {
      OneThread one;
      for (int i = 0; i < kTimes; ++i) {
        std::string problem = WritePacked(path_, key_, BytesOf(content_), one.pool);
        const PackedContent content = ReadPacked(path_, key_, kBytes, one.pool, &problem);
        if (!problem.empty() || !content.file ||
            std::memcmp(content.bytes.data(), content_.data(), kBytes) != 0)
          ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(PackedDigest, IsTheSameHoweverManyThreadsThereAre) {
  ThreadPool one(1), three(3);
  const std::string content = Content(3);
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{1} << 20, kBytes - 1, kBytes})
    EXPECT_EQ(DigestOf(BytesOf(content).first(bytes), one), DigestOf(BytesOf(content).first(bytes), three))
        << bytes;
  EXPECT_NE(DigestOf(BytesOf(content).first(kBytes - 1), one), DigestOf(BytesOf(content), one));
}

TEST(PackedDigest, ReadsFromItsHighEnd) {
  EXPECT_EQ(ToString(PackedDigest{1, 0xab}), "00000000000000ab0000000000000001");
}

}  // namespace
}  // namespace mete
