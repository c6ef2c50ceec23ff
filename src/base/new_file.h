// A file that is written under a temporary name and renamed when it is complete, so that readers find either
// the old file or the new one.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <span>
#include <string>

namespace mete {

// The destructor deletes the file unless it has been renamed. If a call returns false, errno has the reason.
class NewFile {
 public:
  explicit NewFile(const std::string& beside)
      : path_(beside + ".XXXXXX"), fd_(mkostemp(path_.data(), O_CLOEXEC)) {}
  ~NewFile() {
    if (fd_ < 0) return;
    close(fd_);
    if (!renamed_) unlink(path_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  bool made() const { return fd_ >= 0; }
  bool Write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      bytes = bytes.subspan(size_t(written));
    }
    return true;
  }
  bool RenameTo(const std::string& path) { return renamed_ = rename(path_.c_str(), path.c_str()) == 0; }

 private:
  std::string path_;
  int fd_;
  bool renamed_ = false;
};

}  // namespace mete
