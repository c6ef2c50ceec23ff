#include "network/keys/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/open_problem.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

[[noreturn]] void FailToWrite(const fs::path& path, const char* what = "cannot write the file") {
  Fail(Code::kUnavailable, path.string(), "{}: {}", what, std::strerror(errno));
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t bytes = write(fd, text.data(), text.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return false;
    text.remove_prefix(size_t(bytes));
  }
  return true;
}

// Returns false where the kernel or the file system does not support `flags`.
bool Renamed(const fs::path& from, const fs::path& to, unsigned flags) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0) return true;
  if (errno == EEXIST)
    Fail(Code::kFailedPrecondition, to.string(), "is there already and is not replaced; try another name");
  if (errno != EINVAL && errno != ENOSYS) FailToWrite(to, "cannot rename to it");
  return false;
}

void Rename(const fs::path& from, const fs::path& to) {
  if (rename(from.c_str(), to.c_str()) != 0) FailToWrite(to, "cannot rename to it");
}

}  // namespace

std::string ReadSmallFile(const std::string& path, size_t most_bytes) {
  // opening a pipe without a writer must not block
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) FailToOpen(path, errno);
  struct stat facts;
  if (fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) Invalid(path, "not a regular file");
  if (size_t(facts.st_size) > most_bytes)
    Invalid(path, "too large; got {} bytes, expected at most {}", facts.st_size, most_bytes);
  std::string text(most_bytes, '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t bytes = read(file.get(), text.data() + have, text.size() - have);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) Fail(Code::kUnavailable, path, "cannot read the file: {}", std::strerror(errno));
    if (bytes == 0) break;
    have += size_t(bytes);
  }
  text.resize(have);
  return text;
}

Aside::Aside(const fs::path& parent) {
  std::string name = (parent / ".making-XXXXXX").string();
  if (!mkdtemp(name.data())) FailToWrite(parent, "cannot write into the folder");
  path_ = name;
}

Aside::~Aside() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void WriteNewFile(const fs::path& path, const std::string& text, int mode) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0 || fchmod(file.get(), mode_t(mode)) != 0 || !WriteAll(file.get(), text) ||
      fsync(file.get()) != 0)
    FailToWrite(path);
}

void MakeFolder(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) FailToWrite(path, "cannot make the folder");
}

void Place(const fs::path& from, const fs::path& to) {
  // the caller has checked that `to` does not exist
  if (!Renamed(from, to, RENAME_NOREPLACE)) Rename(from, to);
}

void Exchange(const fs::path& from, const fs::path& to) {
  if (!Renamed(from, to, RENAME_EXCHANGE)) {
    const fs::path third = from.string() + ".old";
    Rename(to, third);
    Rename(from, to);
    Rename(third, from);
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
    const fs::path kept = to / entry.path().filename();
    if (!fs::exists(fs::symlink_status(kept))) Rename(entry.path(), kept);
  }
}

}  // namespace mete
