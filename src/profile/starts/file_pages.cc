#include "profile/starts/file_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/open_problem.h"

namespace mete {
namespace {

constexpr int kMostTries = 3;     // guess: of evictions; the second one has sufficed
constexpr size_t kMostNamed = 3;  // guess: of files in a message
constexpr size_t kPiece = 4096;   // guess: pages that mincore() tells of at a time

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) FailToOpen(path, errno);
  }
  ~OpenFile() { close(fd_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// mincore() tells an owner and those who may write a file (Linux 5.2 and later).
bool IsTold(const std::string& path, const struct stat& facts) {
  return geteuid() == 0 || facts.st_uid == geteuid() || access(path.c_str(), W_OK) == 0;
}

// Returns how many pages are in memory. Counting ends behind the piece in which there are `enough` of them.
// The mapping alone reads nothing.
int64_t InMemory(const OpenFile& file, const std::string& path, size_t bytes, size_t page, int64_t enough) {
  char* at = static_cast<char*>(mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.fd(), 0));
  bool good = at != MAP_FAILED;
  int64_t count = 0;
  std::vector<unsigned char> vector(kPiece);
  for (size_t begin = 0; good && begin < bytes && count < enough; begin += kPiece * page) {
    const size_t piece = std::min(kPiece * page, bytes - begin);
    good = mincore(at + begin, piece, vector.data()) == 0;
    if (good) count += CountInMemory(std::span(vector).first((piece + page - 1) / page));
  }
  const int error = errno;
  if (at != MAP_FAILED) munmap(at, bytes);
  if (!good) Fail(Code::kUnavailable, path, "its pages cannot be counted: {}", std::strerror(error));
  return count;
}

FilePages Counted(const std::string& path, int64_t enough) {
  const OpenFile file(path);
  struct stat facts = {};
  if (fstat(file.fd(), &facts) != 0) FailToOpen(path, errno);
  const size_t page = size_t(sysconf(_SC_PAGESIZE)), bytes = size_t(facts.st_size);
  const int64_t in_memory = bytes == 0 ? 0 : InMemory(file, path, bytes, page, enough);
  return {path, int64_t((bytes + page - 1) / page), in_memory, IsTold(path, facts)};
}

std::string TextOf(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

std::string NameOf(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string Describe(const FilePages& file) {
  if (!file.told)
    return fmt::format("{} is not this user's, so the kernel does not tell (try a copy)", NameOf(file.path));
  return fmt::format("{} has {} of {} pages in memory", NameOf(file.path), file.in_memory, file.pages);
}

}  // namespace

int64_t CountInMemory(std::span<const unsigned char> vector) {
  return std::count_if(vector.begin(), vector.end(), [](unsigned char entry) { return entry & 1; });
}

FilePages PagesOf(const std::string& path) { return Counted(path, std::numeric_limits<int64_t>::max()); }

bool IsAbsent(const std::string& path) { return Counted(path, 1).absent(); }

std::vector<FilePages> PagesOf(const std::vector<std::string>& paths) {
  std::vector<FilePages> all;
  for (const std::string& path : paths) all.push_back(PagesOf(path));
  return all;
}

void Evict(const std::string& path) {
  const OpenFile file(path);
  fsync(file.fd());  // pages that are not on the disk yet would stay
  posix_fadvise(file.fd(), 0, 0, POSIX_FADV_DONTNEED);
}

void Evict(const std::vector<std::string>& paths) {
  for (int i = 0; i < kMostTries; ++i) {
    for (const std::string& path : paths) Evict(path);
    const std::vector<FilePages> pages = PagesOf(paths);
    if (std::all_of(pages.begin(), pages.end(), [](const FilePages& p) { return p.absent(); })) return;
  }
}

void ReadThrough(const std::vector<std::string>& paths) {
  std::vector<char> part(1 << 20);
  for (const std::string& path : paths) {
    const OpenFile file(path);
    while (read(file.fd(), part.data(), part.size()) > 0) {}
  }
}

std::string WhyNotAbsent(std::span<const FilePages> files) {
  std::string why;
  size_t count = 0;
  for (const FilePages& file : files)
    if (!file.absent() && ++count <= kMostNamed) why += (count > 1 ? "; " : "") + Describe(file);
  if (count > kMostNamed) why += fmt::format("; and {} more files", count - kMostNamed);
  return why;
}

// A line: "start-end perms offset device inode    path".
std::vector<std::string> MappedFiles(const std::string& maps) {
  std::set<std::string> files;
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(" /");
    if (at == line.npos || line.ends_with(" (deleted)")) continue;
    const std::string path = line.substr(at + 1);
    if (!path.starts_with("/dev/") && !path.starts_with("/proc/") && !path.starts_with("/memfd:"))
      files.insert(path);
  }
  return {files.begin(), files.end()};
}

std::vector<std::string> MappedFiles(int pid) {
  return MappedFiles(TextOf(fmt::format("/proc/{}/maps", pid)));
}

std::vector<std::string> MappedByOthers(const std::vector<std::string>& paths, std::span<const int> except) {
  std::set<std::string> mapped;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const int pid = std::atoi(entry.path().filename().c_str());  // 0 where it is no number
    if (pid <= 0 || std::find(except.begin(), except.end(), pid) != except.end()) continue;
    for (std::string& path : MappedFiles(pid)) mapped.insert(std::move(path));
  }
  std::vector<std::string> shared;
  for (const std::string& path : paths)
    if (mapped.contains(path)) shared.push_back(path);
  return shared;
}

}  // namespace mete
