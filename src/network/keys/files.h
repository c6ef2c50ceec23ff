// Small files with secrets: read with a bound, written aside and given their names when all is there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace mete {

inline constexpr size_t kLargestPem = 64 << 10;  // bytes; ours have 700, a chain of RSA certificates 10 K

// Does it; what the file system refuses on the way (a folder that may not be read) is an Error UNAVAILABLE.
template <class Do>
auto Guarded(const std::string& where, Do&& it) try {
  return it();
} catch (const std::filesystem::filesystem_error& e) {
  Fail(Code::kUnavailable, e.path1().empty() ? where : Printable(e.path1().string()), "cannot be used: {}",
       e.code().message());
}

// Error NOT_FOUND, or INVALID_ARGUMENT where it is no regular file or has more bytes.
std::string ReadSmallFile(const std::string& path, size_t most_bytes);

// A folder that only the owner may read, inside `parent`; it goes with what is left in it.
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

// A file that is not there yet, with these permissions whatever the umask; on the disk before this returns.
// Error UNAVAILABLE.
void WriteNewFile(const std::filesystem::path& path, const std::string& text, int mode);

// Error UNAVAILABLE.
// with its parents, for the owner alone; does nothing where it is there
void MakeFolder(const std::filesystem::path& path);

// Gives what was made aside its name. Error FAILED_PRECONDITION where that is taken.
void Place(const std::filesystem::path& from, const std::filesystem::path& to);

// Puts folder `from` where `to` is, in one step where the file system can; files of `to` that `from` lacks
// move along. What was in `to` is in `from` afterwards.
void Exchange(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace mete
