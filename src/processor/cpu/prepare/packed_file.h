// A file of packed weights: a page with a header, then the bytes of one tensor. A file is written completely,
// then renamed into place, and never changed: a mapping stays as it was when it was checked. The files are
// for the machine that wrote them and are no format for exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/mapped_file.h"
#include "processor/cpu/threads/thread_pool.h"

namespace mete {

// 128 bits of XXH3. The digest detects differences by chance, not attacks: the users who may write to the
// folder of the files are trusted.
struct PackedDigest {
  uint64_t low = 0, high = 0;
  bool operator==(const PackedDigest&) const = default;
};
std::string ToString(const PackedDigest& digest);  // 32 hexadecimal digits
PackedDigest DigestOf(std::string_view text);
// computed by all threads; the result does not depend on their number
PackedDigest DigestOf(std::span<const std::byte> bytes, ThreadPool& pool);

// The `bytes` bytes that were stored under `key`, in a mapping, aligned to a page. No bytes where there is no
// such file, or where the file does not fit or is damaged; `problem` then says why.
struct PackedContent {
  std::shared_ptr<const MappedFile> file;  // null: none
  std::span<const std::byte> bytes;
};
PackedContent ReadPacked(const std::string& path, const PackedDigest& key, size_t bytes, ThreadPool& pool,
                         std::string* problem);

// Writes or replaces the file, readable by its owner only, and makes missing folders. Returns "" or the
// reason of a failure.
std::string WritePacked(const std::string& path, const PackedDigest& key, std::span<const std::byte> bytes,
                        ThreadPool& pool);

}  // namespace mete
