// A file mapped read-only into memory. The mapping lives as long as a shared pointer to it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace mete {

class MappedFile {
 public:
  // Maps a file. An empty file gives an empty span. Throws an Error with the path and the reason: NOT_FOUND
  // if the file cannot be opened, INVALID_ARGUMENT if it is no regular file, UNAVAILABLE if it cannot be
  // mapped.
  static std::shared_ptr<const MappedFile> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}
  const std::byte* data_;
  size_t size_;
};

// Drops the pages of [data, data + bytes) from memory if they belong to a mapped file, so that weights which
// a pass has copied are not held twice. The system reads such a page from the file again at the next access.
// Does nothing for other memory.
void ReleasePages(const void* data, size_t bytes);

// Asks the system to read the pages of [data, data + bytes) now, all at once instead of with one page fault
// each. The call is only advice: the system may still read the pages later.
void PopulatePages(const void* data, size_t bytes);

}  // namespace mete
