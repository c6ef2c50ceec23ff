// A place for a test's files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace mete {

// A path in the folder for temporary files at which nothing stands yet, and which no other test uses: tests
// run beside each other, each in a process of its own, so the name has the process's number. What stands
// there in the end goes with the object.
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
