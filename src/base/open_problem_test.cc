#include "base/open_problem.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "mete/error.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

class FailToOpenTest : public testing::Test {
 protected:
  FailToOpenTest()
      : folder_(fs::temp_directory_path() / testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(folder_);
    std::ofstream(folder_ / "mobilenet.onnx");
  }
  ~FailToOpenTest() override { fs::remove_all(folder_); }

  std::string MessageFor(const std::string& name, int error = ENOENT, const std::string& where = "") const {
    try {
      FailToOpen((folder_ / name).string(), error, where);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kNotFound);
      return e.what();
    }
  }

  const fs::path folder_;
};

TEST_F(FailToOpenTest, NamesWhatIsLikeIt) {
  EXPECT_EQ(MessageFor("moblenet.onnx"), "[" + (folder_ / "moblenet.onnx").string() +
                                             "] cannot open the file: No such file or directory; try " +
                                             (folder_ / "mobilenet.onnx").string());
  EXPECT_NE(MessageFor("other.txt").find("; try the file's whole path, or 'ls "), std::string::npos);
}

TEST_F(FailToOpenTest, TellsOfAFolderThatIsNotThere) {
  EXPECT_NE(MessageFor("no/net.onnx").find("/no' is not there either"), std::string::npos)
      << MessageFor("no/net.onnx");
}

TEST_F(FailToOpenTest, NamesTheFlag) {
  EXPECT_EQ(MessageFor("x", EACCES, "--plan x"), "[--plan x] cannot open the file: Permission denied");
}

}  // namespace
}  // namespace mete
