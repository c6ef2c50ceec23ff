#include "base/open_problem.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

// The most files of a folder whose names are compared, so that a huge folder does not delay the message. This
// value is a guess.
constexpr int kMostEntries = 2000;

std::vector<std::string> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator() && int(names.size()) < kMostEntries;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  return names;
}

std::string AdviceFor(const fs::path& path) {
  if (path.string().find("://") != std::string::npos)
    return "; try to download it first: addresses are not read";
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    return fmt::format("; the folder '{}' is not there either; try the file's whole path", folder.string());
  const std::vector<std::string> near = NearestNames(path.filename().string(), NamesIn(folder));
  if (near.empty()) return fmt::format("; try the file's whole path, or 'ls {}'", folder.string());
  std::string names;
  for (const std::string& name : near)
    names += (names.empty() ? "" : " or ") +
             (path.has_parent_path() ? path.parent_path() / name : fs::path(name)).string();
  return "; try " + Printable(names);
}

}  // namespace

void FailToOpen(const std::string& path, int error, const std::string& where) {
  const std::string advice = error == ENOENT || error == ENOTDIR ? AdviceFor(path) : "";
  Fail(Code::kNotFound, where.empty() ? path : where, "cannot open the file: {}{}", std::strerror(error),
       advice);
}

}  // namespace mete
