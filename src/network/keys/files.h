// Reads and writes small files with secrets. A read is bounded in size; a write goes to a temporary folder,
// and the file gets its name when all of its bytes are on the disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace mete {

// bytes; a certificate of make.h has 700, a chain of RSA certificates 10 K
inline constexpr size_t kLargestPem = 64 << 10;

// Calls `it`. A std::filesystem error on the way (for example a folder that may not be read) becomes an Error
// UNAVAILABLE.
template <class Do>
auto Guarded(const std::string& where, Do&& it) try {
  return it();
} catch (const std::filesystem::filesystem_error& e) {
  Fail(Code::kUnavailable, e.path1().empty() ? where : Printable(e.path1().string()), "cannot be used: {}",
       e.code().message());
}

// Returns the bytes of the file. Error NOT_FOUND, or INVALID_ARGUMENT where the path names no regular file or
// the file has more than `most_bytes`.
std::string ReadSmallFile(const std::string& path, size_t most_bytes);

// A temporary folder inside `parent` that only the owner may read. The destructor deletes the folder and all
// files in it.
class Aside {
 public:
  explicit Aside(const std::filesystem::path& parent);
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Writes a new file with the permissions `mode`, whatever the umask is. The bytes are on the disk before this
// function returns. Error UNAVAILABLE, also where the file exists already.
void WriteNewFile(const std::filesystem::path& path, const std::string& text, int mode);

// Makes the folder, for the owner alone, and its missing parents. Does nothing where the folder exists. Error
// UNAVAILABLE.
void MakeFolder(const std::filesystem::path& path);

// Renames `from`, which was made in an Aside, to `to`. Error FAILED_PRECONDITION where `to` exists already.
void Place(const std::filesystem::path& from, const std::filesystem::path& to);

// Exchanges the folders `from` and `to`, in one step where the file system can. Files of the old `to` that
// `from` lacks move to the new `to`; the other old files are in `from` afterwards.
void Exchange(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace mete
