// A file of packed weights: a page with a header, then the bytes of one tensor. Files are made whole and
// renamed into place, and are never changed: a mapping stays what it was when it was checked. For the machine
// that wrote them; no format for exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/mapped_file.h"
#include "processor/cpu/threads/thread_pool.h"

namespace mete {

// 128 bits of XXH3. It tells contents apart that differ by chance; who may write to the folder of the files
// is trusted.
struct PackedDigest {
  uint64_t low = 0, high = 0;
  bool operator==(const PackedDigest&) const = default;
};
std::string ToString(const PackedDigest& digest);  // 32 hexadecimal digits
PackedDigest DigestOf(std::string_view text);
// by all threads, but the same however many there are
PackedDigest DigestOf(std::span<const std::byte> bytes, ThreadPool& pool);

// The `bytes` bytes that were kept under `key`, within a mapping, aligned to a page. Empty where there is no
// such file, or where it does not fit or is damaged; `problem` then says why.
struct PackedContent {
  std::shared_ptr<const MappedFile> file;  // null: none
  std::span<const std::byte> bytes;
};
PackedContent ReadPacked(const std::string& path, const PackedDigest& key, size_t bytes, ThreadPool& pool,
                         std::string* problem);

// Makes the file, readable by its owner only, or replaces it; folders are made as needed. Empty where that
// went well, else the reason.
std::string WritePacked(const std::string& path, const PackedDigest& key, std::span<const std::byte> bytes,
                        ThreadPool& pool);

}  // namespace mete
