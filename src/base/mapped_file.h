// A file mapped read-only into memory; the mapping lives as long as somebody shares it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace mete {

class MappedFile {
 public:
  // Error NOT_FOUND / UNAVAILABLE with the path and the reason. An empty file maps to an empty span.
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

// Takes the pages of [data, data + bytes) out of memory where they belong to a mapped file: weights that were
// copied elsewhere need not be held twice. They are read again if somebody asks. Does nothing for other
// memory.
void ReleasePages(const void* data, size_t bytes);

// Reads the pages of [data, data + bytes) now, in one go instead of by a fault each. Only advice: they may
// come later all the same.
void PopulatePages(const void* data, size_t bytes);

}  // namespace mete
