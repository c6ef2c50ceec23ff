#include "processor/cpu/prepare/packed_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/new_file.h"

namespace mete {
namespace {

constexpr size_t kPiece = 1 << 20;   // bytes hashed at a time; guess
constexpr size_t kContentAt = 4096;  // a page, so that the mapped content is aligned to a page
constexpr char kMagic[8] = {'M', 'E', 'T', 'E', 'P', 'A', 'C', 'K'};
constexpr uint32_t kFormat = 1;  // of the header; the key says how the content is laid out

struct Header {  // as the bytes lie in the file
  char magic[8];
  uint32_t format;
  uint32_t content_at;
  PackedDigest key;
  uint64_t bytes;
  PackedDigest content;
  uint64_t checksum;  // of all bytes before it
};
static_assert(sizeof(Header) == 64);

uint64_t ChecksumOf(const Header& header) { return XXH3_64bits(&header, offsetof(Header, checksum)); }

Header HeaderOf(const PackedDigest& key, std::span<const std::byte> content, ThreadPool& pool) {
  Header header{{}, kFormat, uint32_t{kContentAt}, key, content.size(), DigestOf(content, pool), 0};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.checksum = ChecksumOf(header);
  return header;
}

// Returns what is wrong with a file, or "".
std::string Wrong(std::span<const std::byte> file, const PackedDigest& key, size_t bytes, ThreadPool& pool) {
  Header header;
  if (file.size() < kContentAt)
    return fmt::format("too short; got {} bytes, expected at least {}", file.size(), kContentAt);
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return "not a file of packed weights";
  if (header.format != kFormat)
    return fmt::format("of another format; got {}, expected {}", header.format, kFormat);
  if (header.checksum != ChecksumOf(header)) return "its header is damaged";
  if (header.key != key)
    return fmt::format("holds other weights; got {}, expected {}", ToString(header.key), ToString(key));
  if (header.content_at != kContentAt || header.bytes != bytes)
    return fmt::format("of another size; got {} bytes at {}, expected {} at {}", header.bytes,
                       header.content_at, bytes, kContentAt);
  if (file.size() - kContentAt != bytes)
    return fmt::format("cut off or too long; got {} bytes, expected {}", file.size(), kContentAt + bytes);
  if (header.content != DigestOf(file.subspan(kContentAt), pool)) return "its content is damaged";
  return "";
}

}  // namespace

std::string ToString(const PackedDigest& digest) {
  return fmt::format("{:016x}{:016x}", digest.high, digest.low);
}

PackedDigest DigestOf(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.low64, hash.high64};
}

// Returns the digest of the pieces' digests. The pages of a mapped file are populated a piece at a time,
// which costs a fraction of one page fault for each page.
PackedDigest DigestOf(std::span<const std::byte> bytes, ThreadPool& pool) {
  std::vector<XXH128_hash_t> pieces((bytes.size() + kPiece - 1) / kPiece);
  pool.For(int64_t(pieces.size()), [&](int, int64_t begin, int64_t end) {
    for (auto i = size_t(begin); i < size_t(end); ++i) {
      const auto piece = bytes.subspan(i * kPiece, std::min(kPiece, bytes.size() - i * kPiece));
      PopulatePages(piece.data(), piece.size());
      pieces[i] = XXH3_128bits(piece.data(), piece.size());
    }
  });
  const XXH128_hash_t all =
      XXH3_128bits_withSeed(pieces.data(), pieces.size() * sizeof(XXH128_hash_t), bytes.size());
  return {all.low64, all.high64};
}

PackedContent ReadPacked(const std::string& path, const PackedDigest& key, size_t bytes, ThreadPool& pool,
                         std::string* problem) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return {};
  try {
    auto file = MappedFile::Open(path);
    const std::string wrong = Wrong(file->bytes(), key, bytes, pool);
    if (wrong.empty()) return {file, file->bytes().subspan(kContentAt)};
    *problem = fmt::format("[{}] {}", path, wrong);
  } catch (const Error& e) {
    *problem = e.what();
  }
  return {};
}

std::string WritePacked(const std::string& path, const PackedDigest& key, std::span<const std::byte> bytes,
                        ThreadPool& pool) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return fmt::format("[{}] cannot make its folder: {}", path, error.message());
  std::byte page[kContentAt] = {};
  const Header header = HeaderOf(key, bytes, pool);
  std::memcpy(page, &header, sizeof header);
  NewFile file(path);
  if (!file.made() || !file.Write(page) || !file.Write(bytes) || !file.RenameTo(path))
    return fmt::format("[{}] cannot write the file: {}", path, std::strerror(errno));
  return "";
}

}  // namespace mete
