#define XXH_INLINE_ALL
#include "processor/opencl/gpu/kept_programs.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>

#include "base/mapped_file.h"
#include "base/new_file.h"
#include "mete/error.h"

namespace mete::opencl {

namespace fs = std::filesystem;

namespace {

struct Header {
  char magic[8] = {'m', 'e', 't', 'e', 'c', 'l', '0', '2'};
  uint64_t bytes = 0;  // of the binary behind it
  uint64_t checksum = 0;
};

using Bytes = std::span<const std::byte>;

Header HeaderOf(Bytes binary) {
  Header header;
  header.bytes = binary.size();
  header.checksum = XXH3_64bits(binary.data(), binary.size());
  return header;
}

}  // namespace

KeptPrograms::KeptPrograms(const std::string& folder, const DeviceFacts& facts, int64_t most_bytes)
    : folder_(folder.empty() ? "" : folder + "/gpu"), device_(DriverText(facts)), most_bytes_(most_bytes) {}

std::string KeptPrograms::PathOf(const std::string& digest) const {
  const std::string key = device_ + "\n" + digest;
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  return fmt::format("{}/{:016x}{:016x}.program", folder_, hash.high64, hash.low64);
}

std::vector<std::byte> KeptPrograms::Find(const std::string& digest) const {
  if (!keeps()) return {};
  const std::string path = PathOf(digest);
  try {
    const auto file = MappedFile::Open(path);
    const Bytes bytes = file->bytes();
    // The binary is read after the file's size has proved to be the one that was written.
    if (bytes.size() <= sizeof(Header) || bytes.size() > uint64_t(most_bytes_)) return {};
    const Bytes binary = bytes.subspan(sizeof(Header));
    Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.bytes != binary.size()) return {};
    const Header expected = HeaderOf(binary);
    if (std::memcmp(bytes.data(), &expected, sizeof expected) != 0) return {};
    std::error_code ignored;
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);  // the time of its last use
    return {binary.begin(), binary.end()};
  } catch (const Error&) {
    return {};
  }
}

void KeptPrograms::Keep(const std::string& digest, const std::vector<std::byte>& binary) const {
  if (!keeps() || binary.empty()) return;
  std::error_code ignored;
  fs::create_directories(folder_, ignored);
  const std::string path = PathOf(digest);
  const Header header = HeaderOf(binary);
  NewFile file(path);
  if (file.made() && file.Write(std::as_bytes(std::span(&header, 1))) && file.Write(binary) &&
      file.RenameTo(path))
    DeleteOldest();
}

void KeptPrograms::DeleteOldest() const {
  struct File {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  std::error_code ignored;
  int64_t all = 0;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    if (!entry.is_regular_file(ignored)) continue;
    files.push_back({entry.last_write_time(ignored), int64_t(entry.file_size(ignored)), entry.path()});
    all += files.back().bytes;
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (size_t i = 0; i < files.size() && all > most_bytes_; ++i) {
    fs::remove(files[i].path, ignored);
    all -= files[i].bytes;
  }
}

}  // namespace mete::opencl
