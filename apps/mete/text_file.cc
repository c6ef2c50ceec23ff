#include "text_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/open_problem.h"

namespace mete::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLargestText = 64 << 20;  // bytes; plans and labels files are smaller

// Returns the path that is written first, a name that only this process uses; `path` itself if it is no
// regular file and must not be replaced.
std::string TemporaryOf(const std::string& path) {
  std::error_code ignored;
  const bool special = fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
  return special ? path : fmt::format("{}.{}.part", path, getpid());
}

// Deletes the temporary file of a failed or a trial write.
void Remove(const std::string& temporary, const std::string& path) {
  std::error_code ignored;
  if (temporary != path) fs::remove(temporary, ignored);
}

[[noreturn]] void FailToWrite(const std::string& path, const std::string& more = "; try another path") {
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : ".";
  std::error_code ignored;
  const bool there = fs::is_directory(folder, ignored);
  Fail(Code::kUnavailable, path, "cannot write the file{}{}",
       there ? "" : fmt::format("; the folder '{}' is not there", folder.string()), more);
}

}  // namespace

void WriteTextFile(const std::string& path, const std::string& text) {
  const std::string temporary = TemporaryOf(path);
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  std::error_code error;
  if (file && temporary != path) fs::rename(temporary, path, error);
  if (file && !error) return;
  Remove(temporary, path);
  FailToWrite(path);
}

void CheckMayWrite(const std::string& path) {
  const std::string temporary = TemporaryOf(path);
  const bool opens = std::ofstream(temporary, std::ios::app).is_open();
  Remove(temporary, path);
  if (!opens) FailToWrite(path, "; try another one, or another folder in METE_CACHE");
}

void WriteOrPrint(const std::string& path, const std::string& text) try {
  WriteTextFile(path, text);
} catch (const Error&) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  FailToWrite(path, "; what it was to have is on stdout");
}

std::string ReadTextFile(const std::string& path, const std::string& flag) {
  const std::string where = flag.empty() ? path : flag + " " + path;
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (error) FailToOpen(path, error.value(), where);
  if (bytes > uintmax_t(kLargestText))
    Invalid(where, "too large for a text; got {} bytes, expected at most {}", bytes, kLargestText);
  std::ifstream file(path, std::ios::binary);
  if (!file) FailToOpen(path, errno, where);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace mete::cli
