#include "serve/repository/listing.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/open_problem.h"

namespace mete::serve {
namespace {

namespace fs = std::filesystem;

bool IsBelow(const fs::path& path, const fs::path& root) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

}  // namespace

Listing::Listing(const std::string& root, int64_t most_entries) : entries_left_(most_entries) {
  std::error_code error;
  root_ = fs::canonical(root, error).string();
  if (error) FailToOpen(root, error.value());
}

std::vector<Entry> Listing::Of(const std::string& folder) {
  std::error_code error;
  std::vector<Entry> entries;
  for (auto at = fs::directory_iterator(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    if (--entries_left_ < 0)
      Fail(Code::kResourceExhausted, Printable(folder), "too many files; try a repository of fewer");
    const std::string name = at->path().filename().string();
    if (!name.starts_with('.')) entries.push_back(Look(folder, name));
  }
  if (error) FailToOpen(folder, error.value());
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

Entry Listing::Look(const std::string& folder, const std::string& name) const {
  const fs::path path = fs::path(folder) / name;
  Entry entry{.name = name, .path = path.string()};
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return entry;
  if (S_ISDIR(found.st_mode)) entry.kind = Entry::kFolder;
  if (S_ISREG(found.st_mode)) {
    entry.kind = Entry::kFile;
    entry.bytes = found.st_size;
    entry.changed_ns = int64_t(found.st_mtim.tv_sec) * 1'000'000'000 + found.st_mtim.tv_nsec;
  }
  std::error_code error;
  if (!fs::is_symlink(path, error)) return entry;
  const fs::path target = fs::canonical(path, error);
  if (!error && !IsBelow(target, root_)) entry.leads_to = target.string();
  return entry;
}

std::string TextOf(const Entry& file, int64_t most_bytes) {
  if (file.bytes > most_bytes)
    Invalid(Printable(file.path), "too long; got {} bytes, expected {} at most", file.bytes, most_bytes);
  std::ifstream in(file.path, std::ios::binary);
  if (!in) FailToOpen(file.path, errno);
  std::string text(size_t(file.bytes), '\0');
  in.read(text.data(), std::streamsize(text.size()));
  text.resize(size_t(in.gcount()));
  return text;
}

}  // namespace mete::serve
