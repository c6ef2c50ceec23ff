// A path for a test's temporary files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace mete {

// A path in the folder for temporary files at which no file exists yet and which no other test uses: tests
// run in parallel, each in a process of its own, so the name contains the process id. The destructor deletes
// the file or folder at the path.
class TempPath {
 public:
  explicit TempPath(const std::string& suffix = "") {
    static int count = 0;
    path_ = testing::TempDir() + "mete_" + std::to_string(getpid()) + "_" + std::to_string(count++) + suffix;
    std::filesystem::remove_all(path_);
  }
  ~TempPath() { std::filesystem::remove_all(path_); }
  TempPath(const TempPath&) = delete;
  TempPath& operator=(const TempPath&) = delete;
  const std::string& str() const { return path_; }

 private:
  std::string path_;
};

}  // namespace mete
