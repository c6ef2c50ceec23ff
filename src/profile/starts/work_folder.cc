#include "profile/starts/work_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "starts-";

// Returns a descriptor that holds the folder's lock until it is closed, also by the end of the process; -1 if
// another process holds it.
int Lock(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  close(fd);
  return -1;
}

void RemoveAbandoned(const std::string& within) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(within, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const int lock = Lock(entry.path().string());
    if (lock < 0) continue;
    fs::remove_all(entry.path(), ignored);
    close(lock);
  }
}

}  // namespace

WorkFolder::WorkFolder(const std::string& within) : path_(within + "/" + kPrefix + "XXXXXX") {
  std::error_code ignored;  // mkdtemp() tells
  fs::create_directories(within, ignored);
  RemoveAbandoned(within);
  if (!mkdtemp(path_.data()))
    Fail(Code::kUnavailable, path_, "cannot make this folder: {}; try another METE_CACHE",
         std::strerror(errno));
  lock_ = Lock(path_);
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

std::string WorkFolder::operator/(const std::string& name) const {
  const fs::path folder = fs::path(path_) / name;
  fs::create_directories(folder);
  return folder.string();
}

}  // namespace mete
