#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/open_problem.h"

namespace mete {
namespace {

// All mappings of the process, by their first byte. ReleasePages uses them to tell a file's pages, which can
// be read again, from other memory.
class Mappings {
 public:
  void Add(const std::byte* begin, size_t size) {
    std::lock_guard lock(mutex_);
    sizes_[begin] = size;
  }
  void Remove(const std::byte* begin) {
    std::lock_guard lock(mutex_);
    sizes_.erase(begin);
  }
  void Release(const std::byte* begin, const std::byte* end) {
    std::lock_guard lock(mutex_);
    auto after = sizes_.upper_bound(begin);
    if (after == sizes_.begin()) return;
    const auto& [start, size] = *--after;
    if (end > start + size) return;
    const auto page = uintptr_t(sysconf(_SC_PAGESIZE));
    const uintptr_t first = (uintptr_t(begin) + page - 1) / page * page, last = uintptr_t(end) / page * page;
    if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }

 private:
  std::mutex mutex_;
  std::map<const std::byte*, size_t> sizes_;
};

Mappings& AllMappings() {
  static Mappings* const mappings = new Mappings;  // outlives every static MappedFile
  return *mappings;
}

}  // namespace

void ReleasePages(const void* data, size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  AllMappings().Release(begin, begin + bytes);
}

void PopulatePages(const void* data, size_t bytes) {
#ifdef MADV_POPULATE_READ
  const auto page = uintptr_t(sysconf(_SC_PAGESIZE));
  const uintptr_t first = uintptr_t(data) / page * page;
  madvise(reinterpret_cast<void*>(first), uintptr_t(data) + bytes - first, MADV_POPULATE_READ);
#endif
}

std::shared_ptr<const MappedFile> MappedFile::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) FailToOpen(path, errno);
  struct stat st {};
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    close(fd);
    Fail(Code::kInvalidArgument, path, "not a regular file; got {}, expected a file",
         S_ISDIR(st.st_mode) ? "a folder" : "a device or pipe");
  }
  void* p = nullptr;
  if (st.st_size > 0) p = mmap(nullptr, size_t(st.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (p == MAP_FAILED) Fail(Code::kUnavailable, path, "cannot map the file: {}", std::strerror(errno));
  if (p) AllMappings().Add(static_cast<const std::byte*>(p), size_t(st.st_size));
  return std::shared_ptr<const MappedFile>(
      new MappedFile(static_cast<const std::byte*>(p), size_t(st.st_size)));
}

MappedFile::~MappedFile() {
  if (!data_) return;
  AllMappings().Remove(data_);
  munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace mete
