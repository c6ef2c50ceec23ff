#include "text_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/errors_testing.h"
#include "base/temp_path_testing.h"

namespace mete::cli {
namespace {

class TextFileTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_.str()); }
  std::string In(const char* name) const { return folder_.str() + "/" + name; }
  size_t Files() const {
    const std::filesystem::directory_iterator files(folder_.str());
    return size_t(std::distance(begin(files), end(files)));
  }

  const TempPath folder_;
};

TEST_F(TextFileTest, IsWrittenWhole) {
  WriteTextFile(In("a"), "one\n");
  WriteTextFile(In("a"), "two\n");
  EXPECT_EQ(ReadTextFile(In("a")), "two\n");
  EXPECT_EQ(Files(), 1u);
  EXPECT_TELLS(ReadTextFile(In("b")), "/b] cannot open the file");
  EXPECT_TELLS(WriteTextFile(In("no/b"), "x"), "/no/b] cannot write the file");
}

TEST_F(TextFileTest, IsAskedForBeforehandWithoutATrace) {
  WriteTextFile(In("a"), "kept");
  CheckMayWrite(In("a"));
  CheckMayWrite(In("b"));
  CheckMayWrite("/dev/null");
  EXPECT_EQ(ReadTextFile(In("a")), "kept");
  EXPECT_EQ(Files(), 1u);
  EXPECT_TELLS(CheckMayWrite(In("no/b")), "; try another one");
  EXPECT_TELLS(CheckMayWrite(In("a/b")), "cannot write the file");
  EXPECT_TELLS(CheckMayWrite(folder_.str()), "cannot write the file");
}

TEST_F(TextFileTest, LeavesWhatSomebodyElseIsWriting) {
  WriteTextFile(In("a.part"), "theirs");
  CheckMayWrite(In("a"));
  WriteTextFile(In("a"), "ours");
  EXPECT_EQ(ReadTextFile(In("a.part")), "theirs");
  EXPECT_EQ(Files(), 2u);
}

TEST_F(TextFileTest, IsPrintedWhereItCannotBeWritten) {
  testing::internal::CaptureStdout();
  const std::string error = ErrorOf([&] { WriteOrPrint(In("no/b"), "curves\n"); });
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "curves\n");
  EXPECT_NE(error.find("/no' is not there; what it was to have is on stdout"), error.npos) << error;
  testing::internal::CaptureStdout();
  WriteOrPrint(In("a"), "curves\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(ReadTextFile(In("a")), "curves\n");
}

}  // namespace
}  // namespace mete::cli
